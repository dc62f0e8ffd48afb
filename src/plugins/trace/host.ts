/**
 * What `trace` needs from its host.
 * @module
 */
import type { Host } from '../../chain/host.ts'

/** A host that sends spans. */
export type TraceHost = Host & {
  /**
   * Sends JSON to a collector; resolves when the collector has accepted it.
   * @throws {Error} later, when the collector rejects it or takes longer than `timeoutMs`
   */
  readonly postJson: (url: string, json: string, timeoutMs: number) => Promise<void>
}
