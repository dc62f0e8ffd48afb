/**
 * A store that fails, hangs, gives what is old or corrupt: whatever it does, an answer is right, or
 * an older one as a whole, or SERVFAIL.
 * @module
 */
import assert from 'node:assert/strict'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { parseResponse } from '../../src/dns/message.ts'
import { RCODE } from '../../src/dns/rcode.ts'
import { ClusterReader } from '../../src/gateway/cluster-reader.ts'
import { ShardMemory } from '../../src/gateway/shard-memory.ts'
import { createResolver } from '../../src/resolver/create-resolver.ts'
import { sourceOf } from '../corefile/source.ts'
import { keys } from '../exporter/memory-gateway.ts'
import { FakeHost, START_MS } from '../fake-host.ts'
import { parseQuestion } from '../message-text.ts'
import { type Published, snapshotOf } from './publishing.ts'

const STEPS = 6
const GENERATIONS = 5
const STEP_MS = 700
const TURNS_MAX = 100_000
const SHARDS = 4
const TIMES = { refreshMs: 500, blockMs: 2000, staleMs: 4000, expireMs: 20_000 }
const NAMES = ['web', 'api', 'db', 'cart', 'mail', 'auth']
const { privateKey, publicKey } = await keys()
const { privateKey: strangersKey } = await keys()

function snapshotNumber(number: number, key = privateKey): Promise<Published> {
  const sets = NAMES.map((name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${i}.${number}`)
  const time = new Date(START_MS + (number - 1) * 1000).toISOString()
  return snapshotOf(key, sets, { generation: number, time, shardCount: SHARDS })
}

const generations = await Promise.all(
  Array.from({ length: GENERATIONS }, (_, i) => snapshotNumber(i + 1)),
)
const forged = await snapshotNumber(9, strangersKey)

type Fault = 'none' | 'fails' | 'hangs' | 'old' | 'corrupt' | 'absent' | 'forged'
const FAULTS: readonly Fault[] = [
  ...Array.from({ length: 5 }, () => 'none' as const),
  'fails',
  'hangs',
  'old',
  'corrupt',
  'absent',
  'forged',
]

/** What came back: the number in it, whether it says that it is old, and when. */
type Answer = {
  readonly number: number | undefined
  readonly isMarked: boolean
  readonly nowMs: number
}

/** One run: a store that misbehaves by its seed. */
class Run {
  readonly host: FakeHost
  newest = 1
  private hangs = 0
  private readonly resolver: ReturnType<typeof createResolver>
  private readonly reader: ClusterReader

  constructor(seed: number) {
    this.host = new FakeHost({ seed })
    this.reader = new ClusterReader({
      cluster: 'shop',
      publicKey,
      origin: {
        readManifest: () =>
          this.act(
            ({ signed }) => signed,
            forged.signed,
            (signed) => ({
              ...signed,
              bytes: this.spoilt(signed.bytes),
            }),
          ),
        readShard: (sha256) =>
          this.act(
            () => this.shard(sha256),
            [...forged.shards.values()][0],
            (bytes) => this.spoilt(bytes),
          ),
      },
      times: TIMES,
      memory: new ShardMemory(3000),
      after: this.host.after,
      now: this.host.now,
      onError: () => undefined,
    })
    const text = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
    const blocks = parseCorefile(text, 'Corefile', sourceOf())
    this.resolver = createResolver(blocks, { ...this.host, openCluster: () => this.reader })
  }

  random(below: number): number {
    return this.host.random16() % below
  }

  /** Asks for a name; `undefined` for a server failure, else the number in the answer. */
  async ask(index: number): Promise<Answer> {
    void this.reader.refreshIfDue()
    const { message } = parseQuestion(`${NAMES[index]}.shop.svc.cluster.local A +edns`)
    const client = { address: '192.0.2.1', port: 0, transport: 'https' as const }
    const [listener] = this.resolver.listeners
    assert.ok(listener)
    const asked = Promise.resolve(this.resolver.answer(listener, message, client))
    let reply: Uint8Array | undefined
    let nowMs = 0
    void asked.then((bytes) => {
      reply = bytes
      nowMs = this.host.now()
    })
    for (let turn = 0; reply === undefined && turn < TURNS_MAX; turn++) {
      // Hashing takes real time, in which the clock of this test must not run.
      await new Promise(setImmediate)
      if (this.hangs > 0 && turn % 20 === 19) await this.host.advance(250)
    }
    const response = parseResponse(reply ?? assert.fail('no answer'))
    assert.ok(response)
    const isMarked = response.options.some(({ data }) => data[1] === 3)
    if (response.rcode === RCODE.SERVFAIL) return { number: undefined, isMarked, nowMs }
    assert.deepEqual([response.rcode, response.answer.length], [RCODE.NOERROR, 1])
    const rdata = response.answer[0]?.rdata ?? new Uint8Array(0)
    assert.equal(rdata[2], index)
    return { number: rdata[3], isMarked, nowMs }
  }

  private async act<T>(
    from: (published: Published) => T | undefined,
    other: T | undefined,
    spoil: (value: T) => T,
  ): Promise<T | undefined> {
    const fault = FAULTS[this.random(FAULTS.length)]
    await Promise.resolve()
    const number = fault === 'old' ? 1 + this.random(this.newest) : this.newest
    const value = from(generations[number - 1] ?? assert.fail())
    if (fault === 'fails') throw new Error('the store is away')
    if (fault === 'hangs') {
      this.hangs++
      return new Promise(() => undefined)
    }
    if (fault === 'absent') return undefined
    if (fault === 'forged') return other
    return fault === 'corrupt' && value !== undefined ? spoil(value) : value
  }

  /** Only the newest two generations' shards are kept. */
  private shard(sha256: string): Uint8Array | undefined {
    const kept = generations.slice(Math.max(0, this.newest - 2), this.newest)
    return kept.map(({ shards }) => shards.get(sha256)).find((bytes) => bytes !== undefined)
  }

  private spoilt(bytes: Uint8Array): Uint8Array {
    const copy = bytes.slice(0, bytes.length - this.random(3))
    const at = this.random(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << this.random(8))
    return copy
  }
}

/** What came of the questions asked. */
export type Tally = { newest: number; older: number; failures: number }

/**
 * Asks readers of stores that misbehave, each by its seed.
 * @throws {AssertionError} when an answer is wrong, goes back in time, or hides its age
 */
export async function askFaultyStores(seeds: readonly number[]): Promise<Tally> {
  const tally = { newest: 0, older: 0, failures: 0 }
  for (const seed of seeds) {
    const run = new Run(seed * 7919)
    let least = 0
    for (let step = 0; step < STEPS; step++) {
      if (run.newest < GENERATIONS && run.random(2) === 0) run.newest++
      await run.host.advance(run.random(STEP_MS))
      const { number, isMarked, nowMs } = await run.ask(run.random(NAMES.length))
      if (number === undefined) {
        tally.failures++
        continue
      }
      assert.ok(least <= number && number <= run.newest, `seed ${seed}: ${number} of ${run.newest}`)
      const ageMs = nowMs - Date.parse(generations[number - 1]?.manifest.time ?? '')
      assert.equal(isMarked, ageMs >= TIMES.staleMs, `seed ${seed}: ${ageMs} ms`)
      least = number
      if (number === run.newest) tally.newest++
      else tally.older++
    }
  }
  return tally
}
