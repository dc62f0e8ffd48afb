import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import { formatRcode, parseRcode } from '../../../../src/dns/names/rcode.ts'
import { parseType } from '../../../../src/dns/names/rr-type.ts'
import { Metrics } from '../../../../src/dns/telemetry/metrics.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { type DnssecKey, readKey } from '../../../../src/resolver/plugins/dnssec/key-file.ts'
import { signReply } from '../../../../src/resolver/plugins/dnssec/sign-reply.ts'
import { dnssecMetrics, Signer } from '../../../../src/resolver/plugins/dnssec/signer.ts'
import { openSigner } from '../../../../src/server/keys/open-signer.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { parseRecord } from '../../../parse-record.ts'
import { isSigned, newKeyFiles } from '../../../zone-keys.ts'

const ZONE = nameOf('example.org')
const SOA = 'example.org. 60 IN SOA ns.example.org. host.example.org. 1 2 3 4 5'
const TYPES = 'LOC SRV CERT SSHFP RRSIG NSEC TLSA HIP OPENPGPKEY SPF'
const NSEC = `a.example.org. 60 IN NSEC \\000.a.example.org. HINFO TXT AAAA ${TYPES}`
const NS = 'cut.example.org. 30 IN NS ns.cut.example.org.'
const DS = `cut.example.org. 20 IN DS 1 13 2 ${'00'.repeat(32)}`

const KEY = keyOf(257)

function keyOf(flags: number): DnssecKey {
  const files = newKeyFiles('K', 'example.org.', { flags })
  return readKey('K', { readText: (path) => files[path], openSigner })
}

function signerOf(...keys: DnssecKey[]): Signer {
  const metrics = dnssecMetrics(new Metrics(), '')
  return new Signer({ keys, capacity: 0, now: () => 1_800_000_000_000, metrics })
}

function recordsOf(lines: readonly string[]): ResourceRecord[] {
  return lines.map((line) => {
    const record = parseRecord(line, ROOT)
    assert.ok(record, line)
    return record
  })
}

/** Writes `OWNER TTL TYPE by ZONE` for a good signature, and ` bad` behind it for another. */
function shown(records: readonly ResourceRecord[], keys: readonly DnssecKey[]): string[] {
  return records.map((record) => {
    const text = formatRecord(record)
    const words = text.split(' ')
    if (words[3] !== 'RRSIG') return text
    const isGood = isSigned(
      record,
      records,
      keys.map((key) => key.record),
    )
    return `${words[0]} ${words[1]} ${words[4]} by ${words[11]}${isGood ? '' : ' bad'}`
  })
}

type Lines = {
  readonly rcode?: string
  readonly answer?: readonly string[]
  readonly authority?: readonly string[]
  readonly additional?: readonly string[]
}
type Options = { readonly keys?: readonly DnssecKey[]; readonly zones?: readonly string[] }

function sign(asked: string, lines: Lines, options: Options = {}): Lines {
  const { rcode = 'NOERROR', answer = [], authority = [], additional = [] } = lines
  const [name = '', type = ''] = asked.split(' ')
  const { keys = [KEY], zones = [] } = options
  const reply: Reply = {
    ...EMPTY_REPLY,
    rcode: parseRcode(rcode) ?? 0,
    answer: recordsOf(answer),
    authority: recordsOf(authority),
    additional: recordsOf(additional),
  }
  const question = { name: nameOf(name), type: parseType(type) ?? 0, zone: ZONE }
  const signing = { zones: [ZONE, ...zones.map((zone) => nameOf(zone))], signer: signerOf(...keys) }
  const signed = signReply(reply, question, signing)
  return {
    rcode: formatRcode(signed.rcode),
    answer: shown(signed.answer, keys),
    authority: shown(signed.authority, keys),
    additional: shown(signed.additional, keys),
  }
}

