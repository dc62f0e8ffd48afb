/**
 * Bindings and variables of the Worker. `worker-configuration.d.ts` has those of
 * wrangler.toml, as `npm run types` writes it; here is what it cannot express: each variable may be
 * absent, and what the file has as comments.
 * @module
 */
import type { GatewayVariables } from '../src/gateway/config/config.ts'

/**
 * The Worker's bindings and variables. `LIMITER` is absent where each isolate counts its own,
 * `AUDIT` where the log alone has the audit lines.
 */
export type Env = Pick<WorkerBindings, 'CLUSTER' | 'TOKENS'> &
  Readonly<Partial<WorkerBindings>> &
  GatewayVariables & {
    /** Files that the Corefile names: their texts by path, as an object or its JSON. */
    readonly FILES?: string | Readonly<Record<string, string>>
    /** Caches of shards: R2 when both are bound, none when neither is. */
    readonly SHARDS_KV?: KVNamespace
    readonly SHARDS_R2?: R2Bucket
    /** Gets a data point for each answered message (docs/analytics.md). */
    readonly ANALYTICS?: AnalyticsEngineDataset
    /** `true` includes query names in the data points. */
    readonly ANALYTICS_NAMES?: string
    /** `false` leaves the identifiers of tokens out of the data points. */
    readonly ANALYTICS_TOKENS?: string
  }
