import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { EMPTY_REPLY } from '../../../../src/dns/wire/message.ts'
import type { Client } from '../../../../src/resolver/contract/client.ts'
import type { Request } from '../../../../src/resolver/contract/request.ts'
import {
  type Metadata,
  parseData,
  parseUnsigned,
  subnetData,
} from '../../../../src/resolver/plugins/rewrite/edns0-data.ts'
import { parseQuestion } from '../../../message-text.ts'
import { serveWith } from '../../chain/serve-with.ts'
import { wordsOf } from './rules.ts'

/** A request from a client, 198.51.100.7 over UDP unless it says more. */
async function requestFrom(client: Partial<Client>): Promise<Request> {
  const requests: Request[] = []
  const server = serveWith({
    name: 'test',
    serve: (request) => {
      requests.push(request)
      return EMPTY_REPLY
    },
  })
  const { message } = parseQuestion('a.org A')
  const whole = { address: '198.51.100.7', port: 4242, transport: 'udp', ...client } as const
  await server.answer(message, whole)
  return requests[0] ?? assert.fail('no request')
}

const METADATA: Metadata = (label) => ({ 'kubernetes/pod': 'web', 'a/empty': '' })[label]

async function dataOf(text: string, client: Partial<Client> = {}): Promise<string | undefined> {
  const [word = assert.fail('no word')] = wordsOf(text)
  const request = await requestFrom(client)
  const asked = {
    request,
    name: 'Www.a.org.',
    type: 28,
    class: 1,
    options: undefined,
    ownOptions: new Set<number>(),
  }
  const data = parseData(word, METADATA).read(asked)
  return data && formatHex(data)
}

describe('parseData', () => {
  const local = { localAddress: '2001:db8::53', localPort: 53 }
  const cases: { text: string; client?: Partial<Client>; hex: string | undefined }[] = [
    { text: '0xAb01', hex: 'ab01' },
    { text: '0x', hex: '' },
    { text: '""', hex: '' },
    { text: 'a0X', hex: '613058' },
    { text: '{qname}', hex: Buffer.from('Www.a.org.').toString('hex') },
    { text: '{qtype}', hex: '001c' },
    { text: '{client_ip}', hex: 'c6336407' },
    { text: '{client_ip}', client: { address: '2001:db8::7' }, hex: `20010db8${'0'.repeat(23)}7` },
    { text: '{client_port}', hex: '1092' },
    { text: '{protocol}', hex: Buffer.from('udp').toString('hex') },
    { text: '{protocol}', client: { transport: 'https' }, hex: Buffer.from('tcp').toString('hex') },
    { text: '{server_ip}', client: local, hex: undefined },
    {
      text: '{server_ip}',
      client: { ...local, address: '2001:db8::7' },
      hex: `20010db8${'0'.repeat(22)}53`,
    },
    { text: '{server_ip}', client: { localAddress: '192.0.2.53' }, hex: 'c0000235' },
    { text: '{server_ip}', hex: undefined },
    { text: '{server_port}', client: local, hex: '0035' },
    { text: '{server_port}', hex: undefined },
    { text: '{kubernetes/pod}', hex: Buffer.from('web').toString('hex') },
    { text: '{kubernetes/node}', hex: undefined },
    { text: '{a/empty}', hex: undefined },
  ]
  for (const { text, client, hex } of cases) {
    test(`makes of ${text} ${hex === undefined ? 'nothing' : `"${hex}"`}`, async () => {
      assert.equal(await dataOf(text, client), hex)
    })
  }

  for (const text of ['{pod}', '{/pod}', '{kubernetes/}', '{}']) {
    test(`refuses ${text}`, () => {
      const [word = assert.fail('no word')] = wordsOf(`"${text}"`)
      assert.throws(() => parseData(word, METADATA), {
        message:
          `Corefile:2:8: "${text}" is not a variable: {qname}, {qtype}, {client_ip}, {client_port}, ` +
          '{protocol}, {server_ip}, {server_port}, or {PLUGIN/LABEL}',
      })
    })
  }

  test('refuses half a byte', () => {
    const [word = assert.fail('no word')] = wordsOf('0xabc')
    assert.throws(() => parseData(word, METADATA), {
      message: 'Corefile:2:8: "0xabc" is not pairs of hexadecimal digits',
    })
  })
})

describe('parseUnsigned', () => {
  const good: [text: string, value: number][] = [
    ['0', 0],
    ['65535', 65_535],
    ['0xffEE', 65_518],
    ['0o17', 15],
    ['017', 15],
    ['0b101', 5],
    ['1_0', 10],
  ]
  for (const [text, value] of good) {
    test(`reads ${text} as ${value}`, () => {
      const [word = assert.fail('no word')] = wordsOf(text)
      assert.equal(parseUnsigned(word, 65_535), value)
    })
  }

  for (const text of ['65536', '-1', '08', '0x', 'a', '1_', '_1', '1e3', '']) {
    test(`refuses "${text}"`, () => {
      const [word = assert.fail('no word')] = wordsOf(`"${text}"`)
      assert.throws(() => parseUnsigned(word, 65_535), {
        message: `Corefile:2:8: "${text}" is not a number from 0 to 65535`,
      })
    })
  }
})

describe('subnetData', () => {
  const cases: { bits: string; address: string; hex: string | undefined }[] = [
    { bits: '24 56', address: '198.51.100.7', hex: '00011800c63364' },
    { bits: '32 56', address: '198.51.100.7', hex: '00012000c6336407' },
    { bits: '0 56', address: '198.51.100.7', hex: '00010000' },
    { bits: '9 56', address: '198.255.100.7', hex: '00010900c680' },
    { bits: '24 56', address: '2001:db8:1234:5678::7', hex: '0002380020010db8123456' },
    { bits: '24 128', address: '::1', hex: `00028000${'0'.repeat(31)}1` },
    { bits: '24 56', address: 'somewhere', hex: undefined },
  ]
  for (const { bits, address, hex } of cases) {
    test(`writes ${bits} bits of ${address}`, async () => {
      const [v4 = assert.fail('no word'), v6 = assert.fail('no word')] = wordsOf(bits)
      const request = await requestFrom({ address })
      const asked = {
        request,
        name: 'a.',
        type: 1,
        class: 1,
        options: undefined,
        ownOptions: new Set<number>(),
      }
      const data = subnetData(v4, v6)(asked)
      assert.equal(data && formatHex(data), hex)
    })
  }

  for (const [bits, problem] of [
    ['33 56', '8: "33" is not a number from 0 to 32'],
    ['24 129', '11: "129" is not a number from 0 to 128'],
  ] as const) {
    test(`refuses ${bits} bits`, () => {
      const [v4 = assert.fail('no word'), v6 = assert.fail('no word')] = wordsOf(bits)
      assert.throws(() => subnetData(v4, v6), { message: `Corefile:2:${problem}` })
    })
  }
})
