/**
 * The host of plugins on Node: what they need of the system.
 * @module
 */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Host } from '../chain/host.ts'
import { elapsed } from '../node/elapsed.ts'
import { FrameStream } from '../node/frame-stream.ts'
import { hmac } from '../node/hmac.ts'
import { isInterface } from '../node/local-addresses.ts'
import { openSigner } from '../node/open-signer.ts'
import { postJson } from '../node/post-json.ts'
import { random16 } from '../node/random16.ts'
import { listFiles, modifiedMs, readDatabase, readTextFile } from '../node/read-files.ts'
import { checkIdentity } from '../node/tls-service.ts'
import { ALL_PLUGINS } from '../plugins/all-plugins.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { receiveMessages } from '../upstream/receive-messages.ts'
import { openUpstream } from '../upstream/upstream-client.ts'

/** What differs between servers. */
export type NodeHostOptions = {
  /** Folder that paths in the Corefile are relative to. */
  readonly folder: string
  readonly metrics: Metrics
  readonly log: Log
  readonly openCluster: Host['openCluster']
  /** Where keys come from; none can be had when it is left out. */
  readonly openKeys?: NonNullable<Host['openKeys']>
  readonly abort: Host['abort']
}

/** Makes the runtime. */
export function createNodeHost({ folder, ...rest }: NodeHostOptions): Host {
  return {
    ...rest,
    plugins: ALL_PLUGINS,
    isolatesRequests: false,
    hostname: hostname() || 'localhost',
    runtime: `node-${process.versions.node}`,
    now: Date.now,
    elapsed,
    random16,
    after: (delayMs, task) => {
      const timer = setTimeout(task, delayMs)
      timer.unref()
      return () => {
        clearTimeout(timer)
      }
    },
    isInterface,
    readText: (path) => readTextFile(resolve(folder, path)),
    readBytes: (path) => readDatabase(resolve(folder, path)),
    listFiles: (path) => listFiles(folder, path),
    modifiedMs: (path) => modifiedMs(resolve(folder, path)),
    openUpstream,
    openTransfer: receiveMessages,
    postJson,
    openSigner,
    hmac,
    checkIdentity,
    openTap: (target, queueMax) => new FrameStream(target, queueMax, rest.log),
    print: (line) => {
      process.stdout.write(`[INFO] ${line}\n`)
    },
  }
}
