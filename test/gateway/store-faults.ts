/**
 * Seeded runs of a gateway over a store that fails: an exporter publishes, the store is full,
 * read-only, hangs, rots or loses its process at any step, clocks jump, and names are asked for. An
 * answer is right, or an older one as a whole, or there is none; what was acknowledged stays. So
 * that the runs can run where a store runs, they need only Web APIs.
 * @module
 */

import { randomFrom } from '../../bench/cluster-objects.ts'
import { equalBytes } from '../../src/dns/bytes/bytes.ts'
import { CheckedStore } from '../../src/gateway/snapshots/checked-store.ts'
import type { ClusterReader } from '../../src/gateway/snapshots/cluster-reader.ts'
import { LocalWriter } from '../../src/gateway/snapshots/local-writer.ts'
import type { ClusterWriter } from '../../src/gateway/snapshots/publish-routes.ts'
import { ShardMemory } from '../../src/gateway/snapshots/shard-memory.ts'
import type { SnapshotOrigin } from '../../src/gateway/snapshots/snapshot-follower.ts'
import type { ClusterStore } from '../../src/gateway/snapshots/store.ts'
import { shardRecords } from '../../src/snapshot/read/shard-records.ts'
import type { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { ORIGIN } from '../snapshot/entries.ts'
import {
  Clock,
  END_MS,
  type Generation,
  generations,
  NAMES,
  NO_GENERATION,
  publicKey,
  STEPS,
  signedBytes,
} from './fault-world.ts'
import { newReader } from './reading.ts'

/** Mutex of the event loop, of 100 ms each, that nobody waits longer than for what hangs. */
const HUNG_TURNS_MAX = 200
/** The faults that a test can give a store. */
export const FAULTS = ['error', 'full', 'read-only', 'kill', 'hang'] as const
export type Fault = (typeof FAULTS)[number]
export type Random = (below: number) => number

/** What keeps the bytes, and how it fails. */
export type Medium = {
  /** Opens the store, as a new process does. */
  readonly open: () => ClusterStore
  /** Has a fault from the nth operation on, counted from 0. */
  readonly fail: (fault: Fault, after: number, random: Random) => void
  /** Whether an operation may come to hang now. */
  readonly mayHang: () => boolean
  /** Whether an operation hangs now. */
  readonly hangs: () => boolean
  /** Ends the fault; calls that hung go on. */
  readonly heal: () => void
  /** Changes or cuts something at rest. */
  readonly rot: (random: Random) => Promise<void>
  /** Loses power: what was not synced is gone. */
  readonly cutPower?: () => void
  /** Whether the process that writes also serves, and checks its store when it starts. */
  readonly isOneProcess: boolean
  /** Puts KV or R2 before the store. */
  readonly near?: {
    readonly origin: (origin: SnapshotOrigin, clock: Clock) => SnapshotOrigin
    readonly writer: (writer: ClusterWriter, clock: Clock) => ClusterWriter
  }
}

/** What came of the questions. */
export type FaultTally = {
  runs: number
  answers: number
  wrong: number
  /** Questions while a good copy existed, and those that were answered. */
  withCopy: number
  right: number
}

/** An answer, or a loss, that must never be. */
class WrongError extends Error {}

/** One run. */
class Run {
  private readonly medium: Medium
  private readonly random: Random
  private readonly turn: () => Promise<void>
  private readonly tally: FaultTally
  private readonly clock = new Clock()
  private writer: ClusterWriter
  private reader: ClusterReader
  /** The newest generation that was sent, and the newest that was acknowledged and not damaged. */
  private sent = 0
  private acknowledged = 0
  /** The generation that this process has answered with. */
  private seen = 0
  /** How often the newest generation was confirmed. */
  private late = 0

  constructor(medium: Medium, options: Options, tally: FaultTally) {
    this.medium = medium
    this.random = options.random
    this.turn = options.turn
    this.tally = tally
    ;({ writer: this.writer, reader: this.reader } = this.start())
  }

  async play(): Promise<void> {
    await this.publish(1)
    for (let step = 0; step < STEPS; step++) {
      await this.act()
      this.clock.pass(2000 + this.random(2000))
      for (const _ of [1, 2]) await this.ask(this.random(NAMES.length))
    }
  }

  private async act(): Promise<void> {
    const { random, medium } = this
    const fault = FAULTS[random(FAULTS.length)] ?? 'error'
    switch (random(7)) {
      case 0:
        await this.publish(this.sent + 1)
        break
      case 1:
      case 2: {
        medium.fail(fault, random(24), random)
        const published = this.publish(this.sent + 1)
        await this.settled(published)
        await this.askWhileFaulty()
        medium.heal()
        await published
        if (fault === 'kill') this.restart(random(2) === 0)
        break
      }
      case 3:
        this.restart(random(2) === 0)
        break
      case 4:
      case 5:
        await medium.rot(random)
        this.acknowledged = 0
        if (medium.isOneProcess || random(2) === 0) this.restart(false)
        // The exporter confirms its names, and sends what is missing.
        if (random(2) === 0) await this.publish(this.sent)
        break
      default:
        this.clock.nowMs += (random(3) - 1) * 3_600_000
    }
  }

  /** Publishes as an exporter does that has restarted. Resolves when the gateway has answered. */
  private async publish(number: number): Promise<void> {
    this.late = number > this.sent ? 0 : this.late + 1
    this.sent = Math.max(this.sent, number)
    const one = generations[number - 1]?.[this.late] ?? NO_GENERATION
    // The gateway's clock is right when something is published.
    this.clock.nowMs = Math.max(this.clock.nowMs, END_MS)
    const isStored = await this.send(one).catch((error: unknown) => {
      if (error instanceof WrongError) throw error
      // A refusal: the next publication starts again.
      return false
    })
    // A confirmation reads no shard again: what rotted in an object is found when it is read.
    if (isStored && (this.medium.isOneProcess || this.late === 0)) this.acknowledged = number
  }

  private async send({ signed, shards }: Generation): Promise<boolean> {
    const etag = (await this.writer.state())?.etag
    for (let attempt = 0; attempt < 3; attempt++) {
      const result = await this.writer.putManifest(signed.bytes, signed.signature, etag)
      if (result.kind === 'stored') return true
      if (result.kind === 'refused') return false
      for (const sha256 of result.sha256s) {
        const put = await this.writer.putShard(sha256, shards.get(sha256) ?? new Uint8Array(0))
        if (put.kind !== 'stored') return false
      }
    }
    return this.wrong('shards that were sent are missing')
  }

  private start(): { writer: ClusterWriter; reader: ClusterReader } {
    const { clock, medium } = this
    const checked = new CheckedStore({
      cluster: 'shop',
      publicKey,
      store: medium.open(),
      warn: () => undefined,
    })
    if (medium.isOneProcess) checked.start()
    const writer = new LocalWriter({ cluster: 'shop', publicKey, store: checked, now: clock.now })
    const reader = newReader({
      cluster: 'shop',
      publicKey,
      origin: medium.near?.origin(checked, clock) ?? checked,
      times: { refreshMs: 500, staleMs: Infinity, expireMs: Infinity },
      memory: new ShardMemory(),
      after: clock.after,
      clock,
      onError: () => undefined,
    })
    return { reader, writer: medium.near?.writer(writer, clock) ?? writer }
  }

  private restart(hasPower: boolean): void {
    if (!hasPower) this.medium.cutPower?.()
    ;({ writer: this.writer, reader: this.reader } = this.start())
    this.seen = 0
  }

  /** Asks while the store fails: no wrong answer, but perhaps none. */
  private async askWhileFaulty(): Promise<void> {
    this.clock.pass(1000)
    const index = this.random(NAMES.length)
    const number = await this.settled(this.answer(index))
    if (number !== undefined) this.check(number)
  }

  private async ask(index: number): Promise<void> {
    const hasCopy = await this.hasCopy(NAMES[index] ?? '')
    const number = await this.settled(this.answer(index))
    if (hasCopy) this.tally.withCopy++
    const { acknowledged } = this
    if (number === undefined) {
      if (acknowledged > 0 && !hasCopy) this.wrong(`generation ${acknowledged} is lost`)
      return
    }
    if (hasCopy) this.tally.right++
    this.check(number)
    if (this.seen === 0 && number < acknowledged) {
      this.wrong(`generation ${acknowledged} was acknowledged, ${number} is served`)
    }
    this.seen = number
  }

  private check(number: number): void {
    this.tally.answers++
    if (number > this.sent || number < this.seen) {
      this.wrong(`generation ${number}, seen ${this.seen}, sent ${this.sent}`)
    }
  }

  /**
   * Ends the run, unless the question hung and was given up: that of a later generation may then
   * have half of its shards.
   */
  private wrong(why: string): never {
    throw new WrongError(why)
  }

  /** The generation that a name is answered from; `undefined` for SERVFAIL. */
  private async answer(index: number): Promise<number | undefined> {
    const { reader } = this
    await reader.follow()
    const snapshot = reader.current() ?? (await reader.load())
    if (snapshot === undefined) return undefined
    for (let shard = 0; shard < snapshot.shards.length; shard++) {
      const found = this.find(snapshot, shard, index)
      if (found !== undefined) return found
    }
    for (let shard = 0; shard < snapshot.shards.length; shard++) {
      if (reader.current()?.shards[shard] !== undefined) continue
      const loaded = await reader.load(shard)
      const found = loaded && this.find(loaded, shard, index)
      if (found !== undefined) return found
    }
    const now = reader.current()
    const isWhole = now?.shards.every((shard) => shard !== undefined) === true
    if (isWhole) this.wrong(`${NAMES[index]} is denied`)
    return undefined
  }

  private find({ shards, info }: Snapshot, at: number, index: number): number | undefined {
    const shard = shards[at]
    if (shard === undefined) return undefined
    for (const { rdata } of shardRecords(shard, ORIGIN)) {
      if (rdata.length !== 4 || rdata[2] !== index) continue
      if (rdata[3] !== info.generation) this.wrong(`${rdata.join('.')} in ${info.generation}`)
      return rdata[3]
    }
    return undefined
  }

  /**
   * Whether a good copy of a name exists: in memory, or where the newest intact manifest lists it;
   * after a restart that checks the store, in any whole generation.
   */
  private async hasCopy(name: string): Promise<boolean> {
    const raw = this.medium.open()
    const intact = (await raw.readManifests()).filter(({ bytes, signature }) =>
      hasBytes(signedBytes.get(signature), bytes),
    )
    const candidates = this.medium.isOneProcess ? intact : intact.slice(0, 1)
    for (const { generation } of candidates) {
      const { shards, shardOf } = generations[generation - 1]?.[0] ?? NO_GENERATION
      const needed = this.medium.isOneProcess ? [...shards.keys()] : [shardOf.get(name) ?? '']
      const found = await Promise.all(needed.map((sha256) => raw.readShard(sha256)))
      if (found.every((bytes, i) => hasBytes(shards.get(needed[i] ?? ''), bytes))) return true
    }
    return false
  }

  /**
   * Waits for a call. Time passes while an operation of the store hangs; a publication that hangs
   * is left to be healed.
   */
  private async settled<T>(call: Promise<T>): Promise<T | undefined> {
    if (!this.medium.mayHang()) return call
    let hasEnded = false
    const end = (): void => {
      hasEnded = true
    }
    call.then(end, end)
    for (let hung = 0; !hasEnded && hung < HUNG_TURNS_MAX; ) {
      await this.turn()
      if (!this.medium.hangs()) continue
      hung++
      this.clock.pass(100)
    }
    return hasEnded ? call : undefined
  }
}

function hasBytes(expected: Uint8Array | undefined, bytes: Uint8Array | undefined): boolean {
  return expected !== undefined && bytes !== undefined && equalBytes(expected, bytes)
}

/** What a run needs beside the medium. */
export type Options = {
  readonly random: Random
  /** Waits for a turn of the event loop. */
  readonly turn: () => Promise<void>
}

/** Plays runs. @throws {Error} with the seed when an answer is wrong */
export async function playFaults(
  seeds: readonly number[],
  turn: () => Promise<void>,
  mediumOf: (random: Random) => Medium | Promise<Medium>,
): Promise<FaultTally> {
  const tally = { runs: 0, answers: 0, wrong: 0, withCopy: 0, right: 0 }
  for (const seed of seeds) {
    const random = randomOf(seed)
    try {
      await new Run(await mediumOf(random), { random, turn }, tally).play()
    } catch (error) {
      tally.wrong++
      throw new Error(`seed ${seed}`, { cause: error })
    }
    tally.runs++
  }
  return tally
}

function randomOf(seed: number): Random {
  const next = randomFrom(seed)
  return (below) => Math.floor(next() * below)
}
