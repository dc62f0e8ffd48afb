import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { soaSerial } from '../../../../src/dns/wire/soa.ts'
import { SecondaryZone, Slots } from '../../../../src/resolver/plugins/secondary/secondary-zone.ts'
import { FakeHost, START_MS, settle } from '../../../fake-host.ts'
import { zoneOf } from '../file/zones.ts'

/** Refreshed each 100 s, tried again after 20 s, expired after 300 s. */
const soa = (serial: number): string => `example.org. 60 IN SOA . . ${serial} 100 20 300 60`

/** A primary with a zone of some serial, or none. */
type Primary = { serial: number | undefined }

function keep(primaries: Record<string, Primary>): {
  host: FakeHost
  zone: SecondaryZone
  changes: number[]
  /** What the primaries were asked since the last time. */
  asked: () => string[]
  serial: () => number | undefined
} {
  const serialAt = (upstream: string): number | undefined =>
    primaries[upstream.replace(/:53$/, '')]?.serial
  const host = new FakeHost({
    upstream: ({ upstream }) => {
      const serial = serialAt(upstream)
      return serial === undefined ? new Error('refused') : ['NOERROR aa', soa(serial)]
    },
    transfers: ({ upstream }) => {
      const serial = serialAt(upstream)
      return serial === undefined
        ? new Error('refused')
        : [['NOERROR aa', soa(serial), soa(serial)]]
    },
  })
  const changes: number[] = []
  const zone = new SecondaryZone(host, {
    origin: nameOf('example.org'),
    primaries: Object.keys(primaries).map((address) => ({ address, port: 53 })),
    slots: new Slots(1),
    changed: (data) => changes.push(soaSerial(data.soa.rdata)),
  })
  return {
    host,
    zone,
    changes,
    asked: () =>
      host.asked.splice(0).map(({ upstream, question }) => {
        return `${upstream.replace(/:53$/, '')} ${question.split(' ')[2]}`
      }),
    serial: () => zone.zone && soaSerial(zone.zone.soa.rdata),
  }
}

