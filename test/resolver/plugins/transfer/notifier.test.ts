import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { Notifier } from '../../../../src/resolver/plugins/transfer/notifier.ts'
import { FakeHost, settle, type UpstreamAct } from '../../../fake-host.ts'

const RULE = { zones: [], isOpen: false, sourceAddress: undefined }

function notifier(act: UpstreamAct, ...addresses: string[]): { host: FakeHost; teller: Notifier } {
  const host = new FakeHost({ upstream: () => act })
  const secondaries = addresses.map((address) => ({ address, port: 53 }))
  return { host, teller: new Notifier(host, { ...RULE, secondaries }) }
}

describe('secondaries', () => {
  test('get the NOTIFY of a zone over UDP', async () => {
    const { host, teller } = notifier(['NOERROR aa'], '192.0.2.1', '192.0.2.2')
    teller.add(nameOf('example.org'))
    await settle()
    assert.deepEqual(
      host.asked.map(({ upstream, protocol, timeoutMs, question }) => {
        return `${upstream} ${protocol} ${timeoutMs} ${question}`
      }),
      ['192.0.2.1:53', '192.0.2.2:53'].map((to) => `${to} udp 2000 NOTIFY example.org. IN SOA aa`),
    )
    assert.deepEqual(host.events, [])
  })

  test('get NOTIFY for one zone after the other, for each once', async () => {
    const { host, teller } = notifier(['NOERROR'], '192.0.2.1')
    for (const zone of ['a.test', 'b.test', 'b.test', 'c.test']) teller.add(nameOf(zone))
    await settle()
    assert.deepEqual(
      host.asked.map(({ question }) => question.split(' ')[1]),
      ['a.test.', 'b.test.', 'c.test.'],
    )
    teller.add(nameOf('b.test'))
    await settle()
    assert.equal(host.asked.length, 4)
  })

  test('get three NOTIFY messages when they refuse, which is logged', async () => {
    const { host, teller } = notifier(['REFUSED'], '192.0.2.1')
    teller.add(nameOf('example.org'))
    await settle()
    assert.equal(host.asked.length, 3)
    assert.deepEqual(host.events, [
      {
        level: 'warning',
        message: 'a secondary did not accept NOTIFY',
        zone: 'example.org.',
        to: '192.0.2.1:53',
        reason: 'REFUSED',
      },
    ])
  })

  test('get three NOTIFY messages when they are silent', async () => {
    const { host, teller } = notifier('silence', '192.0.2.1')
    teller.add(nameOf('example.org'))
    await host.advance(6000)
    assert.equal(host.asked.length, 3)
    assert.equal(host.events[0]?.reason, 'no answer in time')
  })

  test('get nothing after the end', async () => {
    const { host, teller } = notifier('silence', '192.0.2.1')
    teller.add(nameOf('example.org'))
    teller.stop()
    teller.add(nameOf('example.net'))
    await host.advance(60_000)
    assert.equal(host.asked.length, 1)
    assert.deepEqual(host.events, [])
    assert.deepEqual(
      host.upstreams.map(({ isClosed }) => isClosed),
      [true],
    )
  })

  test('get NOTIFY from the configured address', () => {
    const host = new FakeHost()
    const secondaries = [{ address: '192.0.2.1', port: 53 }]
    new Notifier(host, { ...RULE, secondaries, sourceAddress: '192.0.2.9' }).stop()
    assert.equal(host.upstreams[0]?.options.sourceAddress, '192.0.2.9')
  })
})
