import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { asWordBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatName, isSubdomain, lowerName, nameOf } from '../../../src/dns/names/name.ts'
import { OPCODE, RCODE } from '../../../src/dns/names/rcode.ts'
import { parseType } from '../../../src/dns/names/rr-type.ts'
import { endsIn, FLAG, isWithinZone, parseQuery, Query } from '../../../src/dns/wire/query.ts'
import { refusalReply } from '../../../src/dns/wire/refusal.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { flipped, wireName } from '../../generators.ts'
import { accepted, hex, messageOf, queryBytes, queryOf, refused } from './messages.ts'
import { decodeMessage, encodeMessage } from './oracle.ts'
import { OPT_RECORDS } from './query-edns.ts'
import { BROKEN_EDNS, BROKEN_QUESTIONS, BROKEN_RECORDS } from './query-refusals.ts'

const question = '0161076578616d706c65036f726700 0001 0001'
const opt = '00 0029 04d0 00000000 0000'
const record = 'c00c 0001 0001 00000000 0004 c0000201'

function nameText(query: Query): string {
  return formatName(query.name.slice(0, query.nameBytes))
}

/** All that comes from an OPT record. */
function ednsOf(query: Query): unknown[] {
  const { hasEdns, udpBytes, ednsVersion, wantsDnssec, optionsStart, optionsBytes } = query
  const numbers = [udpBytes, ednsVersion, optionsStart, optionsBytes]
  return [hasEdns, wantsDnssec, query.wantsPadding, query.wantsNsid, ...numbers]
}

const NO_EDNS = [false, false, false, false, 0, 0, 0, 0]

describe('FLAG', () => {
  const names = ['QR', 'AA', 'TC', 'RD', 'RA', 'AD', 'CD'] as const
  for (const name of names) {
    test(`${name} is the bit that a second decoder takes for it`, () => {
      const decoded = decodeMessage(messageOf({ flags: FLAG[name], counts: [0, 0, 0, 0] }))
      const { flag_qr, flag_aa, flag_tc, flag_rd, flag_ra, flag_ad, flag_cd } = decoded
      const set = [flag_qr, flag_aa, flag_tc, flag_rd, flag_ra, flag_ad, flag_cd]
      assert.deepEqual(
        set,
        names.map((other) => other === name),
      )
    })
  }
})

describe('parseQuery on a question', () => {
  test('reads the query of RFC 8484 §4.1.1', () => {
    const query = accepted(
      hex('0000 0100 0001 0000 0000 0000 03777777076578616d706c6503636f6d00 0001 0001'),
    )
    assert.equal(nameText(query), 'www.example.com.')
    assert.deepEqual([query.id, query.flags, query.type, query.class], [0, FLAG.RD, 1, 1])
    assert.equal(query.questionEnd, 33)
    assert.deepEqual(ednsOf(query), NO_EDNS)
  })

  test('keeps the name in lower case, and the spelling in the message', () => {
    const query = queryOf('wWw.\\192\\065.ExAmple.ORG A')
    assert.equal(nameText(query), 'www.\\192a.example.org.')
    const spelled = query.bytes.subarray(12, query.questionEnd - 4)
    assert.equal(formatName(spelled), 'wWw.\\192A.ExAmple.ORG.')
  })

  test('returns the offsets of the labels', () => {
    const query = queryOf('a.example.org A')
    assert.deepEqual(query.labels.slice(0, query.labelCount), Uint8Array.of(0, 2, 10))
    assert.equal(queryOf('. A').labelCount, 0)
  })

  const longest: { name: string; text: string }[] = [
    { name: 'a label of 63 bytes', text: 'a'.repeat(63) },
    { name: '127 labels', text: Array.from({ length: 127 }, () => 'a').join('.') },
    { name: '255 bytes', text: [63, 63, 63, 61].map((n) => 'a'.repeat(n)).join('.') },
    { name: 'every byte but letters', text: '\\000\\001\\032\\127\\128\\192\\255' },
    { name: 'a dot in a label', text: 'a\\.b.c' },
    { name: 'names that objects have', text: '__proto__.constructor.tostring' },
  ]
  for (const { name, text } of longest) {
    test(`takes ${name}`, () => {
      assert.equal(nameText(queryOf(`${text} A`)), formatName(nameOf(text)))
    })
  }

  for (const type of ['TYPE0', 'OPT', 'IXFR', 'AXFR', 'MAILA', 'ANY', 'TYPE666', 'TYPE65535']) {
    test(`lets type ${type} pass`, () => {
      assert.equal(queryOf(`example.org ${type}`).type, parseType(type))
    })
  }

  for (const rrClass of [0, 3, 4, 254, 255, 65535]) {
    test(`lets class ${rrClass} pass`, () => {
      assert.equal(queryOf('example.org A', { class: rrClass }).class, rrClass)
    })
  }

  const ignored: { name: string; flags: number }[] = [
    { name: 'AA', flags: 0x0400 },
    { name: 'TC', flags: 0x0200 },
    { name: 'RA', flags: 0x0080 },
    { name: 'the reserved bit', flags: 0x0040 },
    { name: 'AD and CD', flags: 0x0030 },
    { name: 'a response code', flags: 0x000f },
    { name: 'everything that a query may have set', flags: 0x07ff },
  ]
  for (const { name, flags } of ignored) {
    test(`does not mind ${name}`, () => {
      assert.equal(accepted(messageOf({ flags, body: question })).flags, flags)
    })
  }
})

