/**
 * Serves requests when the snapshot is missing, stale or incomplete.
 * @module
 */

import { RCODE } from '../../../dns/names/rcode.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import type { Reply } from '../../../dns/wire/message.ts'
import { MissingShardError } from '../../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { type Failure, failure, type Outcome } from '../../contract/outcome.ts'

const TOO_OLD = 'the newest snapshot is too old'

/**
 * Serves from the newest snapshot; without one, or if it is too old, calls `refuse` with the
 * reason: SERVFAIL by default.
 * @param namespaces the client's namespaces; `undefined` for all
 */
export function withSnapshot(
  source: SnapshotSource,
  serve: (snapshot: Snapshot) => MaybePromise<Outcome>,
  {
    namespaces,
    refuse = notReady,
  }: {
    readonly namespaces?: Visibility | undefined
    readonly refuse?: ((reason: string) => MaybePromise<Outcome>) | undefined
  } = {},
): MaybePromise<Outcome> {
  const current = source.current()
  return andThen(current ?? source.load(), (snapshot) => {
    if (snapshot === undefined) return refuse('no snapshot yet')
    if (source.freshness(namespaces) === 'expired') return refuse(TOO_OLD)
    // Loading a shard takes time and may bring a newer snapshot, whose age decides.
    return andThen(serve(snapshot), (outcome) => {
      const freshness = source.freshness(namespaces)
      if (freshness === 'expired' && isOwn(outcome)) return refuse(TOO_OLD)
      return freshness === 'stale' ? markStale(outcome) : outcome
    })
  })
}

/** Shards that one query may load. */
const LOADS_MAX = 64

/**
 * Calls `serve`, again after each shard that it needs and that is not loaded; `otherwise` if a
 * shard is unavailable.
 */
export function withShards<Result>(
  source: SnapshotSource,
  serve: (snapshot: Snapshot) => MaybePromise<Result>,
  otherwise: () => Result,
): (snapshot: Snapshot) => MaybePromise<Result> {
  const tryServe = (snapshot: Snapshot, loadsLeft: number): MaybePromise<Result> => {
    try {
      return serve(snapshot)
    } catch (error) {
      if (!(error instanceof MissingShardError)) throw error
      if (loadsLeft === 0) return otherwise()
      return andThen(source.load(error.shard), (loaded) =>
        loaded === undefined ? otherwise() : tryServe(loaded, loadsLeft - 1),
      )
    }
  }
  return (snapshot) => tryServe(snapshot, LOADS_MAX)
}

/** Returns the failure for an unavailable shard. */
export function unavailable(): Failure {
  return failure(RCODE.SERVFAIL, 'a shard of the snapshot is unavailable')
}

/** Returns the failure for names that are not loaded yet (RFC 8914 §4.15). */
export function notReady(text: string): Outcome {
  return failure(RCODE.SERVFAIL, text, [extendedError(EXTENDED_ERROR.NOT_READY, text)])
}

/** Marks a reply from a snapshot as possibly stale (RFC 8914 §4.4). */
export function markStale(outcome: Outcome): Outcome {
  if (!isOwn(outcome)) return outcome
  const option = extendedError(EXTENDED_ERROR.STALE_ANSWER)
  return { ...outcome, options: [...outcome.options, option] }
}

/** Whether an outcome comes from a snapshot rather than from a later plugin. */
function isOwn(outcome: Outcome): outcome is Reply {
  return outcome.kind === 'reply' && outcome.origin === 'snapshot'
}

/** Why a name may exist that a snapshot lacks. */
const NOT_READ: ReadonlyMap<string, string> = new Map([
  ['partial', 'the cluster is not read yet'],
  ['unserved', 'the API server does not serve the kind of these names'],
])

/**
 * Turns a reply into NXDOMAIN, or SERVFAIL until the cluster is read completely, since the name may
 * still appear (CoreDNS, plugin/kubernetes/handler.go). CoreDNS never gets a list of a kind that
 * the API server does not serve, so it answers SERVFAIL too. It is not ready then: we are, as a
 * missing kind of `clusterset.local` must not take `cluster.local` away.
 */
export function negativeFrom(source: SnapshotSource, reply: Reply): Reply {
  const reason = NOT_READ.get(source.freshness())
  if (reason === undefined) return { ...reply, rcode: RCODE.NXDOMAIN }
  const option = extendedError(EXTENDED_ERROR.NOT_READY, reason)
  return { ...reply, rcode: RCODE.SERVFAIL, options: [...reply.options, option] }
}

/** Whether a source has read its whole cluster. */
export function isComplete(source: SnapshotSource): boolean {
  return source.current() !== undefined && source.freshness() !== 'partial'
}

/** The verdicts. */
export const VERDICT = {
  /** The answer section is written. */
  DATA: 0,
  /** The name exists, but has no records of the type; nothing is written. */
  NODATA: 1,
  /** The name does not exist; nothing is written. */
  NXDOMAIN: 2,
  /** The caller must follow the name's CNAME; nothing is written. */
  FOLLOW: 3,
  /** The caller must load the shard `missingShard` first; nothing is written. */
  UNLOADED: 4,
} as const
