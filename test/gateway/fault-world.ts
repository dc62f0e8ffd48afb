/**
 * What the runs of `store-faults.ts` are made of: a clock that jumps, and snapshots to publish.
 * @module
 */

import type { PublicKey } from '../../src/snapshot/format/signature.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import { shardRecords } from '../../src/snapshot/read/shard-records.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { ORIGIN } from '../snapshot/entries.ts'
import { type Published, snapshotOf } from './publishing.ts'

const START_MS = Date.UTC(2026, 0, 1)
/** What happens in a run. */
export const STEPS: number = 4
const GENERATIONS = STEPS + 1
/** Manifests of each generation, each confirmed a second after the one before. */
const CONFIRMATIONS = STEPS + 1
/** When the last manifest was confirmed; counted from 1970. */
export const END_MS: number = START_MS + GENERATIONS * CONFIRMATIONS * 1000
const SHARDS = 4
/** The names of each snapshot. */
export const NAMES: readonly string[] = ['web', 'api', 'db', 'cart', 'mail', 'auth']

/** A clock that jumps, and whose timers run when a call waits for them. */
export class Clock {
  nowMs: number = START_MS
  private readonly timers = new Set<{ dueMs: number; readonly task: () => void }>()
  private elapsedMs = 0

  readonly now = (): number => this.nowMs

  /** Milliseconds that passed: it never jumps. */
  readonly elapsed = (): number => this.elapsedMs

  readonly after = (delayMs: number, task: () => void): (() => void) => {
    const timer = { dueMs: this.elapsedMs + delayMs, task }
    this.timers.add(timer)
    return () => this.timers.delete(timer)
  }

  /** Lets time pass. */
  pass(durationMs: number): void {
    this.nowMs += durationMs
    this.elapsedMs += durationMs
    for (const timer of [...this.timers].sort((a, b) => a.dueMs - b.dueMs)) {
      if (timer.dueMs > this.elapsedMs || !this.timers.delete(timer)) continue
      timer.task()
    }
  }
}

/** A snapshot that the exporter publishes. */
export type Generation = Published & {
  /** Hash of the shard with each name. */
  readonly shardOf: ReadonlyMap<string, string>
}

const pair = await keys()
/** What the manifests are signed for. */
export const publicKey: PublicKey = pair.publicKey
/** What the exporter publishes: by generation, counted from 1, each first and then confirmed. */
export const generations: readonly (readonly Generation[])[] = await Promise.all(
  Array.from({ length: GENERATIONS }, (_, i) =>
    Promise.all(Array.from({ length: CONFIRMATIONS }, (_, late) => make(i + 1, late))),
  ),
)
/** Bytes of all manifests, by their signatures. */
export const signedBytes: ReadonlyMap<string, Uint8Array> = new Map(
  generations.flat().map(({ signed }) => [signed.signature, signed.bytes]),
)

async function make(number: number, late: number): Promise<Generation> {
  const sets = NAMES.map((name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${i}.${number}`)
  const time = new Date(START_MS + (number * CONFIRMATIONS + late) * 1000).toISOString()
  const fields = { generation: number, time, shardCount: SHARDS }
  const published = await snapshotOf(pair.privateKey, sets, fields)
  const shardOf = new Map<string, string>()
  for (const [sha256, bytes] of published.shards) {
    for (const { rdata } of shardRecords(openShard(bytes), ORIGIN)) {
      const name = NAMES[rdata[2] ?? -1]
      if (rdata.length === 4 && name !== undefined) shardOf.set(name, sha256)
    }
  }
  return { ...published, shardOf }
}

/** What nothing is known of: the first generation. */
export const NO_GENERATION: Generation = generations[0]?.[0] ?? (await make(1, 0))
