/**
 * Messages that the gate refuses, and how: each breaks one rule of the wire format.
 * @module
 */
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { messageOf } from './messages.ts'

/** A message, and what it gets. Without an `rcode` it gets no answer. */
export type RefusalCase = {
  readonly name: string
  readonly bytes: Uint8Array
  readonly rcode?: number
  readonly echoes?: true
  readonly hasEdns?: true
}

const { FORMERR, NOTIMP, REFUSED, BADVERS } = RCODE
const question = '0161076578616d706c65036f726700 0001 0001'
const opt = '00 0029 04d0 00000000 0000'
const label63 = `3f${'61'.repeat(63)}`
/** 192 bytes of labels; one of 61 bytes and the root make them a name of 255. */
const labels192 = label63.repeat(3)
const label62 = `3e${'61'.repeat(62)}`
const record = (owner: string): string => `${owner} 0001 0001 00000000 0004 c0000201`

/** What is wrong before the question has been read. */
export const BROKEN_QUESTIONS: readonly RefusalCase[] = [
  { name: 'no bytes', bytes: new Uint8Array(0) },
  { name: '11 bytes', bytes: messageOf({}).subarray(0, 11) },
  { name: 'a response', bytes: messageOf({ flags: 0x8100, body: question }) },
  { name: 'a response of another operation', bytes: messageOf({ flags: 0xa800, body: question }) },
  { name: 'a response that is broken', bytes: messageOf({ flags: 0x8000, counts: [9, 9, 9, 9] }) },
  ...Array.from({ length: 15 }, (_, i) => ({
    name: `operation ${i + 1} with a body that makes no sense`,
    bytes: messageOf({ flags: (i + 1) << 11, counts: [65535, 65535, 65535, 65535], body: 'c0ff' }),
    rcode: NOTIMP,
  })),
  {
    name: 'operation NOTIFY with a good question',
    bytes: messageOf({ flags: 4 << 11, body: question }),
    rcode: NOTIMP,
  },
  { name: 'no question', bytes: messageOf({ counts: [0, 0, 0, 0] }), rcode: FORMERR },
  {
    name: 'no question, but an OPT record',
    bytes: messageOf({ counts: [0, 0, 0, 1], body: opt }),
    rcode: FORMERR,
  },
  {
    name: 'two questions',
    bytes: messageOf({ counts: [2, 0, 0, 0], body: question + question }),
    rcode: FORMERR,
  },
  {
    name: '65535 questions, one there',
    bytes: messageOf({ counts: [65535, 0, 0, 0], body: question }),
    rcode: FORMERR,
  },
  ...(
    [
      ['a question that is not there', ''],
      ['a name without its end', '0161'],
      ['a label that overruns', '0561'],
      ['a question with half its type', '016100 00'],
      ['a question with half its class', '016100 0001 00'],
      ['a label of the type 01 (RFC 6891 §5)', '4161 00 0001 0001'],
      ['a label of the type 10', '8161 00 0001 0001'],
      ['a label length of 64', `40${'61'.repeat(64)} 00 0001 0001`],
      ['a question that points at itself', 'c00c 0001 0001'],
      ['a question that points forward', 'c010 0001 0001 00'],
      ['a question that points into the header', 'c004 0001 0001'],
      ['a question that points at the end', 'c0ff 0001 0001'],
      ['a pointer behind a label', '0161 c00c 0001 0001'],
      ['half a pointer', 'c0'],
      ['a name of 256 bytes', `${labels192}${label62}00 0001 0001`],
      [
        'a name of 256 bytes that ends with a short label',
        `${labels192}3b${'61'.repeat(59)}0261 61 00 0001 0001`,
      ],
    ] as const
  ).map(([name, body]) => ({ name, bytes: messageOf({ body }), rcode: FORMERR })),
  ...(
    [
      ['a question without its type', '016100'],
      ['a question without its class', '016100 0001'],
    ] as const
  ).map(([name, body]) => ({ name, bytes: messageOf({ body }), rcode: REFUSED })),
]

