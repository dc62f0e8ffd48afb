import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import {
  readDatagram,
  readStreamed,
  relayed,
  upstreamKey,
  upstreamQuery,
} from '../../../../src/resolver/plugins/forward/upstream-query.ts'
import { formatQuestion, writeReplyText } from '../../../message-text.ts'
import { requestOf } from '../../chain/serve-with.ts'
import { A, ASK } from './relay-cases.ts'

describe('upstreamQuery', () => {
  const cases: { name: string; ask: string; query: string }[] = [
    {
      name: 'has name and flags as requested',
      ask: 'wWw.a.org A +nord +cd',
      query: 'wWw.a.org. IN A cd',
    },
    { name: 'has no OPT record without one', ask: 'a.org A +tcp', query: 'a.org. IN A rd' },
    {
      name: 'has the network of the client, but no other option',
      ask: 'a.org A +do +cookie +nsid +padding +option=8:00010000',
      query: 'a.org. IN A rd edns=1232 do option=8:00010000',
    },
    {
      name: 'has no option that nobody says how to forward',
      ask: 'a.org A +option=65001:aa',
      query: 'a.org. IN A rd edns=1232',
    },
  ]
  for (const { name, ask, query } of cases) {
    test(name, async () => {
      assert.equal(formatQuestion(upstreamQuery(await requestOf(ask), 7, 'dns')), query)
    })
  }
})

describe('upstreamQuery over encrypted transports', () => {
  const sizes: { ask: string; bytes: number }[] = [
    { ask: 'a.org A', bytes: 23 },
    { ask: 'a.org A +edns', bytes: 128 },
    { ask: 'a.org A +padding +cookie', bytes: 128 },
    { ask: 'a.org A +option=8:00010000', bytes: 128 },
    { ask: `${'a'.repeat(63)}.${'b'.repeat(31)}.org A +edns`, bytes: 256 },
  ]
  for (const { ask, bytes } of sizes) {
    for (const transport of ['tls', 'https'] as const) {
      test(`has ${bytes} bytes over ${transport}: ${ask.slice(0, 30)}`, async () => {
        const query = upstreamQuery(await requestOf(ask), 7, transport)
        assert.equal(query.length, bytes)
        const [, padding = ''] = / option=12:(0*)$/.exec(formatQuestion(query)) ?? []
        const plain = upstreamQuery(await requestOf(ask), 7, 'dns')
        assert.equal(bytes, plain.length + (bytes > plain.length ? 4 + padding.length / 2 : 0))
      })
    }
  }

  test('has padding that is empty where none is lacking', async () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(31)}`
    const query = upstreamQuery(await requestOf(`${name} A +edns`), 7, 'tls')
    assert.deepEqual([query.length, formatQuestion(query).endsWith('option=12:')], [128, true])
  })
})

describe('upstreamKey', () => {
  const same = ['+cookie', '+padding', '+id=7', '+from=192.0.2.1', '+option=65001:aa']
  const different = ['+tcp', '+do', '+cd', '+nord', '+edns=600', '+option=8:00010000']
  const keyOf = async (words: string): Promise<string> =>
    upstreamKey(await requestOf(`${ASK} +edns ${words}`.trim()))

  for (const words of same) {
    test(`is the same with ${words}`, async () => {
      assert.equal(await keyOf(words), await keyOf(''))
    })
  }
  for (const words of different) {
    test(`is another with ${words}`, async () => {
      assert.notEqual(await keyOf(words), await keyOf(''))
    })
  }
})

describe('readDatagram', () => {
  test('makes an empty truncated response of one that breaks off and says so', async () => {
    const request = await requestOf(ASK)
    const whole = writeReplyText(['NOERROR tc', A, A], upstreamQuery(request, 7, 'dns'))
    for (let size = whole.length - 1; size >= 33; size--) {
      const response = readDatagram(whole.subarray(0, size), request)
      assert.ok(response?.kind === 'reply')
      assert.deepEqual([response.truncated, response.answer.length], [true, 0])
    }
    assert.equal(readDatagram(whole.subarray(0, 32), request), undefined)
    const response = readDatagram(whole, request)
    assert.equal(response?.kind === 'reply' && response.answer.length, 2)
  })

  test('takes nothing that breaks off without saying so', async () => {
    const request = await requestOf(ASK)
    const whole = writeReplyText(['NOERROR', A], upstreamQuery(request, 7, 'dns'))
    for (let size = whole.length - 1; size >= 33; size--) {
      const why = size === 33 ? 'ends after 0 of 1 records' : 'ends within record 1 of 1'
      for (const cut of [whole.slice(0, size), Buffer.from(whole.slice(0, size))]) {
        assert.deepEqual(readDatagram(cut, request), { kind: 'unreadable', why })
        assert.ok(Buffer.from(whole).indexOf(cut) === 0, 'the message stays as it is')
      }
    }
    for (let size = 0; size < 33; size++) {
      assert.equal(readDatagram(whole.subarray(0, size), request), undefined)
    }
  })

  test('never throws', async () => {
    const request = await requestOf(ASK)
    const whole = writeReplyText(['NOERROR tc', A], upstreamQuery(request, 7, 'dns'))
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(change), fc.nat(whole.length), (changes, size) => {
        const reply = whole.slice(0, size)
        for (const [at, value] of changes) if (at < size) reply[at] = value
        readDatagram(reply, request)
        readStreamed(reply, request)
      }),
    )
  })
})

describe('readStreamed', () => {
  test('takes a response whose counts promise more than it has', async () => {
    const request = await requestOf(ASK)
    const whole = writeReplyText(['NOERROR', A], upstreamQuery(request, 7, 'dns'))
    for (const at of [6, 8, 10]) {
      const reply = whole.slice()
      writeUint16(reply, at, 9)
      const response = readStreamed(reply, request)
      assert.equal(response?.kind === 'reply' && response.answer.length, 1)
      assert.equal(readDatagram(reply, request)?.kind, 'unreadable')
    }
  })

  test('takes a response without a question', async () => {
    const request = await requestOf(ASK)
    const header = Uint8Array.of(0, 7, 0x81, 0x80, 0, 0, 0, 0, 0, 0, 0, 0)
    const response = readStreamed(header, request)
    assert.equal(response?.kind === 'reply' && response.answer.length, 0)
    assert.equal(readDatagram(header, request), undefined)
  })

  test('takes no response to another question, or that breaks off within a record', async () => {
    const request = await requestOf(ASK)
    const whole = writeReplyText(['NOERROR', A], upstreamQuery(request, 7, 'dns'))
    assert.equal(readStreamed(whole.subarray(0, -1), request)?.kind, 'unreadable')
    assert.equal(readStreamed(whole.fill(0x78, 13, 16), request), undefined)
  })
})

describe('relayed', () => {
  for (const { words, isAuthentic } of [
    { words: '', isAuthentic: false },
    { words: ' +do', isAuthentic: true },
    { words: ' +ad', isAuthentic: true },
  ]) {
    test(`has AD ${isAuthentic ? 'set' : 'clear'} for "${words}"`, async () => {
      const request = await requestOf(ASK + words)
      const reply = writeReplyText(['NOERROR ad', A], upstreamQuery(request, 7, 'dns'))
      const response = readDatagram(reply, request)
      assert.ok(response?.kind === 'reply')
      assert.equal(relayed(response, request).authenticData, isAuthentic)
    })
  }
})
