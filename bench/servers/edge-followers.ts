/**
 * Isolates that follow one object, simulated inside the Worker by the code of an isolate: each
 * keeps a watch open.
 * @module
 */
import { type SnapshotUpdate, versionOf } from '../../src/gateway/snapshots/snapshot-update.ts'
import { manifestOf } from '../../src/gateway/snapshots/store.ts'
import type { ClusterStub } from '../../worker/cluster-stub.ts'

/** As an isolate has it. */
const WATCH_MS = 25_000
/** The least time between two watches. */
const REOPEN_MS = 1000

/** When a follower saw a generation, by the wall clock. */
export type Seen = readonly [generation: number, ms: number]

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Follows by many, who start one after the other, until a time; returns what they saw. */
export async function followByMany(
  stub: ClusterStub,
  { count, startsMs, untilMs }: Readonly<Record<'count' | 'startsMs' | 'untilMs', number>>,
): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  const generations = new Map<string, number>()
  const follow = async (delayMs: number): Promise<void> => {
    await sleep(delayMs)
    let version = ''
    const take = async ({ manifest }: SnapshotUpdate): Promise<void> => {
      if (manifest === undefined) return
      // Isolates parse on machines of their own.
      const generation = generations.get(manifest.signature) ?? manifestOf(manifest).generation
      generations.set(manifest.signature, generation)
      version = versionOf(manifest, generation)
      seen.push([generation, Date.now()])
    }
    for (let openedMs = Date.now(); openedMs < untilMs; openedMs = Date.now()) {
      await stub.follow(version, Math.min(WATCH_MS, untilMs - openedMs), take)
      await sleep(Math.max(0, openedMs + REOPEN_MS - Date.now()))
    }
  }
  await Promise.all(Array.from({ length: count }, (_, i) => follow((startsMs * i) / count)))
  return seen
}
