/**
 * `kubedoh check`: all that is wrong with a Corefile, found without starting anything.
 * @module
 */
import { dirname } from 'node:path'
import { namingOptions } from '../exporter/naming.ts'
import type { Host } from '../plugins/host.ts'
import { createResolver } from '../resolver/create-resolver.ts'
import { EtcdClient } from '../shim/etcd-client.ts'
import { createNodeHost } from '../shim/node-host.ts'
import { Metrics } from '../telemetry/metrics.ts'
import type { Input } from './flags.ts'
import { loadCorefile } from './load-corefile.ts'
import type { Output } from './output.ts'

/** Compiles the Corefile as the server would. @throws {ConfigError} with all that is wrong */
export async function runCheck(input: Input, output: Output): Promise<void> {
  const [path = ''] = input.args
  const { blocks } = loadCorefile(path)
  const files = input.text('files')
  const resolver = createResolver(blocks, checkingHost(files === '' ? dirname(path) : files))
  for (const notice of resolver.notices) output.stdout.write(`${notice}\n`)
  const count = blocks.length === 1 ? '1 server block' : `${blocks.length} server blocks`
  output.stdout.write(`${path}: ${count}, nothing wrong\n`)
}

/** A runtime that reads files and opens nothing. */
function checkingHost(folder: string): Host {
  return createNodeHost({
    folder,
    metrics: new Metrics(),
    log: () => undefined,
    abort: () => undefined,
    openKeys: (connection) => {
      new EtcdClient(connection).close()
      return { current: () => undefined, leaseSeconds: () => undefined }
    },
    openCluster: (directive) => {
      if (directive.cluster === undefined) namingOptions(directive, [])
      return {
        current: () => undefined,
        load: () => Promise.resolve(undefined),
        freshness: () => 'fresh',
      }
    },
  })
}
