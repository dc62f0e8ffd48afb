import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { EMPTY_REPLY, parseResponse, type Reply } from '../../../../src/dns/wire/message.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  readEntries,
  type SavedEntry,
  writeEntry,
} from '../../../../src/resolver/plugins/cache/saved-entries.ts'
import { writeReplyText } from '../../../message-text.ts'

const QUERY = writeQuery({ name: nameOf('www.example.org'), type: TYPE.A, id: 1, udpBytes: 4096 })

/** The reply that an upstream's lines make. */
function replyOf(lines: readonly string[]): Reply {
  const response = parseResponse(writeReplyText(lines, QUERY))
  assert.ok(response)
  const { id: _, question: __, ...reply } = response
  return { ...reply, options: [] }
}

function saved(reply: Reply, more: Partial<SavedEntry> = {}): SavedEntry {
  const common = { key: '1 1 0   www', half: 'success', isAnswer: true, ttlSeconds: 300 } as const
  return { ...common, storedDateMs: 1_767_225_600_123, reply, ...more }
}

const REPLIES: readonly { name: string; lines: readonly string[] }[] = [
  { name: 'an address', lines: ['NOERROR aa ra', 'www.example.org. 300 IN A 192.0.2.1'] },
  { name: 'no records', lines: ['SERVFAIL'] },
  { name: 'AD', lines: ['NOERROR ra ad', 'wWw.Example.org. 300 IN AAAA 2001:db8::1'] },
  {
    name: 'a negative response',
    lines: [
      'NXDOMAIN ra',
      'authority: example.org. 300 IN SOA ns.example.org. a.example.org. 1 2 3 4 5',
    ],
  },
  {
    name: 'all sections',
    lines: [
      'NOERROR',
      'www.example.org. 300 IN CNAME web.example.net.',
      'web.example.net. 300 IN MX 10 mx.example.net.',
      'web.example.net. 300 IN TXT "a" "b c"',
      'authority: example.net. 300 IN NS ns.example.net.',
      'additional: ns.example.net. 300 IN A 192.0.2.53',
    ],
  },
  {
    name: 'an extended response code',
    lines: ['BADCOOKIE', 'www.example.org. 300 IN A 192.0.2.1'],
  },
]

describe('saved entries', () => {
  for (const { name, lines } of REPLIES) {
    test(`are read as they were written: ${name}`, () => {
      const entries = [
        saved(replyOf(lines)),
        saved(replyOf(lines), { key: 'é\u0000ÿ', half: 'denial', isAnswer: false, ttlSeconds: 0 }),
      ]
      const bytes = Buffer.concat(entries.map(writeEntry))
      assert.deepEqual([...readEntries(bytes)], entries)
    })
  }

  test('leave out what a message cannot represent', () => {
    const [{ lines } = { lines: [] }] = REPLIES
    const reply = replyOf(lines)
    for (const one of [
      saved(reply, { key: 'x'.repeat(65_536) }),
      saved({ ...EMPTY_REPLY, answer: new Array(4000).fill(reply.answer[0]) }),
    ]) {
      assert.equal(writeEntry(one).length, 0)
    }
  })

  test('end where they are damaged, and never throw', () => {
    const entries = REPLIES.map(({ lines }) => saved(replyOf(lines)))
    const bytes = new Uint8Array(Buffer.concat(entries.map(writeEntry)))
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))
    const property = fc.property(fc.nat(bytes.length), fc.array(change), (end, changes) => {
      const damaged = bytes.slice(0, end)
      for (const [at, value] of changes) if (at < end) damaged[at] = value
      const found = [...readEntries(damaged)]
      assert.ok(found.length <= entries.length)
      if (changes.length === 0) assert.deepEqual(found, entries.slice(0, found.length))
    })
    fc.assert(property, { numRuns: 500 })
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (any) => void [...readEntries(any)]))
  })
})
