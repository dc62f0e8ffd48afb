/**
 * A gateway that is the single writer of its own stores, as on Node. In Workers, Durable Objects
 * write.
 * @module
 */
import type { Hono } from 'hono'
import { currentKeys, type PublicKey } from '../../snapshot/format/signature.ts'
import { KnownClusters } from '../access/known-clusters.ts'
import type { ClusterConfig } from '../config/cluster-entry.ts'
import type { GatewayConfig } from '../config/config.ts'
import { CheckedStore } from '../snapshots/checked-store.ts'
import { LocalWriter } from '../snapshots/local-writer.ts'
import type { Primary } from '../snapshots/primary.ts'
import type { ClusterWriter } from '../snapshots/publish-routes.ts'
import type { SnapshotOrigin } from '../snapshots/snapshot-follower.ts'
import type { GatewayStore } from '../snapshots/store.ts'
import { createGatewayApp } from './app.ts'
import { DirectDoh } from './direct-doh.ts'
import { DirectDot } from './direct-dot.ts'
import { Gateway, type GatewayRuntime } from './gateway.ts'

/** The app and the fast path of one configuration. */
export type StoredGateway = {
  readonly app: Hono
  readonly direct: DirectDoh
  readonly dot: DirectDot
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
  return { app, direct: new DirectDoh(gateway, config), dot: new DirectDot(gateway), gateway }
}

/** A cluster's snapshots, and their single writer. */
type StoredCluster = {
  /** The cluster of the directory, which another one of the same name may follow. */
  readonly listed: ClusterConfig | undefined
  readonly store: CheckedStore
  readonly writer: LocalWriter
}

/** Completes a runtime by a store, and starts to check what the store has. */
export function withStore(
  config: GatewayConfig,
  runtime: Omit<GatewayRuntime, 'originOf' | 'writerOf' | 'tokenStore'>,
  { clusterStore, tokenStore, directory }: GatewayStore,
): GatewayRuntime {
  const { host } = runtime
  const clusters = new KnownClusters(config.clusters)
  const opened = new Map<string, StoredCluster>()
  const open = (cluster: string): StoredCluster => {
    const known = clusters.find(cluster)
    if (known === undefined) throw new TypeError(`CLUSTERS has no cluster "${cluster}"`)
    const listed = clusters.isConfigured(cluster) ? undefined : known
    const before = opened.get(cluster)
    if (before !== undefined && before.listed === listed) return before
    // CLUSTERS may change, and has the keys of the moment.
    const ofMoment: PublicKey = () => currentKeys(clusters.find(cluster)?.publicKey ?? [])
    const publicKey = listed?.publicKey ?? ofMoment
    const warn = (message: string): void => host.log({ level: 'warning', message, cluster })
    const below = clusterStore(cluster)
    const store = new CheckedStore({ cluster, publicKey, store: below, warn })
    // No request may wait for what was begun outside of it.
    if (!host.isolatesRequests) store.start()
    const { generationsMax } = below
    const target = { cluster, publicKey, store, now: host.now }
    const writer = new LocalWriter({ ...target, ...(generationsMax && { generationsMax }) })
    const stored = { listed, store, writer }
    opened.set(cluster, stored)
    return stored
  }
  for (const id of config.clusters.keys()) open(id)
  const removeSnapshots = async (cluster: string): Promise<boolean> => {
    const stored = opened.get(cluster)
    opened.delete(cluster)
    await stored?.writer.close()
    const hadFiles = await directory?.removeSnapshots(cluster)
    return hadFiles === true || stored !== undefined
  }
  return {
    ...runtime,
    originOf: (id) => open(id).store,
    writerOf: (id) => open(id).writer,
    configure: (next) => clusters.configure(next),
    tokenStore,
    ...(directory && { directory: { store: directory.store, clusters, removeSnapshots } }),
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