describe('parseQuery, after the question,', () => {
  const long = `3f${'61'.repeat(63)}`.repeat(3)
  const cases: { name: string; counts: [number, number, number, number]; body: string }[] = [
    { name: 'bytes after all of it', counts: [1, 0, 0, 0], body: 'c0ffee' },
    { name: 'an answer', counts: [1, 1, 0, 0], body: record },
    { name: 'an authority', counts: [1, 0, 1, 0], body: record },
    { name: 'records in all sections', counts: [1, 1, 1, 2], body: record.repeat(4) },
    { name: 'an owner with labels and a pointer', counts: [1, 1, 0, 0], body: `0178${record}` },
    {
      name: 'an owner of 255 bytes',
      counts: [1, 1, 0, 0],
      body: `${long}3d${'61'.repeat(61)}00 ${record.slice(4)}`,
    },
    {
      name: 'rdata that no one understands',
      counts: [1, 0, 0, 1],
      body: '00 00ff 0003 00000000 0002 c0c0',
    },
    { name: 'a missing answer', counts: [1, 1, 0, 0], body: '' },
    { name: 'a missing authority', counts: [1, 0, 1, 0], body: '' },
    { name: 'a missing additional record', counts: [1, 0, 0, 1], body: '' },
    { name: 'an OPT record in the answer', counts: [1, 1, 0, 0], body: opt },
    { name: 'an OPT record in the authority', counts: [1, 0, 1, 0], body: opt },
    {
      name: 'rdata that does not fit its type',
      counts: [1, 1, 0, 0],
      body: '00 0001 0001 00000000 0001 c0',
    },
  ]
  for (const { name, counts, body } of cases) {
    test(`steps over ${name}`, () => {
      const query = accepted(messageOf({ counts, body: question + body }))
      assert.equal(nameText(query), 'a.example.org.')
      assert.equal(query.hasEdns, false)
    })
  }

  for (const place of [0, 1]) {
    test(`finds the OPT record with ${place} other records before it`, () => {
      const body = question + record.repeat(place) + opt + record.repeat(1 - place)
      const query = accepted(messageOf({ counts: [1, 0, 0, 2], body }))
      assert.equal(query.hasEdns, true)
      assert.deepEqual([query.udpBytes, query.isOptOdd], [1232, false])
    })
  }
})

