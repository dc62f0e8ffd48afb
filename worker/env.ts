/**
 * Bindings and variables of the Worker, in the order of wrangler.toml.
 * @module
 */
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import type { ClusterObject } from './cluster-object.ts'
import type { TokenObject } from './token-object.ts'

/** The Worker's bindings and variables. */
export type Env = GatewayVariables & {
  /** Files that the Corefile names: their texts by path, as an object or its JSON. */
  readonly FILES?: string | Readonly<Record<string, string>>
  /** One object for each cluster: the single writer of its snapshots. */
  readonly CLUSTER: DurableObjectNamespace<ClusterObject>
  /** Caches of shards: R2 when both are bound, none when neither is. */
  readonly SHARDS_KV?: KVNamespace
  readonly SHARDS_R2?: R2Bucket
  /** Counts requests near the client; without it, each isolate counts its own. */
  readonly LIMITER?: RateLimit
  /** The object with the client tokens. */
  readonly TOKENS: DurableObjectNamespace<TokenObject>
  /** Gets a data point for each answered message (docs/analytics.md). */
  readonly ANALYTICS?: AnalyticsEngineDataset
  /** `true` includes query names in the data points. */
  readonly ANALYTICS_NAMES?: string
  /** `true` where the zone has HTTP/3, which the Worker cannot ask. */
  readonly HTTP3?: string
}
