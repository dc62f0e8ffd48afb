import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { KeyTable } from '../../../../src/resolver/plugins/etcd/key-table.ts'
import {
  findServices,
  type Searched,
  type Services,
} from '../../../../src/resolver/plugins/etcd/services.ts'

const KEYS: Readonly<Record<string, string>> = {
  '/skydns/org/a': '{"host":"192.0.2.1"}',
  '/skydns/org/a/b': '{"host":"192.0.2.2"}',
  '/skydns/org/ab': '{"host":"192.0.2.3"}',
  '/skydns/org/t': '{"text":"only"}',
  '/skydns/org/x/1/y': '{"host":"192.0.2.4"}',
  '/skydns/org/x/2/y/z': '{"host":"192.0.2.5"}',
  '/skydns/org/x/3/bad': '{',
}

function searched(keys: Readonly<Record<string, string>>, lease = ''): Searched {
  const table = new KeyTable()
  for (const [key, value] of Object.entries(keys)) table.set({ key, value, lease })
  return {
    keys: table,
    path: '/skydns',
    rules: 'coredns' as const,
    leaseSecondsMin: 30,
    leaseSecondsMax: 600,
    leaseSeconds: (id) => (id === 'gone' ? undefined : Number(id)),
  }
}

function find(name: string, type: number = TYPE.A, includesBelow = true): Services {
  return findServices(searched(KEYS), { name: nameOf(name), type, includesBelow })
}

describe('findServices', () => {
  const cases: { name: string; found: Services; keys: string[] | string }[] = [
    { name: 'takes keys below before the own', found: find('a.org'), keys: ['/skydns/org/a/b'] },
    {
      name: 'takes the own when none exists below',
      found: find('b.a.org'),
      keys: ['/skydns/org/a/b'],
    },
    {
      name: 'takes its own value alone when requested',
      found: find('a.org', TYPE.A, false),
      keys: ['/skydns/org/a'],
    },
    { name: 'finds nothing', found: find('c.org'), keys: 'absent' },
    { name: 'finds nothing of what is only text', found: find('t.org'), keys: [] },
    { name: 'finds texts', found: find('t.org', TYPE.TXT), keys: ['/skydns/org/t'] },
    {
      name: 'takes a wildcard for any label',
      found: find('y.*.x.org'),
      keys: ['/skydns/org/x/1/y', '/skydns/org/x/2/y/z'],
    },
    {
      name: 'passes over a bad value that a wildcard does not mean',
      found: find('y.any.x.org'),
      keys: ['/skydns/org/x/1/y', '/skydns/org/x/2/y/z'],
    },
    { name: 'has no service where a wildcard matches none', found: find('nosuch.*.org'), keys: [] },
    { name: 'is broken by a bad value', found: find('x.org'), keys: 'broken' },
    { name: 'is broken by a bad value alone', found: find('bad.3.x.org'), keys: 'broken' },
  ]
  for (const { name, found, keys } of cases) {
    test(name, () => {
      const got = found.kind === 'found' ? found.services.map(({ key }) => key) : found.kind
      assert.deepEqual(got, keys)
    })
  }

  const ttls: { name: string; lease: string; ttl: number; seconds: number }[] = [
    { name: 'is 300 without either', lease: '', ttl: 0, seconds: 300 },
    { name: "is the service's", lease: '', ttl: 7, seconds: 7 },
    { name: "is the lease's", lease: '100', ttl: 0, seconds: 100 },
    { name: 'is the smaller of both', lease: '100', ttl: 200, seconds: 100 },
    { name: 'may be under the bound of leases', lease: '100', ttl: 5, seconds: 5 },
    { name: 'is the least for a lease that ends', lease: '1', ttl: 0, seconds: 30 },
    { name: 'is the most for a lease that is long', lease: '9999', ttl: 0, seconds: 600 },
    { name: 'passes over a lease that is gone', lease: 'gone', ttl: 0, seconds: 300 },
    { name: 'passes over a lease with nothing left', lease: '0', ttl: 8, seconds: 8 },
  ]
  for (const { name, lease, ttl, seconds } of ttls) {
    test(`the TTL ${name}`, () => {
      const keys = { '/skydns/org/a': `{"host":"192.0.2.1","ttl":${ttl}}` }
      const search = { name: nameOf('a.org'), type: TYPE.A, includesBelow: true }
      const found = findServices(searched(keys, lease), search)
      assert.deepEqual(found.kind === 'found' && found.services[0]?.ttlSeconds, seconds)
    })
  }

  test('gives up after more services than a message holds', () => {
    const keys = Array.from({ length: 8200 }, (_, i) => [`/skydns/org/a/${i}`, '{"host":"b"}'])
    const search = { name: nameOf('a.org'), type: TYPE.A, includesBelow: true }
    const found = findServices(searched(Object.fromEntries(keys)), search)
    assert.ok(found.kind === 'found' && found.isCut)
    assert.equal(found.services.length, 8192)
  })
})
