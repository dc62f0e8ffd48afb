/**
 * Bindings and variables of the Worker, in the order of wrangler.toml.
 * @module
 */
import type { GatewayVariables } from '../src/gateway/config.ts'
import type { ClusterObject } from './cluster-object.ts'
import type { TokenObject } from './token-object.ts'

/** What the platform gives the Worker. */
export type Env = GatewayVariables & {
  /** One object for each cluster: the single writer of its snapshots. */
  readonly CLUSTER: DurableObjectNamespace<ClusterObject>
  /** Where shards are read at little cost: R2 when both are bound, the objects when none is. */
  readonly SHARDS_KV?: KVNamespace
  readonly SHARDS_R2?: R2Bucket
  /** Counts requests near the client; without it each isolate counts by itself. */
  readonly LIMITER?: RateLimit
  /** The one object with the tokens of clients. */
  readonly TOKENS: DurableObjectNamespace<TokenObject>
  /** Gets a data point for each message that is answered (docs/analytics.md). */
  readonly ANALYTICS?: AnalyticsEngineDataset
  /** `true` to have the names that are asked for in them. */
  readonly ANALYTICS_NAMES?: string
}