describe('parseQuery on EDNS', () => {
  for (const { name, opt: text, expected } of OPT_RECORDS) {
    test(name, () => {
      const query = accepted(messageOf({ counts: [1, 0, 0, 1], body: question + text }))
      for (const [field, value] of Object.entries(expected)) {
        assert.equal(Reflect.get(query, field), value, field)
      }
    })
  }

  for (const { name, first, last } of [
    { name: 'its size and flags', first: '00 0029 1000 00018000 0000', last: opt },
    { name: 'its options', first: '00 0029 1000 00000000 0008 00030000 000c0000', last: opt },
  ]) {
    test(`uses only the last of two OPT records: ${name}`, () => {
      const query = accepted(messageOf({ counts: [1, 0, 0, 2], body: question + first + last }))
      const { udpBytes, ednsVersion, wantsDnssec, wantsPadding, wantsNsid, isOptOdd } = query
      assert.equal(isOptOdd, true)
      assert.deepEqual([udpBytes, ednsVersion], [1232, 0])
      assert.deepEqual([wantsDnssec, wantsPadding, wantsNsid], [false, false, false])
    })
  }

  for (const [name, owner] of [
    ['with a name', '0161 00'],
    ['at a pointer', 'c00c'],
  ]) {
    test(`takes an OPT record ${name}`, () => {
      const body = `${question}${owner}${opt.slice(2)}`
      const { udpBytes, isOptOdd } = accepted(messageOf({ counts: [1, 0, 0, 1], body }))
      assert.deepEqual([udpBytes, isOptOdd], [1232, true])
    })
  }

  test('forgets the message before', () => {
    const used = queryOf('example.org A', {
      udpBytes: 4096,
      wantsDnssec: true,
      options: [3, 12].map((code) => ({ code, data: new Uint8Array(1) })),
    })
    const again = parseQuery(queryBytes('. AAAA'), used)
    assert.ok(again.kind === 'query')
    assert.deepEqual(ednsOf(again), NO_EDNS)
    assert.deepEqual([nameText(again), again.labelCount, again.type], ['.', 0, 28])
    parseQuery(new Uint8Array(3), used)
    assert.deepEqual([used.questionEnd, used.hasEdns], [0, false])
  })

  test('parses the output of another encoder', () => {
    const query = accepted(
      encodeMessage({
        type: 'query',
        id: 0xabcd,
        flags: FLAG.RD | FLAG.AD,
        questions: [{ name: '_dns.Example.ORG', type: 'SRV', class: 'CH' }],
        additionals: [
          { type: 'TXT', name: 'example.org', data: 'before' },
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: 4096,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0x8000,
            flag_do: true,
            options: [
              { code: 8, ip: '0.0.0.0', sourcePrefixLength: 0 },
              { code: 12, length: 31 },
            ],
          },
        ],
      }),
    )
    assert.equal(nameText(query), '_dns.example.org.')
    assert.deepEqual([query.id, query.type, query.class], [0xabcd, 33, 3])
    assert.equal(query.flags, FLAG.RD | FLAG.AD)
    assert.deepEqual([query.udpBytes, query.wantsDnssec, query.wantsPadding], [4096, true, true])
  })
})

describe('parseQuery refuses', () => {
  for (const { name, bytes, rcode, echoes, hasEdns } of [
    ...BROKEN_QUESTIONS,
    ...BROKEN_RECORDS,
    ...BROKEN_EDNS,
  ]) {
    test(name, () => {
      const { query, refusal } = refused(bytes)
      assert.deepEqual(refusal, { kind: 'refusal', rcode })
      assert.equal(query.questionEnd > 0, echoes === true)
      assert.equal(query.hasEdns, hasEdns === true)
    })
  }
})

