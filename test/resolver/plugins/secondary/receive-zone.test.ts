import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { zoneTransfer } from '../../../../src/resolver/plugins/file/serve-zone.ts'
import { receiveZone } from '../../../../src/resolver/plugins/secondary/receive-zone.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { FakeHost } from '../../../fake-host.ts'

const SOA = 'example.org. 60 IN SOA . . 7 1 1 1 1'
const A = 'a.example.org. 60 IN A 192.0.2.1'
const B = 'b.example.org. 60 IN A 192.0.2.2'

async function receive(messages: readonly (readonly string[])[] | Error): Promise<string[]> {
  const host = new FakeHost({ transfers: () => messages })
  const primary = { address: '192.0.2.53', port: 53 }
  const zone = await receiveZone(host, nameOf('example.org'), primary)
  assert.deepEqual(
    host.asked.map(({ upstream, question }) => `${upstream} ${question}`),
    ['192.0.2.53:53 example.org. IN AXFR'],
  )
  return Array.from(zoneTransfer(zone, undefined), formatRecord)
}

describe('a zone is received', () => {
  const cases: { name: string; messages: string[][]; is: string[] }[] = [
    {
      name: 'in one message',
      messages: [['NOERROR aa', SOA, A, B, SOA]],
      is: [SOA, A, B, SOA],
    },
    {
      name: 'in many messages',
      messages: [
        ['NOERROR aa', SOA],
        ['NOERROR aa', A],
        ['NOERROR aa', B],
        ['NOERROR aa', SOA],
      ],
      is: [SOA, A, B, SOA],
    },
    { name: 'without records', messages: [['NOERROR aa', SOA, SOA]], is: [SOA, SOA] },
    {
      name: 'without what is outside of it',
      messages: [['NOERROR aa', SOA, 'a.example.net. 60 IN A 192.0.2.1', SOA]],
      is: [SOA, SOA],
    },
    {
      name: 'up to the second SOA record',
      messages: [
        ['NOERROR aa', SOA, A, SOA, B],
        ['NOERROR aa', B],
      ],
      is: [SOA, A, SOA],
    },
  ]
  for (const { name, messages, is } of cases) {
    test(name, async () => {
      assert.deepEqual(await receive(messages), is)
    })
  }
})

describe('no zone is received', () => {
  const cases: { name: string; messages: string[][] | Error; reason: string }[] = [
    {
      name: 'from nobody',
      messages: new Error('connection refused'),
      reason: 'connection refused',
    },
    {
      name: 'from who refuses',
      messages: [['REFUSED']],
      reason: 'the primary responded with REFUSED',
    },
    {
      name: 'when it breaks off',
      messages: [['NOERROR aa', SOA, A]],
      reason: 'the transfer is incomplete',
    },
    {
      name: 'without an SOA record first',
      messages: [['NOERROR aa', A, SOA]],
      reason: 'the transfer does not begin with the SOA record',
    },
    {
      name: 'of another name',
      messages: [['NOERROR aa', SOA.replace('example.org', 'example.net')]],
      reason: 'the transfer does not begin with the SOA record',
    },
    {
      name: 'when it changes on the way',
      messages: [['NOERROR aa', SOA, A, SOA.replace('7', '8')]],
      reason: 'the zone changed during the transfer',
    },
    {
      name: 'with NSEC3 records',
      messages: [['NOERROR aa', SOA, 'example.org. 60 IN NSEC3PARAM \\# 5 0100000000', SOA]],
      reason: 'a NSEC3PARAM record at "example.org.": zones are signed with NSEC records only',
    },
  ]
  for (const { name, messages, reason } of cases) {
    test(name, async () => {
      await assert.rejects(receive(messages), { message: reason })
    })
  }

  test('from who sends something else', async () => {
    const host = new FakeHost()
    const primary = { address: '192.0.2.53', port: 53 }
    const bad = { ...host, openTransfer: () => sendOnce(Uint8Array.of(1, 2, 3)) }
    await assert.rejects(receiveZone(bad, nameOf('example.org'), primary), {
      message: 'a message of the transfer is malformed',
    })
    const other = new Uint8Array(12)
    other[2] = 0x80
    const foreign = { ...host, random16: () => 7, openTransfer: () => sendOnce(other) }
    await assert.rejects(receiveZone(foreign, nameOf('example.org'), primary), {
      message: 'a message of the transfer has a wrong ID',
    })
  })
})

async function* sendOnce(message: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield message
}
