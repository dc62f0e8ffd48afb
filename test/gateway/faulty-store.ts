/**
 * A store that fails, hangs, gives what is old or corrupt, by its seed; and how a resolver is asked
 * whose snapshots come from such stores.
 * @module
 */
import assert from 'node:assert/strict'
import { createHash, KeyObject, verify } from 'node:crypto'
import { vi } from 'vitest'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { readUint32 } from '../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { parseResponse } from '../../src/dns/wire/message.ts'
import type { ReaderTimes } from '../../src/gateway/config/reader-times.ts'
import { ClusterReader } from '../../src/gateway/snapshots/cluster-reader.ts'
import { ShardMemory } from '../../src/gateway/snapshots/shard-memory.ts'
import {
  SnapshotFollower,
  type SnapshotOrigin,
} from '../../src/gateway/snapshots/snapshot-follower.ts'
import { createResolver } from '../../src/resolver/chain/create-resolver.ts'
import type { Resolver } from '../../src/resolver/chain/resolver.ts'
import type { ClientVisibility } from '../../src/resolver/contract/client.ts'
import type { Host } from '../../src/resolver/contract/host.ts'
import type { PublicKey } from '../../src/snapshot/format/signature.ts'
import { sourceOf } from '../corefile/source.ts'
import { FakeHost } from '../fake-host.ts'
import { parseQuestion } from '../message-text.ts'
import { ResolverClient } from '../resolver-client.ts'
import type { Published } from './publishing.ts'

const WAITS_MAX = 1000
const WAIT_MS = 250
/** Bytes of shards in memory: less than all. */
const MEMORY_BYTES = 3000
/** After which readers do something; short, so that a few steps are long. */
export const TIMES: ReaderTimes = {
  refreshMs: 500,
  staleMs: 4000,
  expireMs: 20_000,
}

const FAULTS = ['fails', 'hangs', 'old', 'corrupt', 'absent', 'forged'] as const

/** What there is of a cluster: its generations, from number 1, and one by somebody else. */
export type Generations = { readonly good: readonly Published[]; readonly forged: Published }

/**
 * Makes hashes and signatures take no real time until the end of the test. Otherwise the threads of
 * WebCrypto decide which store's read comes first, and a seed gives another run each time.
 */
export function hashAtOnce(): void {
  vi.spyOn(crypto.subtle, 'digest').mockImplementation((_, data) => {
    const { buffer } = new Uint8Array(createHash('sha256').update(viewOf(data)).digest())
    return Promise.resolve(buffer)
  })
  vi.spyOn(crypto.subtle, 'verify').mockImplementation((_, key, signature, data) =>
    Promise.resolve(verify(null, viewOf(data), KeyObject.from(key), viewOf(signature))),
  )
}

function viewOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
}

/** One run: a clock, chance, and stores that misbehave. */
export class FaultyWorld {
  readonly host: FakeHost
  private readonly goodShare: number

  /** @param goodShare how many reads go well for six that do not */
  constructor(seed: number, goodShare: number) {
    this.host = new FakeHost({ seed: seed * 7919 })
    this.goodShare = goodShare
  }

  /** A number from 0 up to, but not including, another. */
  random(below: number): number {
    return this.host.random16() % below
  }

  /** Compiles a Corefile whose clusters open as scripted. */
  compile(text: string, openCluster: Host['openCluster']): Resolver {
    const blocks = parseCorefile(text, 'Corefile', sourceOf())
    return createResolver(blocks, { ...this.host, metrics: this.host.metrics, openCluster })
  }

  /** Asks and waits for the answer, however the stores behave. */
  async ask(resolver: Resolver, question: string, view?: ClientVisibility): Promise<FaultyAnswer> {
    const { message } = parseQuestion(`${question} +edns`)
    const client = { address: '192.0.2.1', port: 0, transport: 'https' as const }
    const viewing = view === undefined ? client : { ...client, visibility: view }
    const startMs = this.host.now()
    const asked = Promise.resolve(new ResolverClient(resolver, viewing).answer(message))
    let reply: Uint8Array | undefined
    let endMs = 0
    void asked.then((bytes) => {
      reply = bytes
      endMs = this.host.now()
    })
    await this.host.advance(0)
    // Whatever does not wait for the clock has happened by now.
    for (let waits = 0; reply === undefined && waits < WAITS_MAX; waits++) {
      await this.host.advance(WAIT_MS)
    }
    const response = parseResponse(reply ?? assert.fail('no answer'))
    assert.ok(response)
    const [soa] = response.authority.filter(({ type }) => type === TYPE.SOA)
    return {
      rcode: response.rcode,
      isMarked: response.options.some(({ data }) => data[1] === 3),
      rdata: response.answer.map(({ rdata }) => rdata),
      serial: soa && readUint32(soa.rdata, soa.rdata.length - 20),
      startMs,
      endMs,
    }
  }

