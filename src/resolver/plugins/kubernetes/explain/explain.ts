/**
 * Explains a query for people: which snapshot the answer comes from, what that snapshot has at the
 * name, and what is missing. Invisible names are reported as nonexistent.
 * @module
 */

import { formatName } from '../../../../dns/names/name.ts'
import type { Query } from '../../../../dns/wire/query.ts'
import { infoFor, type Snapshot } from '../../../../snapshot/read/snapshot.ts'
import type { Fact } from '../../../contract/fact.ts'
import type { MaybePromise } from '../../../contract/maybe-promise.ts'
import { withShards } from '../with-snapshot.ts'
import type { ExplainedPlace, Found } from './explain-context.ts'
import { explainForward } from './explain-forward.ts'
import { explainReverse } from './explain-reverse.ts'
import { textLabels } from './explained-names.ts'
import { nearNames } from './near-names.ts'

/** Reasons to look for similar names. */
const SIMILAR: ReadonlySet<string> = new Set(['no_branch', 'no_namespace', 'no_service'])

/** Returns the facts about a query. Loads shards for them; omits what cannot be loaded. */
export async function explainPlace(query: Query, place: ExplainedPlace): Promise<readonly [Fact]> {
  const { zone, source } = place
  const labels = query.name.slice(0, query.nameBytes - zone.origin.size)
  const isReverse = zone.isReverse && labels.length > 0
  const [, namespace = '', service = ''] = textLabels(labels).toReversed()
  const state = isReverse ? undefined : await source.serviceState?.(namespace, service)
  const fact = snapshotFact(query, { ...place, plugin: 'kubernetes', origin: zone.origin.bytes })
  const snapshot = source.current()
  if (snapshot === undefined) return [fact]
  const explain = withShards<Found>(
    source,
    (found) => {
      const context = { ...place, snapshot: found, state }
      return isReverse
        ? explainReverse(query, context)
        : explainForward(labels, query.type, context)
    },
    () => ({}),
  )
  const found = await explain(snapshot)
  const { reason } = found
  if (reason === undefined || !SIMILAR.has(reason.code)) return [{ ...fact, ...found }]
  return [{ ...fact, ...found, reason: { ...reason, didYouMean: await nearNames(labels, place) } }]
}

/** A plugin's snapshot that may answer. */
export type ExplainedSnapshot = Pick<ExplainedPlace, 'source' | 'cluster' | 'visibility'> & {
  readonly plugin: string
  readonly origin: Uint8Array
  readonly tree: string
}

/**
 * Returns the facts about a plugin's snapshot, with what `explain` finds there; without that if a
 * shard is unavailable.
 */
export function explainSnapshot(
  query: Query,
  place: ExplainedSnapshot,
  explain: (snapshot: Snapshot) => Found,
): MaybePromise<readonly Fact[]> {
  const { source } = place
  const fact = snapshotFact(query, place)
  const snapshot = source.current()
  if (snapshot === undefined) return [fact]
  return withShards<readonly Fact[]>(
    source,
    (found) => [{ ...fact, ...explain(found) }],
    () => [fact],
  )(snapshot)
}

function snapshotFact(query: Query, place: ExplainedSnapshot): Fact {
  const { plugin, origin, source, cluster, tree, visibility } = place
  const snapshot = source.current()
  const info = snapshot && infoFor(snapshot, visibility?.namespaces)
  return {
    plugin,
    name: formatName(query.name),
    zone: formatName(origin),
    ...(cluster !== undefined && { cluster }),
    tree,
    freshness: info === undefined ? 'missing' : source.freshness(visibility?.namespaces),
    generation: info?.generation ?? null,
    time: info === undefined ? null : new Date(info.timeMs).toISOString(),
  }
}
