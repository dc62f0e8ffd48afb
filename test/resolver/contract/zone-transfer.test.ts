import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord } from '../../../src/dns/wire/message.ts'
import { parseQuery, type Query } from '../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { sendTransfer } from '../../../src/resolver/contract/zone-transfer.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseRecord } from '../../parse-record.ts'

function records(count: number): ResourceRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const line = `host-${i}.example.org. 60 IN TXT "${'x'.repeat(100)}"`
    return parseRecord(line, ROOT) ?? assert.fail(line)
  })
}

function axfr(): Query {
  const query = parseQuery(writeQuery({ name: nameOf('example.org'), type: TYPE.AXFR, id: 7 }))
  return query.kind === 'query' ? query : assert.fail('a query')
}

const CLIENT: Client = { address: '192.0.2.7', port: 4242, transport: 'tcp' }

const host = new FakeHost()

function transfer(count: number, client: Client): Parameters<typeof sendTransfer>[1] {
  return { records: records(count), client, turns: host }
}

describe('sendTransfer', () => {
  for (const count of [0, 1, 120, 1000]) {
    test(`sends ${count} records, each once and in order`, async () => {
      const messages: Uint8Array[] = []
      const sendAhead = (message: Uint8Array): Promise<void> => {
        messages.push(message)
        return Promise.resolve()
      }
      messages.push(await sendTransfer(axfr(), transfer(count, { ...CLIENT, sendAhead })))
      const replies = messages.map((message) => parseResponse(message) ?? assert.fail('malformed'))
      const sent = replies.flatMap(({ answer }) => answer.map(formatRecord))
      assert.deepEqual(sent, records(count).map(formatRecord))
      assert.ok(
        replies.every(({ id, authoritative, truncated }) => {
          return id === 7 && authoritative && !truncated
        }),
      )
      assert.ok(messages.every(({ length }) => length < 17_000))
    })
  }

  test('signs each message where it is to be signed', async () => {
    const messages: Uint8Array[] = []
    const sendAhead = (message: Uint8Array): Promise<void> => {
      messages.push(message)
      return Promise.resolve()
    }
    let count = 0
    const signer = {
      bytes: 1,
      sign: (message: Uint8Array): Uint8Array => Uint8Array.of(...message, ++count),
    }
    const client = { ...CLIENT, sendAhead }
    messages.push(await sendTransfer(axfr(), { ...transfer(1000, client), signer }))
    assert.ok(messages.length > 2)
    assert.deepEqual(
      messages.map((message) => message.at(-1)),
      messages.map((_, i) => i + 1),
    )
    const refused = await sendTransfer(axfr(), { ...transfer(1000, CLIENT), signer })
    assert.equal(refused.at(-1), count)
  })

  test('sends some messages in each turn of the event loop', async () => {
    let nowMs = 0
    let turns = 0
    const nextTurn = async (): Promise<void> => void turns++
    // Each look at the clock takes a millisecond.
    const options = { turns: { elapsed: () => nowMs++, nextTurn } }
    const sendAhead = (): Promise<void> => Promise.resolve()
    await sendTransfer(axfr(), { ...transfer(10_000, { ...CLIENT, sendAhead }), ...options })
    assert.ok(turns > 3, String(turns))
  })

  test('refuses a client that can take one message when there are more', async () => {
    const reply = parseResponse(await sendTransfer(axfr(), transfer(1000, CLIENT)))
    assert.equal(reply?.rcode, 5)
    assert.deepEqual(reply?.answer, [])
  })
})
