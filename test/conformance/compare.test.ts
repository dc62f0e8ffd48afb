import { deepEqual, notDeepEqual } from 'node:assert/strict'
import { describe, it } from 'vitest'
import { readUint16, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { FLAG } from '../../src/dns/wire/query.ts'
import { writeReplyText } from '../message-text.ts'
import { caseQuery } from './case-query.ts'
import { differences } from './compare.ts'
import type { Case } from './scenario.ts'

const RECORDED: Case = {
  id: 'example-0001',
  qname: 'web.shop.svc.cluster.local.',
  qtype: 'A',
  transport: 'udp',
  edns: { size: 1232, do: false, options: [{ code: 3, data: '6e73' }] },
  expect: {
    rcode: 'NOERROR',
    aa: true,
    tc: false,
    ra: false,
    answer: [
      'web.shop.svc.cluster.local. 30 IN A 10.96.0.1',
      'web.shop.svc.cluster.local. 30 IN A 10.96.0.2',
    ],
    authority: ['cluster.local. 30 IN SOA ns.dns.cluster.local. h.cluster.local. SERIAL 1 2 3 30'],
    edns: { size: 1232, do: false, options: [{ code: 3, data: '6e73' }] },
  },
}
const LINES = [
  'NOERROR aa rd',
  'WEB.shop.svc.cluster.local. 30 IN A 10.96.0.2',
  'web.shop.svc.cluster.local. 30 IN A 10.96.0.1',
  'authority: cluster.local. 30 IN SOA NS.dns.cluster.local. h.cluster.local. 1767225600 1 2 3 30',
  'option 3: 6e73',
]

function answer(lines: readonly string[]): Uint8Array {
  return writeReplyText(lines, caseQuery(RECORDED, 1))
}

describe('differences', () => {
  it('accepts any order, letter case of names, and serial', () => {
    deepEqual(differences(RECORDED, [answer(LINES)]), [])
  })

  const mutations: readonly { name: string; mutate: (message: Uint8Array) => void }[] = [
    { name: 'another rcode', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) | 3) },
    { name: 'no AA', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) & ~FLAG.AA) },
    { name: 'RA', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) | FLAG.RA) },
    { name: 'TC', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) | FLAG.TC) },
    { name: 'AD', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) | FLAG.AD) },
    { name: 'no RD', mutate: (m) => writeUint16(m, 2, readUint16(m, 2) & ~FLAG.RD) },
    { name: 'another question', mutate: (m) => m.set([0x78], 13) },
    { name: 'another type in the question', mutate: (m) => writeUint16(m, 39 + 2, 28) },
  ]
  for (const { name, mutate } of mutations) {
    it(`catches ${name}`, () => {
      const message = answer(LINES)
      mutate(message)
      notDeepEqual(differences(RECORDED, [message]), [])
    })
  }

  const changes: readonly { name: string; lines: readonly string[] }[] = [
    { name: 'a missing record', lines: LINES.filter((_, i) => i !== 1) },
    { name: 'a doubled record', lines: [...LINES.slice(0, 2), LINES[1] ?? '', ...LINES.slice(2)] },
    { name: 'another TTL', lines: LINES.map((line) => line.replace(' 30 IN A', ' 29 IN A')) },
    { name: 'another address', lines: LINES.map((line) => line.replace('0.2', '0.3')) },
    { name: 'another owner', lines: LINES.map((line) => line.replace('WEB.', 'w.')) },
    { name: 'another minimum', lines: LINES.map((line) => line.replace('2 3 30', '2 3 31')) },
    { name: 'a missing section', lines: LINES.filter((line) => !line.startsWith('authority')) },
    { name: 'a missing option', lines: LINES.filter((line) => !line.startsWith('option')) },
  ]
  for (const { name, lines } of changes) {
    it(`catches ${name}`, () => {
      notDeepEqual(differences(RECORDED, [answer(lines)]), [])
    })
  }

  it('catches a missing OPT record, and no answer at all', () => {
    const { edns: _, ...plain } = RECORDED
    notDeepEqual(differences(RECORDED, [writeReplyText(LINES, caseQuery(plain, 1))]), [])
    notDeepEqual(differences(RECORDED, []), [])
  })

  it('misses no OPT record in the answer to a query without one', () => {
    const { edns: _, ...plain } = RECORDED
    deepEqual(differences(plain, [writeReplyText(LINES, caseQuery(plain, 1))]), [])
  })

  it('catches an answer where none is expected', () => {
    const recorded = { ...RECORDED, expect: { ...RECORDED.expect, drop: true } }
    notDeepEqual(differences(recorded, [answer(LINES)]), [])
    deepEqual(differences(recorded, []), [])
  })

  it('takes refusals of what is no query, and of what is malformed', () => {
    const bare = (rcode: string): Uint8Array => answer([`${rcode} rd`])
    const notice = { ...RECORDED, opcode: 'NOTIFY' }
    const { edns: _, ...headless } = RECORDED
    const header = bare('NOTIMP').slice(0, 12)
    header.fill(0, 4)
    deepEqual(differences({ ...headless, opcode: 'NOTIFY' }, [header]), [])
    notDeepEqual(differences(headless, [header]), [])
    const failing = { ...headless, raw: '00', expect: { ...headless.expect, rcode: 'SERVFAIL' } }
    const malformed = header.slice()
    malformed[3] = 1
    deepEqual(differences(failing, [malformed]), [])
    notDeepEqual(differences(failing, [header]), [])
    notDeepEqual(differences(notice, [bare('REFUSED')]), [])
  })

  it('takes lower TTLs from a cache, and no higher ones', () => {
    const recorded = { ...RECORDED, ttl_max: 2 }
    const withTtl = (ttl: number): Uint8Array =>
      answer(LINES.map((line) => line.replace(' 30 IN A', ` ${ttl} IN A`)))
    deepEqual(differences(recorded, [withTtl(28)]), [])
    notDeepEqual(differences(recorded, [withTtl(27)]), [])
    notDeepEqual(differences(recorded, [withTtl(32)]), [])
  })

  it('takes TTLs that differ by the seconds by which it asks too late', () => {
    const withTtl = (ttl: number): Uint8Array =>
      answer(LINES.map((line) => line.replace(' 30 IN A', ` ${ttl} IN A`)))
    const late = { lateSeconds: 3 }
    for (const ttl of [27, 33]) deepEqual(differences(RECORDED, [withTtl(ttl)], late), [])
    for (const ttl of [26, 34]) notDeepEqual(differences(RECORDED, [withTtl(ttl)], late), [])
    notDeepEqual(differences(RECORDED, [withTtl(29)]), [])
  })

  it('counts a truncated RRset, and compares only the records present', () => {
    const expect = {
      ...RECORDED.expect,
      tc: true,
      subset: true,
      count: { answer: 1, authority: 1 },
    }
    const recorded = { ...RECORDED, expect }
    const lines = ['NOERROR aa tc rd', ...LINES.slice(2)]
    deepEqual(differences(recorded, [answer(lines)]), [])
    notDeepEqual(differences(recorded, [answer(lines.filter((_, i) => i !== 1))]), [])
  })

  it('takes a record once that was recorded twice', () => {
    const chain = ['a.test. 5 IN CNAME b.test.', 'b.test. 5 IN CNAME a.test.']
    const twice = [...chain, ...chain]
    const expect = { ...RECORDED.expect, answer: twice, authority: [], chain: twice }
    const recorded = { ...RECORDED, expect }
    const head = ['NOERROR aa rd']
    deepEqual(differences(recorded, [answer([...head, ...chain, 'option 3: 6e73'])]), [])
    notDeepEqual(differences(recorded, [answer([...head, ...twice, ...chain])]), [])
  })

  it('requires CNAMEs in their order', () => {
    const chain = ['a.test. 5 IN CNAME b.test.', 'b.test. 5 IN CNAME c.test.']
    const expect = { ...RECORDED.expect, answer: chain, authority: [], chain }
    const recorded = { ...RECORDED, expect }
    const head = ['NOERROR aa rd']
    deepEqual(differences(recorded, [answer([...head, ...chain, 'option 3: 6e73'])]), [])
    notDeepEqual(
      differences(recorded, [answer([...head, ...chain.toReversed(), 'option 3: 6e73'])]),
      [],
    )
  })
})
