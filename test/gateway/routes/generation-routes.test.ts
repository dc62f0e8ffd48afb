import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createSharedPause } from '../../../src/dns/bytes/steps.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { diffSnapshots } from '../../../src/gateway/routes/generation-routes.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { CountedTurns } from '../../turns.ts'
import { snapshotOf } from '../publishing.ts'
import { clientSha256, Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
const OLD = 'web.shop.svc.cluster.local. 5 IN A 192.0.2.1'
const NEW = 'web.shop.svc.cluster.local. 5 IN A 192.0.2.2'

/** A gateway with two generations. */
async function open(): Promise<Running> {
  const running = await Running.start({
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLIENT_TOKEN_SHA256: clientSha256,
  })
  const { publicKey } = await keys()
  const { store } = running
  running.writer = new LocalWriter({ cluster: 'shop', publicKey, store, now: Date.now })
  await running.publish(OLD, 1)
  await running.publish(NEW, 2)
  return running
}

async function call(
  running: Running,
  method: string,
  path: string,
  body?: string,
): Promise<Response> {
  return running.app.request(`https://dns.example.org/v1/clusters/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}` },
    ...(body === undefined ? {} : { body }),
  })
}

async function codeOf(response: Response): Promise<string> {
  const { error } = JSON.parse(await response.text())
  return `${response.status} ${error.code}`
}

describe('generations', () => {
  test('are listed, compared, gone back to and released', async () => {
    const running = await open()
    const listed = JSON.parse(await (await call(running, 'GET', 'shop/generations')).text())
    assert.deepEqual([listed.served, listed.isPinned], [2, false])
    assert.deepEqual(
      listed.generations.map(({ generation }: { generation: number }) => generation),
      [2, 1],
    )
    const diff = await call(running, 'GET', 'shop/diff?from=1')
    assert.equal(await diff.text(), `- ${OLD}\n+ ${NEW}\n`)
    assert.equal((await call(running, 'PUT', 'shop/pin', '{"generation": 1}')).status, 200)
    await running.pass(2000)
    assert.match((await running.ask()).join('\n'), /192\.0\.2\.1/)
    await running.publish(NEW, 3)
    await running.pass(2000)
    assert.match((await running.ask()).join('\n'), /192\.0\.2\.1/)
    assert.equal((await call(running, 'DELETE', 'shop/pin')).status, 200)
    await running.pass(2000)
    assert.match((await running.ask()).join('\n'), /192\.0\.2\.2/)
  })

  const refused: { name: string; method: string; path: string; body?: string; code: string }[] = [
    {
      name: 'a cluster that there is not',
      method: 'GET',
      path: 'nope/generations',
      code: '404 unknown_cluster',
    },
    {
      name: 'a generation that is not kept',
      method: 'PUT',
      path: 'shop/pin',
      body: '{"generation": 9}',
      code: '404 unknown_generation',
    },
    {
      name: 'what is no generation',
      method: 'PUT',
      path: 'shop/pin',
      body: '{"generation": -1}',
      code: '400 bad_generation',
    },
    {
      name: 'a comparison with nothing',
      method: 'GET',
      path: 'shop/diff',
      code: '400 bad_generation',
    },
    {
      name: 'a comparison with what is gone',
      method: 'GET',
      path: 'shop/diff?from=0',
      code: '404 unknown_generation',
    },
  ]
  for (const { name, method, path, body, code } of refused) {
    test(`refuse ${name}`, async () => {
      assert.equal(await codeOf(await call(await open(), method, path, body)), code)
    })
  }

  test('are for the operator only', async () => {
    const running = await open()
    for (const path of ['generations', 'diff?from=1']) {
      const response = await running.get(`/v1/clusters/shop/${path}`, 'a-token-of-somebody')
      assert.equal(await codeOf(response), '401 unauthorized')
    }
  })
})

const { privateKey } = await keys()
const [WEB, DB] = [
  'web.a.svc.cluster.local. 5 IN A 192.0.2.1',
  'db.b.svc.cluster.local. 5 IN A 192.0.2.2',
]
const MOVED = 'web.a.svc.cluster.local. 5 IN A 192.0.2.9'

const pause = (): undefined => undefined

describe('diffSnapshots', () => {
  const cases: {
    name: string
    shards: [number, number]
    from: string[]
    to: string[]
    lines: string[]
  }[] = [
    {
      name: 'is empty for the same names',
      shards: [1, 1],
      from: [WEB, DB],
      to: [DB, WEB],
      lines: [],
    },
    {
      name: 'has what went and what came',
      shards: [4, 4],
      from: [WEB, DB],
      to: [MOVED, DB],
      lines: [`- ${WEB}`, `+ ${MOVED}`],
    },
    {
      name: 'compares over another number of shards',
      shards: [1, 8],
      from: [WEB],
      to: [WEB, DB],
      lines: [`+ ${DB}`],
    },
  ]
  for (const {
    name,
    shards: [a, b],
    from,
    to,
    lines,
  } of cases) {
    test(name, async () => {
      const before = await snapshotOf(privateKey, from, { shardCount: a })
      const after = await snapshotOf(privateKey, to, { shardCount: b })
      const all = new Map([...before.shards, ...after.shards])
      const read = async (sha256: string): Promise<Uint8Array | undefined> => all.get(sha256)
      assert.deepEqual(
        await diffSnapshots(before.manifest, after.manifest, { readShard: read, pause }),
        lines,
      )
    })
  }

  test('says when a shard is gone, and when too much differs', async () => {
    const before = await snapshotOf(privateKey, [WEB])
    const after = await snapshotOf(privateKey, [DB])
    const none = async (): Promise<undefined> => undefined
    await assert.rejects(
      diffSnapshots(before.manifest, after.manifest, { readShard: none, pause }),
      { status: 410 },
    )
    const shards = after.manifest.shards.map((one) => ({ ...one, bytes: 9_000_000 }))
    const large = { ...after.manifest, shards }
    await assert.rejects(diffSnapshots(before.manifest, large, { readShard: none, pause }), {
      status: 413,
    })
  })

  test('lets queries be answered while it compares many records', async () => {
    const records = (last: number): string[] =>
      Array.from({ length: 3000 }, (_, i) => {
        return `s${i}.a.svc.cluster.local. 5 IN A 192.${last}.${i >> 8}.${i & 255}`
      })
    const before = await snapshotOf(privateKey, records(0))
    const after = await snapshotOf(privateKey, records(1))
    const all = new Map([...before.shards, ...after.shards])
    const turns = new CountedTurns()
    const lines = await diffSnapshots(before.manifest, after.manifest, {
      readShard: async (sha256) => all.get(sha256),
      pause: createSharedPause(turns),
    })
    assert.equal(lines.length, 6000)
    assert.deepEqual(lines.slice(0, 2), [
      '- s0.a.svc.cluster.local. 5 IN A 192.0.0.0',
      '+ s0.a.svc.cluster.local. 5 IN A 192.1.0.0',
    ])
    // Each record is read and compared, and pauses after every other look at the clock.
    assert.ok(turns.turns > 5000, `${turns.turns} turns`)
  })
})
