import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { manifestEtag } from '../../../src/gateway/snapshots/ingest.ts'
import {
  PUBLISHED_SHARD_BYTES_MAX,
  SIGNATURE_HEADER,
} from '../../../src/gateway/snapshots/publish-routes.ts'
import { MANIFEST_BYTES_MAX } from '../../../src/snapshot/format/manifest.ts'
import { formatPublication } from '../../../src/snapshot/format/publication.ts'
import {
  formatVersions,
  READS_HEADER,
  VERSIONS_READ,
} from '../../../src/snapshot/format/versions.ts'
import { type MemoryGateway, memoryGateway } from '../../cluster/follow/memory-gateway.ts'
import { type Published, snapshotOf, WEB } from '../publishing.ts'

const TOKEN = 'the-token-of-the-exporter'
const NOW_MS = Date.parse('2026-01-01T00:00:30Z')
const URL_BASE = 'https://dns.example.org/v1/clusters'

/** A gateway and a snapshot for it. */
async function open(): Promise<{ gateway: MemoryGateway; snapshot: Published }> {
  const gateway = await memoryGateway(TOKEN, () => NOW_MS)
  return { gateway, snapshot: await snapshotOf(gateway.privateKey, [WEB]) }
}

function send(
  { fetch }: MemoryGateway,
  path: string,
  { headers = {}, ...init }: RequestInit = {},
): Promise<Response> {
  const authorized = { authorization: `Bearer ${TOKEN}`, ...headers }
  return fetch(`${URL_BASE}/${path}`, { ...init, headers: authorized })
}

async function putShards(gateway: MemoryGateway, { shards }: Published): Promise<number[]> {
  const statuses: number[] = []
  for (const [sha256, bytes] of shards) {
    const init = { method: 'PUT', body: new Uint8Array(bytes) }
    statuses.push((await send(gateway, `shop/shards/${sha256}`, init)).status)
  }
  return statuses
}

function putManifest(
  gateway: MemoryGateway,
  { signed }: Published,
  headers: Readonly<Record<string, string>> = { 'if-none-match': '*' },
): Promise<Response> {
  const init = {
    method: 'PUT',
    body: new Uint8Array(signed.bytes),
    headers: { [SIGNATURE_HEADER]: signed.signature, ...headers },
  }
  return send(gateway, 'shop/manifest', init)
}

function putPublication(
  gateway: MemoryGateway,
  body: Uint8Array,
  { signed }: Published,
  headers: Readonly<Record<string, string>> = { 'if-none-match': '*' },
): Promise<Response> {
  const init = { headers: { [SIGNATURE_HEADER]: signed.signature, ...headers } }
  return send(gateway, 'shop/publication', { method: 'PUT', body: new Uint8Array(body), ...init })
}

async function codeOf(response: Response): Promise<string> {
  const { error } = JSON.parse(await response.text())
  return `${response.status} ${error.code}`
}

test('publishing: shards, the manifest, what is published', async () => {
  const { gateway, snapshot } = await open()
  assert.deepEqual(await putShards(gateway, snapshot), [201])
  assert.deepEqual(await putShards(gateway, snapshot), [200])
  const created = await putManifest(gateway, snapshot)
  const etag = await manifestEtag(snapshot.signed.bytes)
  assert.equal(created.status, 201)
  assert.equal(created.headers.get('etag'), etag)
  const state = await send(gateway, 'shop')
  assert.equal(state.headers.get('etag'), etag)
  assert.equal(state.headers.get('cache-control'), 'no-store')
  assert.deepEqual(await state.json(), {
    cluster: 'shop',
    generation: 1,
    time: '2026-01-01T00:00:00.000Z',
    ageSeconds: 30,
    records: 1,
    shards: 1,
    bytes: snapshot.manifest.shards[0]?.bytes,
    sources: {},
  })
})

