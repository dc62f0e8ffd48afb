/**
 * Each row of the table "The object of a cluster" in docs/failures.md, by its name, with an object
 * that fails so.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SnapshotOrigin } from '../../src/gateway/snapshots/snapshot-follower.ts'
import type { ServedManifest } from '../../src/gateway/snapshots/store.ts'
import { read, section, tableRows } from '../docs/pages.ts'
import { settle } from '../fake-host.ts'
import { clientSha256, Running } from './running.ts'

const NAME = 'web.shop.svc.shop.example.org A +edns'
const FIRST = /\. 5 IN A 10\.96\.0\.80/
const SLOW_MS = 1500
const STALE_MS = 60_000
const EXPIRE_MS = 24 * 3600 * 1000

type Follow = NonNullable<SnapshotOrigin['follow']>

/** A gateway, and the object of its cluster, which does what the test says. */
class Edge {
  readonly running: Running
  /** When watches were opened. */
  readonly openedMs: number[] = []
  follow: Follow

  private constructor(running: Running) {
    this.running = running
    this.follow = this.well
  }

  static async start(): Promise<Edge> {
    let edge: Edge | undefined
    const follow: Follow = (...values) => edge?.watch(...values) ?? assert.fail('too early')
    const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 }, undefined, {
      follow,
    })
    edge = new Edge(running)
    await running.publish()
    return edge
  }

  /** Starts one that has answered. */
  static async warm(): Promise<Edge> {
    const edge = await Edge.start()
    await edge.getsAtOnce(FIRST)
    return edge
  }

  /** Has the object send its manifest, and wait for changes that never come. */
  readonly well: Follow = async (_known, waitMs, take) => {
    await take(this.update(await this.running.store.readManifest()))
    await this.sleep(waitMs)
  }

  readonly hang: Follow = () => new Promise(() => undefined)

  /** Has the object send another manifest than it should. */
  sending(change: (served: ServedManifest) => ServedManifest): void {
    this.follow = async (_known, _waitMs, take) => {
      const served = await this.running.store.readManifest()
      await take(this.update(served && change(served)))
    }
  }

  private watch(...values: Parameters<Follow>): Promise<void> {
    this.openedMs.push(this.running.host.elapsed())
    return this.follow(...values)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.running.host.after(ms, resolve))
  }

  /** Checks what a query gets that waits for nothing: the clock stands. */
  async getsAtOnce(...wanted: readonly RegExp[]): Promise<void> {
    const lines = await this.ask()
    for (const one of wanted) assert.match(lines, one)
  }

  /** Checks what a query gets that opens a watch, and when. */
  async getsAfter(ms: number, wanted: RegExp): Promise<void> {
    const opened = this.openedMs.length
    let isDone = false
    const asked = this.ask().finally(() => {
      isDone = true
    })
    while (this.openedMs.length === opened) await settle()
    await this.running.host.advance(ms - 1)
    assert.equal(isDone, false)
    await this.running.host.advance(1)
    assert.match(await asked, wanted)
  }

  /** Lets time pass, with a query every so often, which may wait for up to 2 s. */
  async pass(durationMs: number, everyMs: number): Promise<void> {
    const asked: Promise<string>[] = []
    for (let ms = 0; ms < durationMs; ms += everyMs) {
      await this.running.host.advance(everyMs)
      const one = this.ask()
      asked.push(one)
      await Promise.race([one, settleOften()])
    }
    await this.running.host.advance(2000)
    await Promise.all(asked)
  }

  private async ask(): Promise<string> {
    return (await this.running.ask(NAME)).join(' ')
  }

  get log(): string {
    return JSON.stringify(this.running.host.events)
  }

  private update(manifest: ServedManifest | undefined): Parameters<Parameters<Follow>[2]>[0] {
    return manifest === undefined ? {} : { manifest }
  }
}

const STALE = /ede: 3/
const NOT_READY = /^SERVFAIL.* ede: 14/
const SECOND = /\. 5 IN A 10\.96\.0\.81/
const SECOND_LINE = 'web.shop.svc.cluster.local. 5 IN A 10.96.0.81'
/** The watch that was open ends within it. */
const WATCH_MS = 27_000

/** Lets what hashes and verifies go on: it takes turns with others of that kind. */
async function settleOften(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await crypto.subtle.digest('SHA-256', new Uint8Array(1))
    await settle()
  }
}