  /** Reads or not, by chance. */
  async act<T>(
    newest: number,
    from: (number: number) => T | undefined,
    { forged, spoil }: { readonly forged: T | undefined; readonly spoil: (value: T) => T },
  ): Promise<T | undefined> {
    const fault = FAULTS[this.random(FAULTS.length + this.goodShare)]
    await Promise.resolve()
    const value = from(fault === 'old' ? 1 + this.random(newest) : newest)
    if (fault === 'fails') throw new Error('the store is away')
    if (fault === 'hangs') return new Promise(() => undefined)
    if (fault === 'absent') return undefined
    if (fault === 'forged') return forged
    return fault === 'corrupt' && value !== undefined ? spoil(value) : value
  }

  /** Bytes with one bit changed, and perhaps without the last. */
  spoilt(bytes: Uint8Array): Uint8Array {
    const copy = bytes.slice(0, bytes.length - this.random(3))
    const at = this.random(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << this.random(8))
    return copy
  }
}

/** What came back. */
export type FaultyAnswer = {
  readonly rcode: number
  /** Whether it says that it is old. */
  readonly isMarked: boolean
  readonly rdata: readonly Uint8Array[]
  /** Of the SOA record of a denial: the generation that it is from. */
  readonly serial: number | undefined
  readonly startMs: number
  readonly endMs: number
}

/** A cluster in such a store. */
export class FaultyStore implements SnapshotOrigin {
  /** Number of the newest generation. */
  newest = 1
  private readonly world: FaultyWorld
  private readonly generations: Generations
  private readonly memory = new ShardMemory(MEMORY_BYTES)
  private follower: SnapshotFollower | undefined

  constructor(world: FaultyWorld, generations: Generations) {
    this.world = world
    this.generations = generations
  }

  /** Publishes the next generation, by chance, while there is one. */
  step(): void {
    const { good } = this.generations
    if (this.newest < good.length && this.world.random(2) === 0) this.newest++
  }

  readonly readManifest: SnapshotOrigin['readManifest'] = () =>
    this.world.act(this.newest, (number) => this.generations.good[number - 1]?.signed, {
      forged: this.generations.forged.signed,
      spoil: (signed) => ({ ...signed, bytes: this.world.spoilt(signed.bytes) }),
    })

  readonly readShard: SnapshotOrigin['readShard'] = (sha256) =>
    this.world.act(this.newest, () => this.shard(sha256), {
      forged: [...this.generations.forged.shards.values()][0],
      spoil: (bytes) => this.world.spoilt(bytes),
    })

  /** Makes a reader of one of its trees; all load together. */
  reader(
    publicKey: PublicKey,
    options: { readonly tree?: string; readonly needsFacts?: () => boolean } = {},
  ): ClusterReader {
    const { host } = this.world
    const [{ manifest } = assert.fail()] = this.generations.good
    const { cluster } = manifest
    const onError = (): undefined => undefined
    const source = { cluster, publicKey, origin: this, after: host.after, onError }
    const { refreshMs } = TIMES
    this.follower ??= new SnapshotFollower({ ...source, elapsed: host.elapsed, refreshMs })
    return new ClusterReader({
      ...options,
      cluster,
      follower: this.follower,
      times: TIMES,
      memory: this.memory,
      clock: host,
      onError,
    })
  }

  /** Only the newest two generations' shards are kept. */
  private shard(sha256: string): Uint8Array | undefined {
    const kept = this.generations.good.slice(Math.max(0, this.newest - 2), this.newest)
    return kept.map(({ shards }) => shards.get(sha256)).find((bytes) => bytes !== undefined)
  }
}