test('exporters learn which versions of snapshots the gateway reads', async () => {
  const { gateway, snapshot } = await open()
  const reads = ({ headers }: Response): string | null => headers.get(READS_HEADER)
  const known = formatVersions(VERSIONS_READ)
  const nothing = await send(gateway, 'shop')
  assert.deepEqual([nothing.status, reads(nothing)], [404, known])
  const refused = await putManifest(gateway, snapshot)
  assert.deepEqual([refused.status, reads(refused)], [409, known])
  await putShards(gateway, snapshot)
  assert.equal(reads(await putManifest(gateway, snapshot)), known)
  const stranger = await send(gateway, 'shop', { headers: { authorization: 'Bearer x' } })
  assert.deepEqual([stranger.status, reads(stranger)], [401, null])
})

test('a manifest goes in place of the one it names', async () => {
  const { gateway, snapshot } = await open()
  await putShards(gateway, snapshot)
  await putManifest(gateway, snapshot)
  const next = await snapshotOf(gateway.privateKey, [WEB], { generation: 2 })
  assert.equal(await codeOf(await putManifest(gateway, next)), '412 changed')
  const etag = await manifestEtag(snapshot.signed.bytes)
  const replaced = await putManifest(gateway, next, { 'if-match': etag })
  assert.equal(replaced.status, 200)
  assert.equal(replaced.headers.get('etag'), await manifestEtag(next.signed.bytes))
})

test('a manifest whose shards are missing is refused with their hashes', async () => {
  const { gateway, snapshot } = await open()
  const response = await putManifest(gateway, snapshot)
  assert.equal(response.status, 409)
  const { error, missing } = JSON.parse(await response.text())
  assert.equal(error.code, 'missing_shards')
  assert.deepEqual(missing, [...snapshot.shards.keys()])
})

describe('a publication', () => {
  const bodyOf = ({ signed, shards }: Published): Uint8Array =>
    formatPublication({ manifest: signed.bytes, shards: [...shards.values()] })

  test('stores shards and the manifest, and the same again changes nothing', async () => {
    const { gateway, snapshot } = await open()
    const created = await putPublication(gateway, bodyOf(snapshot), snapshot)
    const etag = await manifestEtag(snapshot.signed.bytes)
    assert.deepEqual([created.status, created.headers.get('etag')], [201, etag])
    assert.equal((await send(gateway, 'shop')).headers.get('etag'), etag)
    const again = await putPublication(gateway, bodyOf(snapshot), snapshot, { 'if-match': etag })
    assert.equal(await codeOf(again), '409 not_newer')
    assert.deepEqual(await putShards(gateway, snapshot), [200])
  })

  test('may leave out shards; the response lists those that are missing', async () => {
    const { gateway, snapshot } = await open()
    const body = formatPublication({ manifest: snapshot.signed.bytes, shards: [] })
    const response = await putPublication(gateway, body, snapshot)
    const { error, missing } = JSON.parse(await response.text())
    assert.deepEqual([error.code, missing], ['missing_shards', [...snapshot.shards.keys()]])
  })

  test('is refused with nothing stored unless its manifest is signed and the next one', async () => {
    const { gateway, snapshot } = await open()
    const body = bodyOf(snapshot)
    const signed = { ...snapshot.signed, signature: 'A'.repeat(86) }
    const strange = await putPublication(gateway, body, { ...snapshot, signed })
    assert.equal(await codeOf(strange), '403 bad_signature')
    const late = await putPublication(gateway, body, snapshot, { 'if-match': '"e1"' })
    assert.equal(await codeOf(late), '412 changed')
    assert.equal(
      await codeOf(await putPublication(gateway, body, snapshot, {})),
      '428 precondition_required',
    )
    assert.deepEqual(await putShards(gateway, snapshot), [201])
  })

  test('is refused with a shard that the manifest does not list', async () => {
    const { gateway, snapshot } = await open()
    const [shard = EMPTY] = snapshot.shards.values()
    const shards = [shard.with(0, 0)]
    const body = formatPublication({ manifest: snapshot.signed.bytes, shards })
    assert.equal(await codeOf(await putPublication(gateway, body, snapshot)), '400 wrong_hash')
  })

  test('is refused when it is cut off', async () => {
    const { gateway, snapshot } = await open()
    for (const body of [EMPTY, bodyOf(snapshot).subarray(0, -1)]) {
      const response = await putPublication(gateway, body, snapshot)
      assert.equal(await codeOf(response), '400 bad_publication')
    }
  })
})

