/**
 * What `secondary` needs from its host.
 * @module
 */
import type { Host } from '../../chain/host.ts'

/** A host that receives zone transfers. */
export type SecondaryHost = Host & {
  /**
   * Sends a query over TCP on a new connection and yields all messages of the response, until the
   * server closes the connection or the caller stops.
   * @throws {Error} when no message arrives for `timeoutMs`
   */
  readonly openTransfer: (
    server: { readonly address: string; readonly port: number },
    query: Uint8Array,
    timeoutMs: number,
  ) => AsyncIterable<Uint8Array>
}
