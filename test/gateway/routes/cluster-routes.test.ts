/** The operator's routes for clusters: what they refuse, and what comes of a change. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { DIRECTORY_MAX } from '../../../src/gateway/access/cluster-directory.ts'
import { createMemoryGatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { directoryEntry } from '../directory-contract.ts'
import { ADMIN, DirectoryFleet, exporterSide, NEXT_ADDRESS } from '../directory-fleet.ts'

const lab = await exporterSide('the-token-of-lab')
const next = await exporterSide('the-next-token-of-lab')
const { publicKey, tokenSha256 } = lab.publicHalf
const listed = {
  id: 'lab',
  source: 'directory',
  publicKeys: [publicKey],
  created: '2026-01-01T00:00:00.000Z',
  domains: ['lab.k8s.test'],
  issuers: [],
}
const more = await Promise.all([1, 2, 3].map((i) => exporterSide(`token-${i}`)))

type Sent = Parameters<DirectoryFleet['send']>

/** Requests after `lab` was added. */
const CASES: readonly {
  readonly name: string
  readonly before?: readonly Sent[]
  readonly send: Sent
  readonly status: number
  readonly code?: string
}[] = [
  ...(['PUT', 'DELETE'] as const).map((method) => ({
    name: `${method} without a token`,
    send: [method, '/v1/clusters/lab', { body: lab.publicHalf, token: '' }] as Sent,
    status: 401,
    code: 'unauthorized',
  })),
  {
    name: 'a list for an exporter',
    send: ['GET', '/v1/clusters', { token: lab.token }],
    status: 401,
    code: 'unauthorized',
  },
  {
    name: 'the same cluster again',
    send: ['PUT', '/v1/clusters/lab', { body: next.publicHalf }],
    status: 409,
    code: 'cluster_exists',
  },
  {
    name: 'a cluster of CLUSTERS',
    send: ['PUT', '/v1/clusters/prod', { body: lab.publicHalf }],
    status: 409,
    code: 'configured',
  },
  {
    name: 'the removal of a cluster of CLUSTERS',
    send: ['DELETE', '/v1/clusters/prod'],
    status: 409,
    code: 'configured',
  },
  {
    name: 'keys of a cluster of CLUSTERS',
    send: ['POST', '/v1/clusters/prod/keys', { body: next.publicHalf }],
    status: 409,
    code: 'configured',
  },
  {
    name: 'a cluster whose zone is another block’s',
    send: ['PUT', '/v1/clusters/taken', { body: lab.publicHalf }],
    status: 409,
    code: 'zone_taken',
  },
  ...['Lab', '-lab', 'a'.repeat(64), 'a_b', '..%2f..%2fetc'].map((id) => ({
    name: `the identifier ${id}`,
    send: ['PUT', `/v1/clusters/${id}`, { body: lab.publicHalf }] as Sent,
    status: 400,
    code: 'bad_id',
  })),
  ...[
    ['[]', 'bad_json'],
    ['{"publicKey":', 'bad_json'],
    [{ publicKey }, 'bad_field'],
    [{ publicKey: 'short', tokenSha256 }, 'bad_field'],
    [{ publicKey, tokenSha256: 'A'.repeat(64) }, 'bad_field'],
    [{ publicKey, tokenSha256, zone: 'other.test' }, 'bad_field'],
  ].map(([body, code]) => ({
    name: `the body ${JSON.stringify(body).slice(0, 40)}`,
    send: ['PUT', '/v1/clusters/edge', { body }] as Sent,
    status: 400,
    code: String(code),
  })),
  {
    name: 'a body over 8 KiB',
    send: ['PUT', '/v1/clusters/edge', { body: ' '.repeat(8193) }],
    status: 413,
    code: 'body_too_large',
  },
  {
    name: 'the removal of a cluster that never was',
    send: ['DELETE', '/v1/clusters/none'],
    status: 404,
    code: 'unknown_cluster',
  },
  {
    name: 'keys of a cluster that never was',
    send: ['POST', '/v1/clusters/none/keys', { body: next.publicHalf }],
    status: 404,
    code: 'unknown_cluster',
  },
  {
    name: 'a key that the cluster has',
    send: ['POST', '/v1/clusters/lab/keys', { body: { ...next.publicHalf, publicKey } }],
    status: 409,
    code: 'key_exists',
  },
  {
    name: 'a fifth key',
    before: more.map(({ publicHalf }) => ['POST', '/v1/clusters/lab/keys', { body: publicHalf }]),
    send: ['POST', '/v1/clusters/lab/keys', { body: next.publicHalf }],
    status: 409,
    code: 'too_many_keys',
  },
  {
    name: 'the removal of the only key',
    send: ['DELETE', `/v1/clusters/lab/keys/${publicKey}`],
    status: 409,
    code: 'last_key',
  },
  {
    name: 'the removal of a key that the cluster lacks',
    send: ['DELETE', `/v1/clusters/lab/keys/${next.publicKeyText}`],
    status: 404,
    code: 'unknown_key',
  },
  {
    name: 'the removal of a cluster, once more',
    before: [['DELETE', '/v1/clusters/lab']],
    send: ['DELETE', '/v1/clusters/lab'],
    status: 404,
    code: 'unknown_cluster',
  },
]

