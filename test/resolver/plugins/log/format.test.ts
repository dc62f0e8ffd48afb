import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../../src/dns/bytes/bytes.ts'
import { parseQuery, Query } from '../../../../src/dns/wire/query.ts'
import type { Client } from '../../../../src/resolver/contract/client.ts'
import type { Observation } from '../../../../src/resolver/contract/observation.ts'
import { compileFormat } from '../../../../src/resolver/plugins/log/setup.ts'
import { parseQuestion, writeReplyText } from '../../../message-text.ts'

const { message } = parseQuestion('WWW.example.org AAAA +do +edns=1400 +id=77')
const CLIENT: Client = {
  address: '2001:db8::7',
  port: 4242,
  transport: 'udp',
  localAddress: '2001:db8::53',
}

function observe(lines?: readonly string[], client: Client = CLIENT): Observation {
  const query = parseQuery(message)
  assert.ok(query instanceof Query)
  const reply = lines === undefined ? EMPTY : writeReplyText(lines, message)
  const { length: replyBytes } = reply
  return { query, client, reply, replyBytes, plugin: 'forward', durationMs: 12.34567 }
}

function format(text: string, observation = observe(['NXDOMAIN aa ra'])): string {
  const known = new Map([['view/name', 'inside']])
  return compileFormat(text)({ observation, metadata: (label) => known.get(label) })
}

describe('compileFormat', () => {
  const cases: readonly [format: string, line: string][] = [
    ['{type} {class} {name}', 'AAAA IN www.example.org.'],
    ['{remote}:{port} {local} {proto}', '[2001:db8::7]:4242 [2001:db8::53] udp'],
    ['{size} {rsize}', '44 44'],
    ['{duration}', '0.01234567s'],
    ['{rcode} {>rflags}', 'NXDOMAIN qr,aa,rd,ra'],
    ['{>id} {>opcode} {>do} {>bufsize}', '77 0 true 1400'],
    ['{/view/name} {/no/such} {/}', 'inside - -'],
    ['{ {type} } {Type} {} }{', '{ AAAA } {Type} {} }{'],
    ['', ''],
  ]
  for (const [text, line] of cases) {
    test(`writes "${text}" as "${line}"`, () => {
      assert.equal(format(text), line)
    })
  }

  test('says what was not answered', () => {
    assert.equal(format('{rcode} {>rflags} {rsize}', observe()), '- - 0')
  })

  test('does not know where a query came to when nobody says', () => {
    const { localAddress: _, ...client } = CLIENT
    assert.equal(format('{local}', observe(['NOERROR'], client)), '-')
  })

  test('keeps text without placeholders', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('{', '(')
        assert.equal(format(plain), plain)
      }),
    )
  })
})