describe('a secondary zone', () => {
  test('is had from its primary', async () => {
    const { zone, changes, asked, serial } = keep({ '192.0.2.1': { serial: 1 } })
    assert.equal(serial(), undefined)
    zone.update()
    await settle()
    assert.equal(serial(), 1)
    assert.deepEqual(changes, [1])
    assert.deepEqual(asked(), ['192.0.2.1 AXFR'])
  })

  test('is had from the next primary when one fails', async () => {
    const { zone, asked, serial } = keep({
      '192.0.2.1': { serial: undefined },
      '192.0.2.2': { serial: 1 },
    })
    zone.update()
    await settle()
    assert.equal(serial(), 1)
    assert.deepEqual(asked(), ['192.0.2.1 AXFR', '192.0.2.2 AXFR'])
  })

  test('is tried for again and again, more and more seldom', async () => {
    const primary: Primary = { serial: undefined }
    const { host, zone, asked, serial } = keep({ '192.0.2.1': primary })
    zone.update()
    await settle()
    for (const delayMs of [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      assert.equal(asked().length, 1)
      await host.advance(delayMs - 1)
      assert.equal(asked().length, 0)
      await host.advance(1)
    }
    assert.deepEqual(host.events[0], {
      level: 'warning',
      message: 'cannot get the zone from any primary',
      zone: 'example.org.',
      reason: 'refused',
    })
    primary.serial = 1
    await host.advance(10_000)
    assert.equal(serial(), 1)
  })

  test('is looked after as often as its SOA record says, up to 5 s later', async () => {
    const primary: Primary = { serial: 1 }
    const { host, zone, changes, asked } = keep({ '192.0.2.1': primary })
    zone.update()
    await settle()
    asked()
    await host.advance(99_999)
    assert.deepEqual(asked(), [])
    await host.advance(5001)
    assert.deepEqual(asked(), ['192.0.2.1 SOA'])
    primary.serial = 2
    await host.advance(105_000)
    assert.deepEqual(asked(), ['192.0.2.1 SOA', '192.0.2.1 AXFR'])
    assert.deepEqual(changes, [1, 2])
    primary.serial = 1
    await host.advance(105_000)
    assert.deepEqual(asked(), ['192.0.2.1 SOA'])
  })

  test('is tried for sooner after a failure, and is gone when that goes on for too long', async () => {
    const primary: Primary = { serial: 1 }
    const { host, zone, asked, serial } = keep({ '192.0.2.1': primary })
    zone.update()
    await settle()
    primary.serial = undefined
    await host.advance(105_000)
    asked()
    await host.advance(22_000)
    assert.deepEqual(asked(), ['192.0.2.1 SOA'])
    assert.equal(serial(), 1)
    await host.advance(START_MS + 299_999 - host.now())
    assert.equal(serial(), 1)
    await host.advance(1)
    assert.equal(serial(), undefined)
    primary.serial = 1
    await host.advance(22_000)
    assert.equal(serial(), 1)
  })

  test('asks the serial of the next primary when one fails', async () => {
    const first: Primary = { serial: 1 }
    const { zone, asked } = keep({ '192.0.2.1': first, '192.0.2.2': { serial: 1 } })
    zone.update()
    await settle()
    first.serial = undefined
    asked()
    zone.update()
    await settle()
    assert.deepEqual(asked(), ['192.0.2.1 SOA', '192.0.2.2 SOA'])
  })

  test('is refreshed at once at a NOTIFY, and once more at a NOTIFY meanwhile', async () => {
    const { zone, asked } = keep({ '192.0.2.1': { serial: 1 } })
    zone.update()
    await settle()
    asked()
    zone.update()
    await Promise.resolve()
    zone.update()
    zone.update()
    await settle()
    assert.deepEqual(asked(), ['192.0.2.1 SOA', '192.0.2.1 SOA'])
  })

  test('is left alone after the end', async () => {
    const { host, zone, asked, changes } = keep({ '192.0.2.1': { serial: 1 } })
    zone.update()
    zone.stop()
    await settle()
    zone.update()
    await host.advance(1_000_000)
    assert.deepEqual([asked().length, changes, host.timerCount], [1, [], 0])
    assert.ok(host.upstreams.every(({ isClosed }) => isClosed))
  })

  test('knows its primaries, however their addresses are written', () => {
    const { zone } = keep({ '192.0.2.1': { serial: 1 }, '2001:db8:0::1': { serial: 1 } })
    const known = ['192.0.2.1', '2001:db8::1', '192.0.2.2'].map((one) => zone.hasPrimary(one))
    assert.deepEqual(known, [true, true, false])
  })

  test('may start with the records it has', () => {
    const host = new FakeHost()
    const options = { origin: nameOf('example.org'), primaries: [], slots: new Slots(1) }
    const data = zoneOf([])
    const zone = new SecondaryZone(host, { ...options, changed: () => undefined }, data)
    assert.equal(zone.zone, data)
  })
})

describe('a primary is no good', () => {
  const cases: { name: string; reply: string[]; reason: string }[] = [
    { name: 'that refuses', reply: ['REFUSED'], reason: 'the primary responded with REFUSED' },
    {
      name: 'that says nothing',
      reply: ['NOERROR aa'],
      reason: 'the primary returned no SOA record',
    },
    {
      name: 'that speaks of another zone',
      reply: ['NOERROR aa', soa(9).replace('org', 'net')],
      reason: 'the primary returned no SOA record',
    },
  ]
  for (const { name, reply, reason } of cases) {
    test(name, async () => {
      const host = new FakeHost({ upstream: () => reply })
      const origin = nameOf('example.org')
      const primaries = [{ address: '192.0.2.1', port: 53 }]
      const options = { origin, primaries, slots: new Slots(1), changed: () => undefined }
      new SecondaryZone(host, options, zoneOf([])).update()
      await settle()
      assert.equal(host.events[0]?.reason, reason)
    })
  }
})
