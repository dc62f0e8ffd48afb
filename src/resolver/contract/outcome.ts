/**
 * The outcome of a request: what a plugin returns.
 * @module
 */
import type { EdnsOption } from '../../dns/wire/edns.ts'
import type { Reply, ResourceRecord } from '../../dns/wire/message.ts'

/** A bare response code: the server writes the message, and other plugins leave it unchanged. */
export type Failure = {
  readonly kind: 'failure'
  readonly rcode: number
  readonly options: readonly EdnsOption[]
  /** The RD bit; the query's when absent. */
  readonly recursionDesired?: boolean | undefined
  /** The reason, for the log of `errors`. */
  readonly reason?: string
}

/** No response. */
export type Drop = { readonly kind: 'drop' }

/** All records of a zone, in the order of RFC 5936 §2.2, for a response of many messages. */
export type ZoneTransfer = {
  readonly kind: 'transfer'
  readonly records: Iterable<ResourceRecord>
}

/** The result of a chain. */
export type Outcome = Reply | Failure | Drop | ZoneTransfer

/** Returns the outcome for a bare response code. */
export function failure(
  rcode: number,
  reason?: string,
  options: readonly EdnsOption[] = [],
): Failure {
  return reason === undefined
    ? { kind: 'failure', rcode, options }
    : { kind: 'failure', rcode, options, reason }
}
