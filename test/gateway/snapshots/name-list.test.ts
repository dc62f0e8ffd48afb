import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { NameList, type NamePage } from '../../../src/gateway/snapshots/name-list.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { Visibility } from '../../../src/snapshot/read/visibility.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { labels, rrset } from '../../snapshot/entries.ts'

const NAMESPACES = ['blog', 'data', 'shop']
const SERVICES = Array.from({ length: 40 }, (_, i) => `app-${String(i).padStart(2, '0')}`)
const entries = NAMESPACES.flatMap((namespace) =>
  SERVICES.flatMap((service) => {
    const name = `${service}.${namespace}.svc`
    return [
      rrset(`${name}.cluster.local. 5 IN A 10.96.0.1`, namespace),
      rrset(`pod-0.${name}.cluster.local. 5 IN A 10.244.0.1`, namespace),
      rrset(
        `_http._tcp.${name}.cluster.local. 5 IN SRV 0 100 80 ${name}.cluster.local.`,
        namespace,
      ),
    ]
  }),
)
const shards = buildShards(entries, 8).map((bytes) => openShard(bytes))

function list(fields: Partial<NamePage> & { readonly below: string }): {
  readonly names: readonly string[]
  readonly hasMore: boolean
} {
  const { below, ...page } = fields
  const defaults = { search: '', after: undefined, limit: 1000, namespaces: undefined }
  const found = new NameList({ ...defaults, ...page, under: labels(below) })
  for (const shard of shards) found.add(shard)
  const { names, hasMore } = found.finish()
  return {
    names: names.map((one) => formatName(Uint8Array.of(...one.labels, 0)).slice(0, -1)),
    hasMore,
  }
}

describe('a list of names', () => {
  test('has one level, in order, from all shards', () => {
    assert.deepEqual(list({ below: '' }).names, ['svc'])
    assert.deepEqual(
      list({ below: 'svc' }).names,
      NAMESPACES.map((one) => `${one}.svc`),
    )
    assert.deepEqual(
      list({ below: 'data.svc' }).names,
      SERVICES.map((one) => `${one}.data.svc`),
    )
  })

  test('has all names of a Service, without those that only names below imply', () => {
    assert.deepEqual(list({ below: 'app-07.shop.svc' }).names, [
      'app-07.shop.svc',
      '_http._tcp.app-07.shop.svc',
      'pod-0.app-07.shop.svc',
    ])
  })

  test('of one label that ends as another is not below it', () => {
    assert.deepEqual(list({ below: 'hop.svc' }).names, [])
  })

  test('has the names that contain a text', () => {
    assert.deepEqual(
      list({ below: 'svc', search: 'app-07' }).names,
      NAMESPACES.map((one) => `app-07.${one}.svc`),
    )
    assert.equal(list({ below: '', search: 'shop' }).names.length, 1 + SERVICES.length)
    assert.deepEqual(list({ below: 'app-07.shop.svc', search: 'pod' }).names, [
      'pod-0.app-07.shop.svc',
    ])
  })

  test('is the same in pages of any size', () => {
    const whole = list({ below: 'svc', search: 'app' }).names
    assert.equal(whole.length, NAMESPACES.length * SERVICES.length)
    for (const limit of [1, 7, 119, 120, 121]) {
      const pages: string[] = []
      for (let after = EMPTY, more = true; more; ) {
        const page = list({ below: 'svc', search: 'app', limit, after })
        assert.ok(page.names.length <= limit)
        pages.push(...page.names)
        after = labels(page.names.at(-1) ?? '')
        more = page.hasMore
      }
      assert.deepEqual(pages, whole)
    }
  })

  test('has no name of a hidden namespace, and no type that depends on one', () => {
    const namespaces = new Visibility((namespace) => namespace === 'blog')
    assert.deepEqual(list({ below: 'svc', namespaces }).names, ['blog.svc'])
    assert.deepEqual(list({ below: 'data.svc', namespaces }).names, [])
    assert.deepEqual(list({ below: 'app-07.shop.svc', namespaces }).names, [])
    assert.equal(list({ below: 'svc', search: 'app', namespaces }).names.length, SERVICES.length)
  })
})
