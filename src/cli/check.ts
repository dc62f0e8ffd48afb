/**
 * `kubedoh check`: all that is wrong with a Corefile, found without starting anything.
 * @module
 */
import { dirname } from 'node:path'
import {
  ConfigError,
  formatProblem,
  type Problem,
  problemAt,
  sortProblems,
} from '../corefile/problem.ts'
import { namingOptions } from '../exporter/naming.ts'
import type { Host } from '../plugins/host.ts'
import { adviseOn } from '../resolver/advice.ts'
import { createResolver } from '../resolver/create-resolver.ts'
import { EtcdClient } from '../shim/etcd-client.ts'
import { createNodeHost } from '../shim/node-host.ts'
import { Metrics } from '../telemetry/metrics.ts'
import type { Input } from './flags.ts'
import { tryCorefile } from './load-corefile.ts'
import type { Output } from './output.ts'

/**
 * Compiles the Corefile as the server would, and says what is wrong and what may surprise.
 * @throws {ConfigError} with all of it when anything is wrong
 */
export async function runCheck(input: Input, output: Output): Promise<void> {
  const [path = ''] = input.args
  const files = input.text('files')
  const { problems, warnings, count } = check(path, files === '' ? dirname(path) : files)
  const marked = warnings.map((one) => problemAt(one, `warning: ${one.message}`))
  const lines = sortProblems([...problems, ...marked], path)
  if (problems.length > 0) throw new ConfigError(lines)
  for (const line of lines) output.stderr.write(`${formatProblem(line)}\n`)
  const verdict = lines.length === 0 ? 'nothing wrong' : countOf(lines.length, 'warning')
  output.stdout.write(`${path}: ${countOf(count, 'server block')}, ${verdict}\n`)
}

type Findings = {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
  /** How many server blocks there are. */
  readonly count: number
}

function check(path: string, folder: string): Findings {
  const { blocks, problems, warnings } = tryCorefile(path)
  const count = blocks.length
  const host = checkingHost(folder)
  try {
    const { notices } = createResolver(blocks, host)
    if (problems.length > 0) return { problems, warnings: [...warnings, ...notices], count }
    const advice = adviseOn(blocks, host.readText)
    return { problems, warnings: [...warnings, ...notices, ...advice], count }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { problems: [...problems, ...error.problems], warnings, count }
  }
}

function countOf(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
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
    openCluster: (directive, tree) => {
      if (directive.cluster === undefined) namingOptions(directive, [], tree)
      return {
        current: () => undefined,
        load: () => Promise.resolve(undefined),
        freshness: () => 'fresh',
      }
    },
  })
}
