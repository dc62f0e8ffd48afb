/**
 * A gateway that is the single writer of its own stores, as on Node. In Workers, Durable Objects
 * write.
 * @module
 */
import type { Hono } from 'hono'
import type { GatewayConfig } from '../config/config.ts'
import { CheckedStore } from '../snapshots/checked-store.ts'
import { LocalWriter } from '../snapshots/local-writer.ts'
import type { Primary } from '../snapshots/primary.ts'
import type { ClusterWriter } from '../snapshots/publish-routes.ts'
import type { SnapshotOrigin } from '../snapshots/snapshot-follower.ts'
import type { GatewayStore } from '../snapshots/store.ts'
import { createGatewayApp } from './app.ts'
import { DirectDoh } from './direct-doh.ts'
import { Gateway, type GatewayRuntime } from './gateway.ts'

/** The app and the fast path of one configuration. */
export type StoredGateway = {
  readonly app: Hono
  readonly direct: DirectDoh
  readonly gateway: Gateway
}

/** Opens a gateway whose runtime {@link withStore} has made; logs warnings about its Corefile. */
export async function openStoredGateway(
  config: GatewayConfig,
  runtime: GatewayRuntime,
): Promise<StoredGateway> {
  const gateway = await Gateway.open(config, runtime)
  for (const message of gateway.notices) runtime.host.log({ level: 'warning', message })
  const app = createGatewayApp(config, withReload(runtime, gateway), gateway)
  return { app, direct: new DirectDoh(gateway, config), gateway }
}

/** A cluster's snapshots, and their single writer. */
type StoredCluster = { readonly store: CheckedStore; readonly writer: LocalWriter }

/** Completes a runtime by a store, and starts to check what the store has. */
export function withStore(
  config: GatewayConfig,
  runtime: Omit<GatewayRuntime, 'originOf' | 'writerOf' | 'tokenStore'>,
  { clusterStore, tokenStore }: GatewayStore,
): GatewayRuntime {
  const { host } = runtime
  const open = (cluster: string): StoredCluster => {
    const { publicKey } = known(config.clusters, cluster)
    const warn = (message: string): void => host.log({ level: 'warning', message, cluster })
    const store = new CheckedStore({ cluster, publicKey, store: clusterStore(cluster), warn })
    // No request may wait for what was begun outside of it.
    if (!host.isolatesRequests) store.start()
    return { store, writer: new LocalWriter({ cluster, publicKey, store, now: host.now }) }
  }
  const clusters = new Map([...config.clusters.keys()].map((id) => [id, open(id)] as const))
  return {
    ...runtime,
    originOf: (id) => known(clusters, id).store,
    writerOf: (id) => known(clusters, id).writer,
    tokenStore,
  }
}

/** Completes the runtime of a replica, which writes nothing: only its primary does. */
export function withPrimary(
  runtime: Omit<GatewayRuntime, 'originOf' | 'writerOf' | 'tokenStore'>,
  primary: Primary,
): GatewayRuntime {
  const { refuse, tokenStore } = primary
  const writer: ClusterWriter = {
    putShard: refuse,
    putManifest: refuse,
    putPublication: refuse,
    state: refuse,
    history: refuse,
    pin: refuse,
  }
  const originOf = (cluster: string): SnapshotOrigin => primary.originOf(cluster)
  return { ...runtime, primary, originOf, writerOf: () => writer, tokenStore }
}

/**
 * Makes a gateway answer from a manifest as soon as it is stored. Its readers would notice it only
 * at their next interval, as they do what another process stores.
 */
function withReload(runtime: GatewayRuntime, { zones }: Gateway): GatewayRuntime {
  const writerOf: GatewayRuntime['writerOf'] = (cluster, c) => {
    const writer = runtime.writerOf(cluster, c)
    const reloading =
      (put: ClusterWriter['putManifest']): ClusterWriter['putManifest'] =>
      async (...manifest) => {
        const result = await put(...manifest)
        if (result.kind === 'stored') await zones.reload(cluster)
        return result
      }
    const { putManifest, putPublication } = writer
    return {
      ...writer,
      putManifest: reloading(putManifest),
      putPublication: reloading(putPublication),
    }
  }
  return { ...runtime, writerOf }
}

function known<T>(all: ReadonlyMap<string, T>, cluster: string): T {
  const found = all.get(cluster)
  if (found === undefined) throw new TypeError(`CLUSTERS has no cluster "${cluster}"`)
  return found
}