async function withLab(): Promise<DirectoryFleet> {
  const fleet = await DirectoryFleet.open(2)
  const added = await fleet.send('PUT', '/v1/clusters/lab', { body: lab.publicHalf })
  assert.deepEqual(added, { status: 201, body: listed })
  return fleet
}

describe('the routes of clusters refuse', () => {
  for (const { name, before = [], send, status, code } of CASES) {
    test(name, async () => {
      const fleet = await withLab()
      for (const one of before) assert.ok((await fleet.send(...one)).status < 300)
      const kept = await fleet.store.directory?.store.list()
      const response = await fleet.send(...send)
      assert.equal(response.status, status)
      assert.partialDeepStrictEqual(response.body, { error: { code } })
      assert.deepEqual(await fleet.store.directory?.store.list(), kept)
    })
  }

  test('a cluster where the Corefile has no zone for it', async () => {
    const corefile = '. {\n kubernetes prod.test {\n  cluster prod\n }\n}\n'
    const fleet = await DirectoryFleet.open(1, undefined, corefile)
    const { status, body } = await fleet.send('PUT', '/v1/clusters/lab', { body: lab.publicHalf })
    assert.equal(status, 409)
    assert.partialDeepStrictEqual(body, { error: { code: 'no_zone' } })
  })

  test('any change where the store has no directory', async () => {
    const { clusterStore, tokenStore } = createMemoryGatewayStore()
    const fleet = await DirectoryFleet.open(1, { clusterStore, tokenStore })
    const { status, body } = await fleet.send('PUT', '/v1/clusters/lab', { body: lab.publicHalf })
    assert.equal(status, 404)
    assert.partialDeepStrictEqual(body, { error: { code: 'no_directory' } })
    assert.equal((await fleet.send('GET', '/v1/clusters')).status, 200)
    assert.equal(await fleet.ask('lab'), NEXT_ADDRESS)
  })

  test(`more than ${DIRECTORY_MAX} clusters`, async () => {
    const fleet = await DirectoryFleet.open(1)
    const { store } = fleet.store.directory ?? assert.fail()
    for (let i = 0; i < DIRECTORY_MAX; i++) await store.add(directoryEntry(`c${i}`, publicKey))
    const { status, body } = await fleet.send('PUT', '/v1/clusters/lab', { body: lab.publicHalf })
    assert.equal(status, 409)
    assert.partialDeepStrictEqual(body, { error: { code: 'too_many' } })
    const { body: all } = await fleet.send('GET', '/v1/clusters')
    assert.equal((JSON.stringify(all).match(/"id":/g) ?? []).length, DIRECTORY_MAX + 1)
  })
})

