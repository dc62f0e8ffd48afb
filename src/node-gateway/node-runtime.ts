/**
 * The runtime of a gateway on Node: stores in a folder or in memory, and the machine's clocks,
 * sockets and log.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { PluginHost } from '../chain/plugin-entry.ts'
import { CheckedStore } from '../gateway/checked-store.ts'
import type { GatewayConfig } from '../gateway/config.ts'
import type { GatewayRuntime } from '../gateway/gateway.ts'
import { LocalWriter } from '../gateway/local-writer.ts'
import { createMemoryStore } from '../gateway/store.ts'
import { createMemoryTokenStore, type TokenStore } from '../gateway/token-store.ts'
import { identitiesOf, remoteOf } from '../server/http-request.ts'
import { createNodeHost } from '../server/node-host.ts'
import type { Log } from '../telemetry/log.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { createFileStore } from './file-store.ts'
import { createFileTokenStore } from './file-token-store.ts'

/** What the runtime is made of. */
export type NodeRuntimeOptions = {
  readonly config: GatewayConfig
  /** Folder for snapshots and tokens; `undefined` keeps them in memory. */
  readonly folder: string | undefined
  /** Folder of the Corefile, which its paths are relative to. */
  readonly corefileFolder: string
  readonly log: Log
}

/** A cluster's snapshots, and their single writer. */
type StoredCluster = { readonly store: CheckedStore; readonly writer: LocalWriter }

/** Creates the runtime, and starts to check what the folder has. */
export function createNodeRuntime(options: NodeRuntimeOptions): GatewayRuntime {
  const clusters = new Map(
    [...options.config.clusters.keys()].map((id) => [id, openCluster(id, options)] as const),
  )
  return {
    host: createHost(options),
    originOf: (id) => known(clusters, id).store,
    writerOf: (id) => known(clusters, id).writer,
    tokenStore: openTokenStore(options),
    randomBytes,
    fetch,
    clientOf: (c) => ({ ...remoteOf(c.env), transport: 'https' }),
    identitiesOf: (c) => identitiesOf(c.env),
    keepAlive: (_, promise) => void promise,
  }
}

function openCluster(cluster: string, { config, folder, log }: NodeRuntimeOptions): StoredCluster {
  const { publicKey } = known(config.clusters, cluster)
  const warn = (message: string): void => log({ level: 'warning', message, cluster })
  const files =
    folder === undefined ? createMemoryStore() : createFileStore(join(folder, 'clusters', cluster))
  const store = new CheckedStore({ cluster, publicKey, store: files, warn })
  store.start()
  return { store, writer: new LocalWriter({ cluster, publicKey, store, now: Date.now }) }
}

function createHost({ corefileFolder, log }: NodeRuntimeOptions): PluginHost {
  return createNodeHost({
    folder: corefileFolder,
    metrics: new Metrics(),
    log,
    openCluster: () => {
      throw new TypeError('A gateway opens its clusters itself')
    },
    abort: (message) => log({ level: 'error', message }),
  })
}

function openTokenStore({ folder, log }: NodeRuntimeOptions): TokenStore {
  if (folder === undefined) return createMemoryTokenStore()
  const message = 'a line of the token file is broken and authorizes nobody'
  return createFileTokenStore(join(folder, 'tokens.jsonl'), {
    onBroken: (file, line) => log({ level: 'warning', message, file, line }),
  })
}

function known<T>(all: ReadonlyMap<string, T>, cluster: string): T {
  const found = all.get(cluster)
  if (found === undefined) throw new TypeError(`CLUSTERS has no cluster "${cluster}"`)
  return found
}
