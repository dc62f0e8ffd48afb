import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { finish } from '../../../../src/dns/bytes/steps.ts'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { ZoneMap } from '../../../../src/resolver/plugins/file/serve-zone.ts'
import { CatalogZones } from '../../../../src/resolver/plugins/secondary/catalog-zones.ts'
import { SecondaryZone, Slots } from '../../../../src/resolver/plugins/secondary/secondary-zone.ts'
import { FakeHost } from '../../../fake-host.ts'
import { zoneOf } from '../file/zones.ts'

function setUp(): {
  host: FakeHost
  zones: ZoneMap<SecondaryZone>
  /** Takes what the catalog of an origin lists. */
  take: (origin: string, lines: string[], allowed?: string[]) => void
  names: () => string[]
} {
  const host = new FakeHost()
  const zones = new ZoneMap<SecondaryZone>()
  const slots = new Slots(1)
  const catalogs = new CatalogZones(host, zones, (origin, primaries, data) => {
    const options = { origin, primaries, slots, changed: () => undefined }
    return new SecondaryZone(host, options, data)
  })
  const primaries = [{ address: '192.0.2.1', port: 53 }]
  return {
    host,
    zones,
    take: (origin, lines, allowed = []) => {
      const rule = { origin: nameOf(origin), primaries, allowed: allowed.map(nameOf) }
      finish(catalogs.take(rule, zoneOf(['version TXT "2"', ...lines], origin)))
    },
    names: () =>
      Array.from(zones.values(), ({ origin, primaries: [primary] }) => {
        return `${formatName(origin)} ${primary?.address}`
      }),
  }
}

function messages(host: FakeHost): string[] {
  return host.events.map(({ message, zone }) => `${zone} ${message}`)
}

describe('zones of a catalog', () => {
  test('come and go with what it lists, from its primaries', () => {
    const { take, names, host, zones } = setUp()
    take('cat.test', ['a.zones PTR a.test.', 'b.zones PTR b.test.'])
    assert.deepEqual(names(), ['a.test. 192.0.2.1', 'b.test. 192.0.2.1'])
    const kept = zones.get(nameOf('b.test'))
    take('cat.test', ['b.zones PTR b.test.', 'c.zones PTR c.test.'])
    assert.deepEqual(names(), ['b.test. 192.0.2.1', 'c.test. 192.0.2.1'])
    assert.equal(zones.get(nameOf('b.test')), kept)
    assert.deepEqual(messages(host), [
      'a.test. a catalog added a zone',
      'b.test. a catalog added a zone',
      'c.test. a catalog added a zone',
      'a.test. a catalog removed a zone',
    ])
  })

  test('start again when they have another label', () => {
    const { take, zones } = setUp()
    take('cat.test', ['a.zones PTR a.test.'])
    const before = zones.get(nameOf('a.test'))
    take('cat.test', ['other.zones PTR a.test.'])
    assert.notEqual(zones.get(nameOf('a.test')), before)
  })

  test('are left out where they may not be', () => {
    const { take, names, host } = setUp()
    take('cat.test', ['a.zones PTR a.ok.test.', 'b.zones PTR b.test.'], ['ok.test'])
    assert.deepEqual(names(), ['a.ok.test. 192.0.2.1'])
    assert.equal(
      messages(host).at(-1),
      'cat.test. 1 zones of a catalog are ignored: it may not list them',
    )
  })

  test('do not take the place of zones that are here', () => {
    const { take, names, host, zones } = setUp()
    const origin = nameOf('a.test')
    const own = { origin, primaries: [], slots: new Slots(1), changed: () => undefined }
    zones.set(origin, new SecondaryZone(host, own))
    take('cat.test', ['a.zones PTR a.test.'])
    take('cat.test', [])
    assert.deepEqual(names(), ['a.test. undefined'])
    assert.deepEqual(messages(host), ['a.test. a catalog lists a zone that the Corefile defines'])
  })

  test('stay as they are when it is wrong', () => {
    const { take, names, host } = setUp()
    take('cat.test', ['a.zones PTR a.test.'])
    take('cat.test', ['a.zones PTR a.test.', 'a.zones PTR b.test.'])
    assert.deepEqual(names(), ['a.test. 192.0.2.1'])
    assert.equal(
      messages(host).at(-1),
      'cat.test. a catalog is ignored: it has two PTR records at "a.zones.cat.test."',
    )
  })

  test('belong to one catalog until that hands them over', () => {
    const { take, zones, host } = setUp()
    take('one.test', ['a.zones PTR a.test.'])
    const first = zones.get(nameOf('a.test'))
    take('two.test', ['a.zones PTR a.test.'])
    assert.equal(zones.get(nameOf('a.test')), first)
    assert.equal(messages(host).at(-1), 'a.test. a catalog lists a zone of another catalog')
    take('one.test', ['a.zones PTR a.test.', 'coo.a.zones PTR two.test.'])
    take('two.test', ['a.zones PTR a.test.'])
    assert.notEqual(zones.get(nameOf('a.test')), first)
    take('one.test', [])
    assert.equal([...zones.values()].length, 1)
    take('two.test', [])
    assert.equal([...zones.values()].length, 0)
  })

  test('go over with their data when they have the same label', () => {
    for (const [label, isKept] of [
      ['a', true],
      ['b', false],
    ] as const) {
      const { take, zones, host } = setUp()
      take('one.test', ['a.zones PTR a.test.', 'coo.a.zones PTR two.test.'])
      const origin = nameOf('a.test')
      const data = zoneOf([], 'a.test')
      const options = { origin, primaries: [], slots: new Slots(1), changed: () => undefined }
      zones.set(origin, new SecondaryZone(host, options, data))
      take('two.test', [`${label}.zones PTR a.test.`])
      assert.equal(zones.get(origin)?.zone, isKept ? data : undefined)
    }
  })
})