describe('a cluster of the directory', () => {
  test('is listed, without hashes, beside those of CLUSTERS', async () => {
    const fleet = await withLab()
    const { body } = await fleet.send('GET', '/v1/clusters', { at: 1 })
    assert.partialDeepStrictEqual(body, { clusters: [{ id: 'prod', source: 'CLUSTERS' }, listed] })
    assert.ok(!JSON.stringify(body).includes(tokenSha256))
  })

  test('comes, is published and answered everywhere, rotates, and goes', async () => {
    const fleet = await withLab()
    await fleet.settle()
    assert.deepEqual([await fleet.ask('lab'), await fleet.ask('lab', 1)], ['SERVFAIL', 'SERVFAIL'])
    assert.equal(await fleet.publish('lab', lab, '192.0.2.1', 1), 'stored')
    await fleet.settle()
    assert.deepEqual(
      [await fleet.ask('lab'), await fleet.ask('lab', 1)],
      ['192.0.2.1', '192.0.2.1'],
    )

    const rotated = await fleet.send('POST', '/v1/clusters/lab/keys', { body: next.publicHalf })
    assert.partialDeepStrictEqual(rotated.body, { publicKeys: [next.publicKeyText, publicKey] })
    assert.equal(await fleet.publish('lab', lab, '192.0.2.2', 2), 'stored')
    assert.equal(await fleet.publish('lab', next, '192.0.2.3', 3), 'stored')
    await fleet.settle()
    assert.equal(await fleet.ask('lab', 1), '192.0.2.3')
    const ended = await fleet.send('DELETE', `/v1/clusters/lab/keys/${publicKey}`)
    assert.deepEqual(
      [ended.status, ended.body],
      [200, { ...listed, publicKeys: [next.publicKeyText] }],
    )
    await assert.rejects(fleet.publish('lab', lab, '192.0.2.9', 9), /token/)
    const stranger = { ...lab, token: next.token }
    await assert.rejects(fleet.publish('lab', stranger, '192.0.2.9', 9), /signature/)
    await fleet.settle()
    assert.deepEqual(
      [await fleet.ask('lab'), await fleet.ask('lab', 1)],
      ['192.0.2.3', '192.0.2.3'],
    )

    assert.equal((await fleet.send('DELETE', '/v1/clusters/lab')).status, 204)
    assert.equal(await fleet.ask('lab'), NEXT_ADDRESS)
    await assert.rejects(fleet.publish('lab', next, '192.0.2.4', 4), /token/)
    await fleet.settle()
    assert.equal(await fleet.ask('lab', 1), NEXT_ADDRESS)
  })

  test('that is removed and added again begins without names', async () => {
    const fleet = await withLab()
    await fleet.publish('lab', lab, '192.0.2.1', 5)
    await fleet.send('DELETE', '/v1/clusters/lab')
    await fleet.send('PUT', '/v1/clusters/lab', { body: next.publicHalf })
    await assert.rejects(fleet.publish('lab', lab, '192.0.2.1', 6), /token/)
    assert.equal(await fleet.ask('lab'), 'SERVFAIL')
    assert.equal(await fleet.publish('lab', next, '192.0.2.2', 1), 'stored')
    await fleet.settle()
    assert.deepEqual(
      [await fleet.ask('lab'), await fleet.ask('lab', 1)],
      ['192.0.2.2', '192.0.2.2'],
    )
  })

  test('rotates its keys under load without one SERVFAIL', async () => {
    const fleet = await withLab()
    await fleet.publish('lab', lab, '192.0.2.1', 1)
    const answers = new Set<string>()
    const load = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        for (const at of [0, 1]) answers.add(`${at} ${await fleet.ask('lab', at)}`)
        await fleet.settle()
      }
    }
    await load()
    await fleet.send('POST', '/v1/clusters/lab/keys', { body: next.publicHalf })
    await load()
    await fleet.publish('lab', next, '192.0.2.2', 2)
    await load()
    await fleet.send('DELETE', `/v1/clusters/lab/keys/${publicKey}`)
    await load()
    const old = ['0 192.0.2.1', '1 192.0.2.1']
    assert.deepEqual([...answers].sort(), [...old, '0 192.0.2.2', '1 192.0.2.2'].sort())
  })

  test('leaves a line in the audit log with each change', async () => {
    const fleet = await withLab()
    await fleet.send('DELETE', '/v1/clusters/lab')
    const lines = fleet.host.events.filter(({ audit }) => audit === true)
    assert.deepEqual(
      lines.map(({ operator, method, path, status }) => [operator, method, path, status]),
      [
        ['admin', 'PUT', '/v1/clusters/lab', 201],
        ['admin', 'DELETE', '/v1/clusters/lab', 204],
      ],
    )
    assert.ok(!JSON.stringify(lines).includes(ADMIN))
  })
})
