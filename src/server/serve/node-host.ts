/**
 * The host of plugins on Node: clock, files, sockets and cryptography.
 * @module
 */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import type { Host } from '../../resolver/contract/host.ts'
import { bindPlugins, type PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { ALL_PLUGINS } from '../../resolver/plugins/all-plugins.ts'
import type { DnstapHost } from '../../resolver/plugins/dnstap/setup.ts'
import type { EtcdHost } from '../../resolver/plugins/etcd/options.ts'
import { cookieSecret } from '../keys/cookie-secret.ts'
import { hmac } from '../keys/hmac.ts'
import { openSigner } from '../keys/open-signer.ts'
import { random16 } from '../keys/random16.ts'
import { checkIdentity } from '../keys/tls-service.ts'
import { awake } from '../node/elapsed.ts'
import { isInterface } from '../node/local-addresses.ts'
import { memoryBytes } from '../node/memory-bytes.ts'
import { NODE_TURNS } from '../node/node-turns.ts'
import { createPrint, type Print } from '../node/output.ts'
import { postJson } from '../node/post-json.ts'
import { fileState, listFiles, loadFile, readDatabase, readTextFile } from '../node/read-files.ts'
import { timerMs } from '../node/timer-ms.ts'
import { FrameStream } from '../upstream/frame-stream.ts'
import { receiveMessages } from '../upstream/receive-messages.ts'
import { openUpstream } from '../upstream/upstream-client.ts'
import { openCacheFile } from './cache-file.ts'

/** Options that differ between servers. */
export type NodeHostOptions = {
  /** The folder that paths in the Corefile are relative to. */
  readonly folder: string
  readonly metrics: Metrics
  readonly log: Log
  /** Receives the lines of `log`, as CoreDNS writes them; default: standard output. */
  readonly print?: Print | undefined
  readonly openCluster: Host['openCluster']
  /** Opens the keys of an etcd; absent at gateways. */
  readonly openKeys?: NonNullable<EtcdHost['openKeys']>
  /** Connects to collectors of dnstap; absent for real connections. */
  readonly openTap?: DnstapHost['openTap']
  readonly abort: Host['abort']
  /** Threads with a host each, which share the memory of the process; 1 if absent. */
  readonly threads?: number
}

/** Creates the host that plugins run on. */
export function createNodeHost({
  folder,
  openKeys,
  openTap = (target, queueMax) => new FrameStream(target, queueMax, rest.log),
  threads = 1,
  print = createPrint(process),
  ...rest
}: NodeHostOptions): PluginHost {
  const plugins = bindPlugins(ALL_PLUGINS, {
    ...(openKeys && { openKeys }),
    cookieSecret: cookieSecret(),
    openCacheFile: (path, identity) => openCacheFile(resolve(folder, path), identity),
    openTap,
    openSigner,
    hmac,
    postJson,
    openTransfer: receiveMessages,
    memoryLimitBytes: memoryBytes() / threads,
  })
  return {
    ...rest,
    plugins,
    hostname: hostname() || 'localhost',
    runtime: `node-${process.versions.node}`,
    now: Date.now,
    ...NODE_TURNS,
    awake,
    isolatesRequests: false,
    random16,
    after: (delayMs, task) => {
      const timer = setTimeout(task, timerMs(delayMs))
      timer.unref()
      return () => {
        clearTimeout(timer)
      }
    },
    isInterface,
    readText: (path) => readTextFile(resolve(folder, path)),
    readBytes: (path) => readDatabase(resolve(folder, path)),
    listFiles: (path) => listFiles(folder, path),
    readFile: (path) => loadFile(resolve(folder, path)),
    fileState: (path) => fileState(resolve(folder, path)),
    openUpstream,
    checkIdentity,
    print: (line) => print(`[INFO] ${line}`),
  }
}