describe('signReply', () => {
  const A = ['a.example.org. 60 IN A 192.0.2.1', 'a.example.org. 60 IN A 192.0.2.2']
  const cases: { name: string; asked: string; reply: Lines; options?: Options; is: Lines }[] = [
    {
      name: 'signs the sets of all sections, at the end of each',
      asked: 'a.example.org A',
      reply: {
        answer: ['w.example.org. 9 IN CNAME a.example.org.', ...A],
        authority: ['example.org. 30 IN NS ns.example.org.'],
        additional: ['ns.example.org. 40 IN A 192.0.2.53', 'ns.example.org. 40 IN AAAA ::1'],
      },
      is: {
        answer: [
          'w.example.org. 9 IN CNAME a.example.org.',
          ...A,
          'w.example.org. 9 CNAME by example.org.',
          'a.example.org. 60 A by example.org.',
        ],
        authority: ['example.org. 30 IN NS ns.example.org.', 'example.org. 30 NS by example.org.'],
        additional: [
          'ns.example.org. 40 IN A 192.0.2.53',
          'ns.example.org. 40 IN AAAA ::1',
          'ns.example.org. 40 A by example.org.',
          'ns.example.org. 40 AAAA by example.org.',
        ],
      },
    },
    {
      name: 'takes records whose owners differ in letter case for one set',
      asked: 'a.example.org A',
      reply: { answer: ['A.example.org. 60 IN A 192.0.2.1', 'a.example.org. 60 IN A 192.0.2.2'] },
      is: {
        answer: [
          'A.example.org. 60 IN A 192.0.2.1',
          'a.example.org. 60 IN A 192.0.2.2',
          'A.example.org. 60 A by example.org.',
        ],
      },
    },
    {
      name: 'signs by the closest zone, and nothing outside of all',
      asked: 'w.example.org A',
      reply: {
        answer: [
          'w.example.org. 60 IN CNAME b.sub.example.org.',
          'b.sub.example.org. 60 IN CNAME c.example.net.',
          'c.example.net. 60 IN A 192.0.2.1',
        ],
      },
      options: { zones: ['sub.example.org'] },
      is: {
        answer: [
          'w.example.org. 60 IN CNAME b.sub.example.org.',
          'b.sub.example.org. 60 IN CNAME c.example.net.',
          'c.example.net. 60 IN A 192.0.2.1',
          'w.example.org. 60 CNAME by example.org.',
          'b.sub.example.org. 60 CNAME by sub.example.org.',
        ],
      },
    },
    {
      name: 'signs a refused transfer as it is',
      asked: 'a.example.org AXFR',
      reply: { rcode: 'NXDOMAIN', authority: [SOA] },
      is: { rcode: 'NXDOMAIN', authority: [SOA, 'example.org. 60 SOA by example.org.'] },
    },
    {
      name: 'makes NXDOMAIN one of its type',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN', authority: [SOA] },
      is: {
        authority: [
          SOA,
          'example.org. 60 SOA by example.org.',
          'a.example.org. 60 NSEC by example.org.',
          NSEC,
        ],
      },
    },
    {
      name: 'signs the CNAMEs to a name of another zone that does not exist, not its SOA record',
      asked: 'w.example.org A',
      reply: {
        rcode: 'NXDOMAIN',
        answer: ['w.example.org. 60 IN CNAME a.example.net.'],
        authority: ['example.net. 60 IN SOA ns.example.net. host.example.net. 1 2 3 4 5'],
      },
      is: {
        rcode: 'NXDOMAIN',
        answer: [
          'w.example.org. 60 IN CNAME a.example.net.',
          'w.example.org. 60 CNAME by example.org.',
        ],
        authority: ['example.net. 60 IN SOA ns.example.net. host.example.net. 1 2 3 4 5'],
      },
    },
    {
      name: 'denies the name at the end of CNAMEs within the zone',
      asked: 'w.example.org A',
      reply: {
        rcode: 'NXDOMAIN',
        answer: ['w.example.org. 60 IN CNAME a.example.org.'],
        authority: [SOA],
      },
      is: {
        answer: [
          'w.example.org. 60 IN CNAME a.example.org.',
          'w.example.org. 60 CNAME by example.org.',
        ],
        authority: [
          SOA,
          'example.org. 60 SOA by example.org.',
          'a.example.org. 60 NSEC by example.org.',
          NSEC,
        ],
      },
    },
    {
      name: 'denies a type',
      asked: 'a.example.org A',
      reply: { authority: [SOA] },
      is: {
        authority: [
          SOA,
          'example.org. 60 SOA by example.org.',
          'a.example.org. 60 NSEC by example.org.',
          NSEC,
        ],
      },
    },
    {
      name: 'answers a client that requests the negative responses',
      asked: 'a.example.org NSEC',
      reply: { rcode: 'NXDOMAIN', authority: [SOA] },
      is: {
        answer: [
          'a.example.org. 60 NSEC by example.org.',
          `a.example.org. 60 IN NSEC \\000.a.example.org. A HINFO TXT AAAA ${TYPES}`,
        ],
      },
    },
    {
      name: 'leaves a negative response with proofs of its own alone',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN', authority: [SOA, NSEC] },
      is: { rcode: 'NXDOMAIN', authority: [SOA, NSEC] },
    },
    {
      name: 'leaves a negative response without an SOA record alone',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN' },
      is: { rcode: 'NXDOMAIN' },
    },
    {
      name: 'leaves a negative response with another record alone',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN', authority: ['example.org. 60 IN NS ns.example.org.'] },
      is: { rcode: 'NXDOMAIN', authority: ['example.org. 60 IN NS ns.example.org.'] },
    },
    {
      name: 'denies what has no signature either, without a key',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN', authority: [SOA] },
      options: { keys: [] },
      is: { authority: [SOA, NSEC] },
    },
    {
      name: 'denies a name with no room for a name below it by the SOA record alone',
      asked: `${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(49)}.example.org A`,
      reply: { rcode: 'NXDOMAIN', authority: [SOA] },
      is: { authority: [SOA, 'example.org. 60 SOA by example.org.'] },
    },
    {
      name: 'proves at a cut that the zone below is not signed, with the TTL of its first record',
      asked: 'b.cut.example.org A',
      reply: { authority: [NS], additional: ['ns.cut.example.org. 60 IN A 192.0.2.1'] },
      is: {
        authority: [
          NS,
          'b.cut.example.org. 30 NSEC by example.org.',
          `b.cut.example.org. 30 IN NSEC b\\000.cut.example.org. A NS HINFO TXT AAAA ${TYPES}`,
        ],
        additional: ['ns.cut.example.org. 60 IN A 192.0.2.1'],
      },
    },
    {
      name: 'signs the DS records of a cut',
      asked: 'b.cut.example.org A',
      reply: { authority: [NS, DS] },
      is: { authority: [NS, DS, 'cut.example.org. 20 DS by example.org.'] },
    },
    {
      name: 'signs what comes with an error',
      asked: 'a.example.org A',
      reply: { rcode: 'SERVFAIL', answer: A },
      is: { rcode: 'SERVFAIL', answer: [...A, 'a.example.org. 60 A by example.org.'] },
    },
    {
      name: 'signs a name that is denied and has an answer as it is',
      asked: 'a.example.org A',
      reply: { rcode: 'NXDOMAIN', answer: A, authority: [SOA] },
      is: {
        rcode: 'NXDOMAIN',
        answer: [...A, 'a.example.org. 60 A by example.org.'],
        authority: [SOA, 'example.org. 60 SOA by example.org.'],
      },
    },
    { name: 'has nothing to sign in an empty reply', asked: 'a.example.org A', reply: {}, is: {} },
  ]
  for (const { name, asked, reply, options, is } of cases) {
    test(name, () => {
      const empty = { rcode: 'NOERROR', answer: [], authority: [], additional: [] }
      assert.deepEqual(sign(asked, reply, options), { ...empty, ...is })
    })
  }

  test('signs nothing twice', () => {
    const signing = { zones: [ZONE], signer: signerOf(KEY) }
    const question = { name: nameOf('a.example.org'), type: 1, zone: ZONE }
    const once = signReply({ ...EMPTY_REPLY, answer: recordsOf(A) }, question, signing)
    assert.equal(once.answer.length, 3)
    assert.deepEqual(signReply(once, question, signing), once)
  })
})