describe('refused:', () => {
  const hash = '0'.repeat(64)
  const cases: { name: string; path: string; init: RequestInit; code: string }[] = [
    { name: 'nothing exists yet', path: 'shop', init: {}, code: '404 nothing_yet' },
    {
      name: 'a wrong token',
      path: 'shop',
      init: { headers: { authorization: 'Bearer x' } },
      code: '401 unauthorized',
    },
    {
      name: 'no token',
      path: 'shop',
      init: { headers: { authorization: '' } },
      code: '401 unauthorized',
    },
    { name: 'another cluster', path: 'depot', init: {}, code: '401 unauthorized' },
    {
      name: 'a name that is in every object',
      path: 'constructor',
      init: {},
      code: '401 unauthorized',
    },
    {
      name: 'an invalid hash',
      path: 'shop/shards/abc',
      init: { method: 'PUT', body: 'x' },
      code: '400 bad_hash',
    },
    {
      name: 'a hash in capitals',
      path: `shop/shards/${'A'.repeat(64)}`,
      init: { method: 'PUT', body: 'x' },
      code: '400 bad_hash',
    },
    {
      name: 'bytes of another hash',
      path: `shop/shards/${hash}`,
      init: { method: 'PUT', body: 'x' },
      code: '400 wrong_hash',
    },
    {
      name: 'a shard over 16 MiB',
      path: `shop/shards/${hash}`,
      init: { method: 'PUT', body: new Uint8Array(PUBLISHED_SHARD_BYTES_MAX + 1) },
      code: '413 body_too_large',
    },
    {
      name: 'a manifest over 1 MiB',
      path: 'shop/manifest',
      init: {
        method: 'PUT',
        body: new Uint8Array(MANIFEST_BYTES_MAX + 1),
        headers: { 'if-none-match': '*', [SIGNATURE_HEADER]: 'x' },
      },
      code: '413 body_too_large',
    },
    {
      name: 'a manifest without a precondition',
      path: 'shop/manifest',
      init: { method: 'PUT', body: '{}', headers: { [SIGNATURE_HEADER]: 'x' } },
      code: '428 precondition_required',
    },
    {
      name: 'a manifest without a signature',
      path: 'shop/manifest',
      init: { method: 'PUT', body: '{}', headers: { 'if-none-match': '*' } },
      code: '400 no_signature',
    },
    {
      name: 'a manifest with a wrong one',
      path: 'shop/manifest',
      init: {
        method: 'PUT',
        body: '{}',
        headers: { 'if-none-match': '*', [SIGNATURE_HEADER]: 'x' },
      },
      code: '403 bad_signature',
    },
  ]
  for (const { name, path, init, code } of cases) {
    test(name, async () => {
      const { gateway } = await open()
      assert.equal(await codeOf(await send(gateway, path, init)), code)
      assert.equal(await gateway.store.readManifest(), undefined)
    })
  }

  test('a wrong token and an unknown cluster get the same response', async () => {
    const { gateway } = await open()
    const headers = { authorization: 'Bearer x' }
    const [wrong, absent] = await Promise.all(
      ['shop', 'depot'].map(async (path) => {
        const response = await send(gateway, path, { headers })
        return [response.status, [...response.headers], await response.text()]
      }),
    )
    assert.deepEqual(wrong, absent)
  })
})
