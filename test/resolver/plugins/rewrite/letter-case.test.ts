import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  concatBytes,
  uint16Bytes,
  writeUint16,
  writeUint32,
} from '../../../../src/dns/bytes/bytes.ts'
import { block, type Server, serve } from '../../../ask.ts'
import { recordOf } from '../../../dns/wire/messages.ts'
import type { RewriteCase } from './rules.ts'

/**
 * A block with rules, and the answers of its upstream by query name, each name as it is
 * written.
 */
function serveAnswers(
  rules: readonly string[],
  answers: Readonly<Record<string, readonly string[]>>,
): Server {
  const lines = rules.map((rule) => `rewrite ${rule}`)
  return serve(block(...lines, 'forward . 192.0.2.53'), {
    upstream: ({ question, message }) => {
      const records = answers[question.split(' ')[0] ?? ''] ?? []
      const header = message.slice()
      writeUint16(header, 2, 0x8100)
      writeUint16(header, 6, records.length)
      return concatBytes(header, ...records.map(uncompressed))
    },
  })
}

/** Writes a record without pointers, which would give its names the letter case of the question. */
function uncompressed(line: string): Uint8Array {
  const { owner, type, class: rrClass, ttlSeconds, rdata } = recordOf(line)
  const ttl = new Uint8Array(4)
  writeUint32(ttl, 0, ttlSeconds)
  return concatBytes(owner, uint16Bytes(type, rrClass), ttl, uint16Bytes(rdata.length), rdata)
}

/** Upstreams, such as Windows DNS and appliances, that answer in the letter case of their zones. */
const CASES: readonly Required<Omit<RewriteCase, 'asks'>>[] = [
  {
    name: 'an exact change',
    rules: ['name exact kms.old.test kms.new.test'],
    ask: 'kms.old.test A',
    upstream: ['Kms.New.test. 60 IN CNAME Deep.KMS.new.Test.'],
    reply: ['NOERROR rd', 'kms.old.test. 60 IN CNAME Deep.kms.old.test.'],
  },
  {
    name: 'a change of an ending',
    rules: ['name suffix .old.test .new.test answer auto'],
    ask: 'a.old.test A',
    upstream: ['A.New.test. 60 IN CNAME B.NEW.test.', 'b.new.TEST. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'a.old.test. 60 IN CNAME B.old.test.', 'B.old.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'a change of a beginning',
    rules: ['name prefix old. new. answer auto'],
    ask: 'old.a.test A',
    upstream: ['New.A.test. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'old.a.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'a change within',
    rules: ['name substring .old. .new. answer auto'],
    ask: 'a.old.test A',
    upstream: ['A.New.Test. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'a.old.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'a change by an expression',
    rules: ['name regex (.*)\\.old\\.test {1}.new.test answer auto'],
    ask: 'a.old.test A',
    upstream: ['A.New.Test. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'a.old.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'names by an expression',
    rules: ['name regex (.*)\\.old\\.test {1}.new.test answer name (.*)\\.new\\.test {1}.old.test'],
    ask: 'a.old.test A',
    upstream: ['A.New.Test. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'a.old.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'values by an expression',
    rules: [
      'name regex (.*)\\.old\\.test {1}.new.test answer auto answer value (.*)\\.cdn\\.test {1}.x.test',
    ],
    ask: 'a.old.test SRV',
    upstream: ['a.new.test. 60 IN SRV 1 2 3 E.CDN.test.'],
    reply: ['NOERROR rd', 'a.old.test. 60 IN SRV 1 2 3 e.x.test.'],
  },
  {
    name: 'names by an expression in capitals, as they are',
    rules: ['name exact a.old.test a.new.test answer name ^A\\.New\\.test\\.$ b.old.test'],
    ask: 'a.old.test A',
    upstream: ['A.New.test. 60 IN A 192.0.2.1'],
    reply: ['NOERROR rd', 'b.old.test. 60 IN A 192.0.2.1'],
  },
  {
    name: 'values of all types',
    rules: ['name suffix .old.test .new.test answer auto'],
    ask: 'a.old.test ANY',
    upstream: [
      'a.new.test. 60 IN SRV 1 2 3 Srv.NEW.test.',
      'a.new.test. 60 IN MX 5 Mx.New.test.',
      'a.new.test. 60 IN NS Ns.new.Test.',
      'a.new.test. 60 IN PTR P.New.test.',
    ],
    reply: [
      'NOERROR rd',
      'a.old.test. 60 IN SRV 1 2 3 Srv.old.test.',
      'a.old.test. 60 IN MX 5 Mx.old.test.',
      'a.old.test. 60 IN NS Ns.old.test.',
      'a.old.test. 60 IN PTR P.old.test.',
    ],
  },
]

describe('answers in another letter case (RFC 4343)', () => {
  for (const { name, rules, ask, upstream, reply } of CASES) {
    test(`have ${name} changed back`, async () => {
      const [asked = ''] = ask.replace('old', 'new').split(' ')
      assert.deepEqual(await serveAnswers(rules, { [`${asked}.`]: upstream }).ask(ask), reply)
    })
  }
})

describe('CNAME targets in another letter case', () => {
  for (const rule of [
    'cname exact x.cdn.test y.test',
    'cname prefix x.cdn. y.',
    'cname suffix x.cdn.test. y.test.',
    'cname substring x.cdn y',
    'cname regex (x)\\.cdn\\.(.*) y.{2}',
  ]) {
    test(`match "${rule}"`, async () => {
      const server = serveAnswers([rule], {
        'www.a.org.': ['www.a.org. 60 IN CNAME X.Cdn.test.'],
        'y.test.': ['y.test. 9 IN A 192.0.2.9'],
      })
      const reply = ['NOERROR rd', 'www.a.org. 60 IN CNAME y.test.', 'y.test. 9 IN A 192.0.2.9']
      assert.deepEqual(await server.ask('www.a.org A'), reply)
    })
  }
})
