/**
 * The host of `dnstap`.
 * @module
 */
import type { Host } from '../../chain/host.ts'

/** The address of a collector of dnstap messages. */
export type TapTarget =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | {
      readonly kind: 'tls'
      readonly host: string
      readonly port: number
      /** Whether its certificate must be for the host. */
      readonly isVerified: boolean
    }

/** A connection to a collector. */
export type Tap = {
  /** Queues a message; never throws, never waits. */
  readonly send: (message: Uint8Array) => void
  /** Sends the queued messages and closes. */
  readonly close: () => void
}

/** A host that sends to collectors. */
export type DnstapHost = Host & {
  /** Connects to a collector; at most `queueMax` messages wait. */
  readonly openTap: (target: TapTarget, queueMax: number) => Tap
}