/** Checks that names stay as they are, turn stale and expire, and that queries wait for nothing. */
async function ages(edge: Edge): Promise<void> {
  await edge.getsAtOnce(FIRST)
  await edge.pass(STALE_MS, 1000)
  await edge.getsAtOnce(FIRST, STALE)
  assert.match(edge.log, /cannot refresh a snapshot/)
  await edge.pass(EXPIRE_MS, EXPIRE_MS)
  await edge.getsAtOnce(NOT_READY)
}

/** What is watched, by the row. */
const ROWS: Readonly<Record<string, () => Promise<void>>> = {
  'hangs; names are in memory': async () => {
    const edge = await Edge.warm()
    edge.follow = edge.hang
    await edge.pass(WATCH_MS + 2000, 1000)
    await ages(edge)
  },
  'hangs; a new isolate': async () => {
    const edge = await Edge.start()
    edge.follow = edge.hang
    await edge.getsAfter(2000, NOT_READY)
    await edge.running.host.advance(600)
    await edge.getsAtOnce(NOT_READY)
    assert.match(edge.log, /no answer from the origin after 2000 ms/)
  },
  'is slow': async () => {
    const edge = await Edge.start()
    edge.follow = async (...values) => {
      await edge.sleep(SLOW_MS)
      return edge.well(...values)
    }
    await edge.getsAfter(SLOW_MS, FIRST)
    for (let i = 0; i < 50; i++) {
      await edge.running.host.advance(1000)
      await edge.getsAtOnce(FIRST)
    }
    assert.deepEqual(edge.running.host.events, [])
  },
  'is overloaded': async () => {
    const edge = await Edge.warm()
    edge.follow = () => Promise.reject(Object.assign(new Error('busy'), { overloaded: true }))
    await edge.pass(WATCH_MS, 1000)
    const opened = edge.openedMs.length
    await edge.pass(20_000, 500)
    const gaps = edge.openedMs.slice(opened).map((ms, i, all) => ms - (all[i - 1] ?? 0))
    assert.ok(gaps.length >= 4 && gaps.slice(1).every((ms) => ms >= 4000), String(gaps))
    await ages(edge)
  },
  'is reset, as by a deployment': async () => {
    const edge = await Edge.warm()
    edge.follow = async (known, _waitMs, take) => {
      await edge.well(known, 0, take)
      throw new Error('The Durable Object was reset because its code was updated')
    }
    const opened = edge.openedMs.length
    for (let i = 0; i < 100; i++) {
      await edge.running.host.advance(500)
      await edge.getsAtOnce(FIRST)
    }
    assert.ok(edge.openedMs.length - opened <= 50)
  },
  'sends what is not signed': async () => {
    const edge = await Edge.warm()
    edge.sending((served) => ({ ...served, signature: 'A'.repeat(86) }))
    await edge.pass(WATCH_MS, 1000)
    await ages(edge)
    assert.match(edge.log, /has a wrong signature/)
  },
  'sends an older generation': async () => {
    const edge = await Edge.start()
    const older = await edge.running.store.readManifest()
    await edge.running.publish(SECOND_LINE, 2)
    await edge.getsAtOnce(SECOND)
    edge.sending((served) => older ?? served)
    await edge.pass(WATCH_MS + 5000, 1000)
    await edge.getsAtOnce(SECOND)
  },
  'lacks a shard, or has other bytes': async () => {
    for (const bytes of [undefined, new Uint8Array(8)]) {
      const edge = await Edge.warm()
      edge.running.store.readShard = async () => bytes
      await edge.running.publish(SECOND_LINE, 2)
      await edge.pass(WATCH_MS + 5000, 1000)
      await edge.getsAtOnce(FIRST)
      assert.match(edge.log, /The store lacks the shard|has another hash/)
    }
  },
  'comes back': async () => {
    const edge = await Edge.warm()
    edge.follow = edge.hang
    await edge.pass(WATCH_MS + STALE_MS, 1000)
    await edge.getsAtOnce(FIRST, STALE)
    await edge.running.publish(SECOND_LINE, 2)
    edge.follow = edge.well
    await edge.pass(7000, 1000)
    await edge.getsAtOnce(SECOND, /^(?!.*ede)/)
  },
}

describe('while the object of a cluster', () => {
  for (const [name, watch] of Object.entries(ROWS)) test(name, watch)
})

test('docs/failures.md has a row for each, and no other', () => {
  const rows = tableRows(section(read('docs/failures.md'), '### The object of a cluster'))
  assert.deepEqual(
    rows.map(([name]) => name),
    Object.keys(ROWS),
  )
})
