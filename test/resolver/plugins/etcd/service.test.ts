import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import {
  ofOneGroup,
  parseService,
  serviceKind,
} from '../../../../src/resolver/plugins/etcd/service.ts'
import { serviceOf } from './service-of.ts'

const KEY = '/skydns/org/example/www'

describe('parseService', () => {
  test('reads all that SkyDNS has', () => {
    const value = {
      host: 'a.example.net',
      port: 80,
      priority: 5,
      weight: 7,
      text: 'text',
      mail: true,
      ttl: 60,
      targetstrip: 1,
      group: 'g1',
    }
    const stored = { key: KEY, value: JSON.stringify(value), lease: '17' }
    assert.deepEqual(parseService(stored), {
      key: KEY,
      keyName: nameOf('www.example.org'),
      host: 'a.example.net',
      address: undefined,
      target: nameOf('a.example.net'),
      port: 80,
      priority: 5,
      weight: 7,
      text: 'text',
      isMail: true,
      ttlSeconds: 60,
      stripCount: 1,
      group: 'g1',
      lease: '17',
    })
  })

  test('takes any letter case, nothing for nothing, and what it does not know', () => {
    const { host, port, priority } = serviceOf({ HOST: '192.0.2.1', Port: null, other: [1] })
    assert.deepEqual([host, port, priority], ['192.0.2.1', 0, 10])
    assert.equal(serviceOf(null).host, '')
  })

  const wrong: [value: string, problem: string][] = [
    ['{', 'its value is not JSON'],
    ['', 'its value is not JSON'],
    ['[1]', 'its value is not an object'],
    ['"text"', 'its value is not an object'],
    ['{"host":1}', 'its "host" is not a string'],
    ['{"port":"80"}', 'its "port" is not a whole number'],
    ['{"weight":1.5}', 'its "weight" is not a whole number'],
    ['{"priority":1e300}', 'its "priority" is not a whole number'],
    ['{"ttl":-1}', 'its "ttl" is not a number of seconds'],
    ['{"ttl":4294967296}', 'its "ttl" is not a number of seconds'],
    ['{"mail":"yes"}', 'its "mail" is neither true nor false'],
    ['{"host":"a..b"}', 'its host "a..b" is neither an address nor a domain name'],
    [`{"text":"${'x'.repeat(32_769)}"}`, 'its text has more than 32768 bytes'],
  ]
  for (const [value, problem] of wrong) {
    test(`refuses ${value.slice(0, 40)}`, () => {
      assert.equal(parseService({ key: KEY, value, lease: '' }), problem)
    })
  }

  test('never throws', () => {
    const value = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((text) => `{"host":${text}}`),
    )
    fc.assert(
      fc.property(fc.string(), value, (key, text) => {
        parseService({ key, value: text, lease: '' })
      }),
    )
  })
})

test('serviceKind returns the kind of a host', () => {
  const cases: [value: unknown, kind: string][] = [
    [{ host: '192.0.2.1' }, 'ipv4'],
    [{ host: '::ffff:192.0.2.1', text: 'x' }, 'ipv4'],
    [{ host: '2001:db8::1' }, 'ipv6'],
    [{ host: '1.2.3' }, 'cname'],
    [{ host: 'a', text: 'x' }, 'text'],
    [{ text: 'x' }, 'text'],
  ]
  for (const [value, kind] of cases) assert.equal(serviceKind(serviceOf(value)), kind)
})

describe('ofOneGroup', () => {
  const cases: { name: string; services: [key: string, group: string][]; kept: string[] }[] = [
    { name: 'is nothing for empty input', services: [], kept: [] },
    {
      name: 'keeps all that have no group',
      services: [
        ['/a/b', ''],
        ['/a/c', ''],
      ],
      kept: ['/a/b', '/a/c'],
    },
    {
      name: 'keeps the group of the shortest keys, and what has none',
      services: [
        ['/a/b', 'g1'],
        ['/a/c', 'g1'],
        ['/a/d/e', 'g2'],
        ['/a/d/f', ''],
      ],
      kept: ['/a/b', '/a/c', '/a/d/f'],
    },
    {
      name: 'keeps all when the shortest keys disagree',
      services: [
        ['/a/b', 'g1'],
        ['/a/c', 'g2'],
      ],
      kept: ['/a/b', '/a/c'],
    },
    {
      name: 'takes the group of a shorter key that comes later',
      services: [
        ['/a/b/c', 'g1'],
        ['/a/d', 'g2'],
      ],
      kept: ['/a/d'],
    },
    {
      name: 'stays with the first group when a shorter key has none',
      services: [
        ['/a/b/c', 'g1'],
        ['/a/d', ''],
        ['/a/e', 'g2'],
      ],
      kept: ['/a/b/c', '/a/d'],
    },
  ]
  for (const { name, services, kept } of cases) {
    test(name, () => {
      const all = services.map(([key, group]) => serviceOf({ group }, key))
      assert.deepEqual(
        ofOneGroup(all).map(({ key }) => key),
        kept,
      )
    })
  }
})
