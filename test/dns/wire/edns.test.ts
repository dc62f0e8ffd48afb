import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes, formatHex, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import {
  EXTENDED_ERROR,
  extendedError,
  isBetweenNeighbours,
  isForwarded,
  OPTION,
  parseOptions,
  readExtendedError,
} from '../../../src/dns/wire/edns.ts'
import { hex, queryBytes } from './messages.ts'
import { decodeMessage } from './oracle.ts'

describe('OPTION', () => {
  /** Names that the oracle gives to options it knows. */
  const known: { code: number; type: string }[] = [
    { code: OPTION.NSID, type: 'NSID' },
    { code: OPTION.CLIENT_SUBNET, type: 'CLIENT_SUBNET' },
    { code: OPTION.EXPIRE, type: 'EXPIRE' },
    { code: OPTION.COOKIE, type: 'COOKIE' },
    { code: OPTION.KEEPALIVE, type: 'TCP_KEEPALIVE' },
    { code: OPTION.PADDING, type: 'PADDING' },
  ]
  for (const { code, type } of known) {
    test(`${type} has the same mnemonic in another library`, () => {
      const data = hex('0001000000000000')
      const bytes = queryBytes('example.org A', { udpBytes: 1232, options: [{ code, data }] })
      const opt = decodeMessage(bytes).additionals?.[0]
      assert.ok(opt?.type === 'OPT')
      assert.equal(opt.options[0]?.type, type)
    })
  }

  test('EXTENDED_ERROR is 15 (RFC 8914 §2)', () => {
    assert.equal(OPTION.EXTENDED_ERROR, 15)
  })
})

describe('EXTENDED_ERROR', () => {
  /** RFC 8914 §4. */
  const codes: Readonly<Record<keyof typeof EXTENDED_ERROR, number>> = {
    OTHER: 0,
    STALE_ANSWER: 3,
    NOT_READY: 14,
    BLOCKED: 15,
    FILTERED: 17,
    PROHIBITED: 18,
    STALE_NXDOMAIN: 19,
    NOT_AUTHORITATIVE: 20,
    NOT_SUPPORTED: 21,
    NO_REACHABLE_AUTHORITY: 22,
    NETWORK_ERROR: 23,
  }
  test('has the numbers of the RFC', () => {
    assert.deepEqual(EXTENDED_ERROR, codes)
  })
})

describe('isBetweenNeighbours', () => {
  test('is true for hop-by-hop options only', () => {
    const { NSID, EXPIRE, COOKIE, KEEPALIVE, PADDING } = OPTION
    for (const code of [NSID, EXPIRE, COOKIE, KEEPALIVE, PADDING]) {
      assert.equal(isBetweenNeighbours(code), true)
    }
    for (const code of [OPTION.CLIENT_SUBNET, OPTION.EXTENDED_ERROR, 65_001]) {
      assert.equal(isBetweenNeighbours(code), false)
    }
  })
})

describe('isForwarded', () => {
  test('is true for the network of a client only', () => {
    const codes = [...Object.values(OPTION), 0, 5, 13, 14, 20_292, 65_001]
    assert.deepEqual(codes.filter(isForwarded), [OPTION.CLIENT_SUBNET])
  })
})

describe('extendedError', () => {
  const cases: { name: string; code: number; text?: string; data: string }[] = [
    { name: 'is a code alone without text', code: 22, data: '0016' },
    { name: 'has its text after the code', code: 14, text: 'no', data: '000e6e6f' },
    { name: 'has its text in UTF-8, without a final zero', code: 0, text: 'ä', data: '0000c3a4' },
    { name: 'takes a code of two bytes', code: 0x1234, data: '1234' },
  ]
  for (const { name, code, text, data } of cases) {
    test(name, () => {
      const option = extendedError(code, text)
      assert.deepEqual([option.code, formatHex(option.data)], [15, data])
    })
  }
})

describe('parseOptions', () => {
  const cases: { name: string; wire: string; options: string[] }[] = [
    { name: 'finds none in nothing', wire: '', options: [] },
    { name: 'finds an option without data', wire: '000c0000', options: ['12:'] },
    { name: 'finds all, in order', wire: '000a0001ff 00030000', options: ['10:ff', '3:'] },
    { name: 'finds the same code twice', wire: '00030001aa 00030001bb', options: ['3:aa', '3:bb'] },
    { name: 'stops at one that overruns', wire: '00030000 000a0002ff', options: ['3:'] },
    { name: 'stops at half an option', wire: '00030000 000a00', options: ['3:'] },
  ]
  for (const { name, wire, options } of cases) {
    test(name, () => {
      const bytes = hex(`eeee${wire}eeee`)
      const found = parseOptions(bytes, 2, bytes.length - 4)
      assert.deepEqual(
        found.map(({ code, data }) => `${code}:${formatHex(data)}`),
        options,
      )
    })
  }

  test('returns copies that later messages do not change', () => {
    const bytes = hex('000a0001ff')
    const [option] = parseOptions(bytes, 0, bytes.length)
    bytes.fill(0)
    assert.deepEqual(option?.data, hex('ff'))
  })

  test('reads back any list of options', () => {
    const data = fc.uint8Array({ maxLength: 40 })
    const option = fc.record({ code: fc.nat(65535), data }, { noNullPrototype: true })
    fc.assert(
      fc.property(fc.array(option), (options) => {
        const parts = options.map(({ code, data }) => {
          const head = new Uint8Array(4)
          writeUint16(head, 0, code)
          writeUint16(head, 2, data.length)
          return concatBytes(head, data)
        })
        const bytes = concatBytes(...parts)
        assert.deepEqual(parseOptions(bytes, 0, bytes.length), options)
      }),
    )
  })

  test('never throws and never reads past its end', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(20), (bytes, start) => {
        const size = Math.max(0, bytes.length - start)
        const total = parseOptions(bytes, start, size).reduce(
          (n, { data }) => n + 4 + data.length,
          0,
        )
        assert.ok(total <= size)
      }),
    )
  })
})

test('readExtendedError returns code, name and text without control characters', () => {
  const data = (text: string): Uint8Array => extendedError(3, text).data
  assert.deepEqual(readExtendedError(data('')), { code: 3, name: 'Stale Answer', text: '' })
  assert.equal(readExtendedError(data('a\u001b[2Jb'))?.text, 'a\ufffd[2Jb')
  const unknown = readExtendedError(extendedError(49_152).data)
  assert.deepEqual(unknown, { code: 49_152, name: '', text: '' })
  assert.equal(readExtendedError(new Uint8Array([0])), undefined)
  for (const [name, code] of Object.entries(EXTENDED_ERROR)) {
    const read = readExtendedError(extendedError(code).data)?.name.toUpperCase() ?? ''
    assert.ok(read.replaceAll(' ', '_').startsWith(name), `${name}: ${read}`)
  }
})