describe('parseQuery on any bytes', () => {
  const whole = queryBytes('www.example.org A', {
    udpBytes: 1232,
    options: [{ code: 12, data: new Uint8Array(20) }],
  })
  const questionEnd = 12 + 17 + 4

  test('refuses every truncation of a message but that to its question', () => {
    assert.equal(accepted(whole.slice(0, questionEnd)).hasEdns, false)
    for (let size = 0; size < whole.length; size++) {
      if (size === questionEnd) continue
      const { query, refusal } = refused(whole.slice(0, size))
      const isNoType = size === questionEnd - 4 || size === questionEnd - 2
      const rcode = size < 12 ? undefined : isNoType ? RCODE.REFUSED : RCODE.FORMERR
      assert.deepEqual(refusal, { kind: 'refusal', rcode }, `${size} bytes`)
      assert.equal(query.questionEnd > 0, size > questionEnd, `${size} bytes`)
    }
  })

  /** Either a query whose parts lie within the message, or a refusal that can be written. */
  function checkAnyResult(bytes: Uint8Array): void {
    const query = new Query()
    const result = parseQuery(bytes, query)
    assert.ok(query.questionEnd <= bytes.length)
    assert.ok(query.optionsStart + query.optionsBytes <= bytes.length)
    if (result.kind === 'query') {
      assert.deepEqual(
        query.name.slice(0, query.nameBytes),
        lowerName(bytes.slice(12, query.questionEnd - 4)),
      )
      return
    }
    const reply = refusalReply(query, result)
    assert.equal(reply === undefined, result.rcode === undefined)
    if (reply !== undefined) assert.deepEqual(reply.subarray(0, 2), bytes.subarray(0, 2))
  }

  test('never throws on a message with bits flipped', () => {
    fc.assert(fc.property(flipped(whole), checkAnyResult), { numRuns: 3000 })
  })

  test('never throws for any bytes after a header', () => {
    const count = fc.oneof(fc.nat(2), fc.nat(65535))
    const counts = fc.tuple(fc.constantFrom(1, 1, 1, 0, 2), count, count, count)
    const octets = fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 0xc0, 12, 41)))
    fc.assert(
      fc.property(counts, octets, (some, body) => {
        checkAnyResult(messageOf({ counts: some, body: Uint8Array.from(body) }))
      }),
      { numRuns: 3000 },
    )
    fc.assert(fc.property(fc.uint8Array(), checkAnyResult))
  })
})

describe('isWithinZone and endsIn', () => {
  const cases: { name: string; query: string; zone: string; within: boolean }[] = [
    { name: 'holds for the zone itself', query: 'Example.ORG', zone: 'example.org', within: true },
    { name: 'holds below the zone', query: 'a.b.example.org', zone: 'example.org', within: true },
    { name: 'holds below the root', query: 'example.org', zone: '.', within: true },
    { name: 'holds for the root in the root', query: '.', zone: '.', within: true },
    { name: 'fails for the root in a zone', query: '.', zone: 'example.org', within: false },
    { name: 'fails for the parent', query: 'org', zone: 'example.org', within: false },
    { name: 'fails beside the zone', query: 'example.com', zone: 'example.org', within: false },
    { name: 'fails within a label', query: 'xexample.org', zone: 'example.org', within: false },
    {
      name: 'fails for a label that ends like the zone',
      query: 'x\\001a',
      zone: 'a',
      within: false,
    },
  ]
  for (const { name, query, zone, within } of cases) {
    test(name, () => {
      const asked = queryOf(`${query} A`)
      assert.equal(isWithinZone(asked, nameOf(zone)), within)
      assert.equal(endsIn(asked, asWordBytes(nameOf(zone))), within)
    })
  }

  test('agrees with isSubdomain', () => {
    const label = fc.constantFrom('a', 'b', 'a\\001b', 'a\\001a', '\\001a')
    const name = fc.array(label, { maxLength: 4 }).map((labels) => nameOf(`${labels.join('.')}.`))
    fc.assert(
      fc.property(fc.oneof(name, wireName()), name, (asked, zone) => {
        const query = accepted(writeQuery({ name: asked, type: 1 }))
        assert.equal(isWithinZone(query, zone), isSubdomain(asked, zone))
        assert.equal(endsIn(query, asWordBytes(zone)), isSubdomain(asked, zone))
      }),
    )
  })
})

describe('another operation', () => {
  const notice = writeQuery({ name: nameOf('example.org'), type: 6, flags: OPCODE.NOTIFY << 11 })

  test('parses like a query if the caller accepts its opcode', () => {
    const query = parseQuery(notice, new Query(), OPCODE.NOTIFY)
    assert.ok(query.kind === 'query' && query.type === 6)
  })

  test('is refused else', () => {
    const other = parseQuery(notice, new Query(), OPCODE.UPDATE)
    assert.ok(other.kind === 'refusal' && other.rcode === RCODE.NOTIMP)
    const plain = writeQuery({ name: nameOf('example.org'), type: 6 })
    assert.equal(parseQuery(plain, new Query(), OPCODE.NOTIFY).kind, 'refusal')
  })
})