/** What is wrong behind a question that can be read. */
export const BROKEN_RECORDS: readonly RefusalCase[] = [
  ...(
    [
      ['a byte of an additional record', [1, 0, 0, 1], '00'],
      ['two answers', [1, 2, 0, 0], record('00').repeat(2)],
      ['two authorities', [1, 0, 2, 0], record('00').repeat(2)],
      ['three additional records', [1, 0, 0, 3], `${opt}${record('00').repeat(2)}`],
      ['65535 of each record, none there', [1, 65535, 65535, 65535], ''],
      ['65535 of each record, one there', [1, 65535, 65535, 65535], record('00')],
      ['a record that ends in its fixed part', [1, 1, 0, 0], '00 0001 0001 00000000 00'],
      ['rdata that overruns', [1, 1, 0, 0], '00 0001 0001 00000000 0005 c0000201'],
      ['rdata of 65535 bytes that are not there', [1, 0, 0, 1], '00 0001 0001 00000000 ffff 00'],
      ['an owner of label type 01', [1, 1, 0, 0], record('4161 00')],
      ['an owner of label type 10', [1, 1, 0, 0], record('8161 00')],
      ['an owner that points at itself', [1, 1, 0, 0], record('c01f')],
      ['an owner whose pointer points at its own label', [1, 1, 0, 0], record('0161 c01f')],
      ['an owner that points forward', [1, 1, 0, 0], record('c030')],
      ['an owner that points into the header', [1, 1, 0, 0], record('c00b')],
      ['an owner that points behind the message', [1, 1, 0, 0], record('ffff')],
      ['an owner of half a pointer', [1, 1, 0, 0], 'c0'],
      ['an owner of 256 bytes', [1, 1, 0, 0], record(`${labels192}${label62}00`)],
      ['an owner of 257 bytes', [1, 1, 0, 0], record(`${labels192}${label63}00`)],
      [
        'an owner of 256 bytes and more by its pointer',
        [1, 1, 0, 0],
        record(`${labels192}${label62}c00c`),
      ],
      ['an owner over 257 bytes', [1, 1, 0, 0], record(`${labels192}${label63}0161 00`)],
    ] as const
  ).map(([name, counts, body]) => ({
    name,
    bytes: messageOf({ counts, body: question + body }),
    rcode: FORMERR,
    echoes: true as const,
  })),
  ...(['00f9', '00fa'] as const).map((type) => ({
    name: `a question of type ${Number.parseInt(type, 16)}, which secures but is not data`,
    bytes: messageOf({ counts: [1, 0, 0, 1], body: `016100 ${type} 0001 ${opt}` }),
    rcode: FORMERR,
    echoes: true as const,
    hasEdns: true as const,
  })),
]

/** What is wrong with the OPT record; the reply has one only when it can be read. */
export const BROKEN_EDNS: readonly RefusalCase[] = [
  ...(
    [
      ['an option that overruns by a byte', [1, 0, 0, 1], `${opt.slice(0, -4)}0005 000a000200`],
      ['an option of 65535 bytes', [1, 0, 0, 1], `${opt.slice(0, -4)}0004 000affff`],
      ['an option without its length', [1, 0, 0, 1], `${opt.slice(0, -4)}0002 000a`],
      ['one byte of an option', [1, 0, 0, 1], `${opt.slice(0, -4)}0001 00`],
      ['a good option and half of one', [1, 0, 0, 1], `${opt.slice(0, -4)}0007 000a0000 000a00`],
      [
        'an option that overruns into the next record',
        [1, 0, 0, 2],
        `${opt.slice(0, -4)}0004 000a0004 ${record('00')}`,
      ],
      [
        'an option that overruns, of a version we do not know',
        [1, 0, 0, 1],
        '00 0029 04d0 00010000 0004 000a0001',
      ],
    ] as const
  ).map(([name, counts, body]) => ({
    name,
    bytes: messageOf({ counts, body: question + body }),
    rcode: FORMERR,
    echoes: true as const,
  })),
  ...['01', '64', 'ff'].map((version) => ({
    name: `EDNS version ${Number.parseInt(version, 16)}, with flags and an option we do not know`,
    bytes: messageOf({
      counts: [1, 0, 0, 1],
      body: `${question} 00 0029 04d0 00${version}ffff 0006 0064 0002 beef`,
    }),
    rcode: BADVERS,
    echoes: true as const,
    hasEdns: true as const,
  })),
]
