import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type GatewayClient, GatewayError } from '../../src/exporter/gateway-client.ts'
import { Publisher } from '../../src/exporter/publisher.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { pair, snapshot } from '../cluster/follow/exporting.ts'
import { START_MS } from '../cluster/follow/fake-clock.ts'

const MIB = 1024 * 1024
const SHARDS = Array.from({ length: 24 }, (_, i) => new Uint8Array(MIB).fill(i))
const HASHES = new Map<Uint8Array, string>()
for (const shard of SHARDS) HASHES.set(shard, await sha256Hex(shard))

/** A gateway that lacks all shards, and how large the bodies are that it gets. */
class Line {
  readonly sizes: number[] = []
  private readonly stored = new Set<string>()
  private nowMs = 0
  private readonly publisher: Publisher

  /** @param respond throws, returns how long the request takes, or `undefined` for a 413 */
  constructor(respond: (mib: number) => number | undefined) {
    const gateway: GatewayClient = {
      state: async () => undefined,
      reads: () => [1],
      putShard: async (sha256) => {
        this.stored.add(sha256)
      },
      putManifest: async () => this.result(),
      putPublication: async ({ shards }) => {
        const mib = shards.reduce((sum, { length }) => sum + length / MIB, 0)
        this.sizes.push(mib)
        const durationMs = respond(mib)
        if (durationMs === undefined) return undefined
        this.nowMs += durationMs
        for (const shard of shards) this.stored.add(HASHES.get(shard) ?? '')
        return this.result()
      },
    }
    const [key, now] = [pair.privateKey, (): number => START_MS]
    const elapsed = (): number => this.nowMs
    this.publisher = new Publisher({ cluster: 'shop', gateway, key, now, elapsed })
  }

  async publish(): Promise<number[]> {
    const facts = { sources: {}, confirmedMs: START_MS }
    await this.publisher.publish({ ...snapshot([]), shards: SHARDS }, facts)
    return this.sizes
  }

  private async result(): ReturnType<GatewayClient['putManifest']> {
    const sha256s = [...HASHES.values()].filter((one) => !this.stored.has(one))
    return sha256s.length > 0 ? { kind: 'missing', sha256s } : { kind: 'stored', etag: '"e1"' }
  }
}

describe('the shards of a first publication go', () => {
  const cases = [
    { name: '8 MiB at a time over a fast line', respond: () => 4000, sizes: [2, 4, 8, 8, 2] },
    {
      name: '2 MiB at a time over a slow one',
      respond: () => 5000,
      sizes: Array.from({ length: 12 }, () => 2),
    },
    {
      name: '2 MiB at a time once a larger request was slow',
      respond: (mib: number) => (mib > 4 ? 20_000 : 10),
      sizes: [2, 4, 8, 2, 4, 4],
    },
    {
      name: '2 MiB at a time through a proxy that takes no more',
      respond: (mib: number) => (mib > 2 ? undefined : 10),
      sizes: [2, 4, ...Array.from({ length: 11 }, () => 2)],
    },
    { name: 'one by one through a proxy that takes none', respond: () => undefined, sizes: [2] },
  ]
  for (const { name, respond, sizes } of cases) {
    test(name, async () => {
      assert.deepEqual(await new Line(respond).publish(), sizes)
    })
  }

  test('2 MiB at a time again after a failure', async () => {
    let isBroken = true
    const line = new Line((mib) => {
      if (mib < 8 || !isBroken) return 10
      isBroken = false
      throw new GatewayError('The operation was aborted due to timeout')
    })
    await assert.rejects(line.publish(), GatewayError)
    assert.deepEqual(line.sizes.splice(0), [2, 4, 8])
    assert.deepEqual(await line.publish(), [2, 4, 8, 4])
  })
})
