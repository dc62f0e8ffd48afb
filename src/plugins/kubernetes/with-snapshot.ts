/**
 * What becomes of a request when the snapshot that it needs is not there, old, or not whole yet.
 * @module
 */
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import type { Reply } from '../../dns/message.ts'
import { RCODE } from '../../dns/rcode.ts'
import type { Snapshot } from '../../snapshot/snapshot.ts'
import type { SnapshotSource } from '../host.ts'
import { andThen, failure, type MaybePromise, type Outcome } from '../plugin.ts'

/** Goes on with the newest snapshot; without one, or with one too old, fails and says so. */
export function withSnapshot(
  source: SnapshotSource,
  serve: (snapshot: Snapshot) => MaybePromise<Outcome>,
): MaybePromise<Outcome> {
  const current = source.current()
  return andThen(current ?? source.load(), (snapshot) => {
    if (snapshot === undefined || source.freshness() === 'expired') {
      const text = snapshot === undefined ? 'no snapshot yet' : 'the newest snapshot is too old'
      const option = extendedError(EXTENDED_ERROR.NOT_READY, text)
      return failure(RCODE.SERVFAIL, text, [option])
    }
    // To lack a shard may lead to a newer snapshot: it is that one whose age counts.
    return andThen(serve(snapshot), (outcome) =>
      source.freshness() === 'stale' ? markStale(outcome) : outcome,
    )
  })
}

/** Has a reply from a snapshot say that it may be old (RFC 8914 §4.4). */
export function markStale(outcome: Outcome): Outcome {
  if (outcome.kind !== 'reply' || outcome.origin !== 'snapshot') return outcome
  const option = extendedError(EXTENDED_ERROR.STALE_ANSWER)
  return { ...outcome, options: [...outcome.options, option] }
}

/**
 * Makes a denial what it is: as long as not all has been read, what is not there may still come,
 * and it is a failure (CoreDNS, plugin/kubernetes/handler.go).
 */
export function denied(source: SnapshotSource, reply: Reply): Reply {
  if (source.freshness() !== 'partial') return { ...reply, rcode: RCODE.NXDOMAIN }
  const option = extendedError(EXTENDED_ERROR.NOT_READY, 'the cluster is not read yet')
  return { ...reply, rcode: RCODE.SERVFAIL, options: [...reply.options, option] }
}

/** Whether a source has all that its cluster has. */
export function isWhole(source: SnapshotSource): boolean {
  return source.current() !== undefined && source.freshness() !== 'partial'
}
