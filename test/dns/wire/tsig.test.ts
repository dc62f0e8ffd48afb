import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes, formatHex, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import { lowerName, nameOf } from '../../../src/dns/names/name.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import {
  appendTsig,
  findTsig,
  sized,
  type Tsig,
  tsigTimers,
  tsigVariables,
  uint48,
  unsignedMessage,
  writeTsig,
} from '../../../src/dns/wire/tsig.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { wireName } from '../../generators.ts'

const TSIG: Tsig = {
  name: nameOf('Key.test'),
  ttlSeconds: 0,
  algorithm: nameOf('hmac-SHA1'),
  timeSeconds: 0x0102_0304_0506,
  fudgeSeconds: 300,
  mac: Uint8Array.of(1, 2, 3),
  originalId: 0xabcd,
  error: 18,
  other: Uint8Array.of(9),
}
const KEY = '034b6579' + '0474657374' + '00'
const ALGORITHM = '09686d61632d53484131' + '00'

function lower(hex: string): string {
  return formatHex(lowerName(Uint8Array.from(Buffer.from(hex, 'hex'))))
}

test('writeTsig has the parts in their order', () => {
  const rdata = `${ALGORITHM}010203040506012c0003010203abcd0012000109`
  const size = (rdata.length / 2).toString(16).padStart(4, '0')
  assert.equal(formatHex(writeTsig(TSIG)), `${KEY}00fa00ff00000000${size}${rdata}`)
})

test('tsigVariables has all but the MAC and the ID, names in lower case', () => {
  const is = `${lower(KEY)}00ff00000000${lower(ALGORITHM)}010203040506012c0012000109`
  assert.equal(formatHex(tsigVariables(TSIG)), is)
})

test('tsigTimers has the time and the fudge', () => {
  assert.equal(formatHex(tsigTimers(TSIG)), '010203040506012c')
})

test('sized has the size before the bytes', () => {
  assert.equal(formatHex(sized(Uint8Array.of(7, 8))), '00020708')
})

test('uint48 has 48 bits', () => {
  assert.equal(formatHex(uint48(2 ** 48 - 1)), 'ffffffffffff')
  assert.equal(formatHex(uint48(2 ** 32)), '000100000000')
})

describe('findTsig', () => {
  const message = writeQuery({ name: nameOf('www.test'), type: 1, id: 7, udpBytes: 1232 })
  const find = (bytes: Uint8Array): ReturnType<typeof findTsig> => {
    const query = parseQuery(bytes)
    assert.equal(query.kind, 'query')
    return query.kind === 'query' ? findTsig(query) : undefined
  }

  test('finds none in a message without one', () => {
    assert.equal(find(message), undefined)
    assert.equal(find(writeQuery({ name: nameOf('www.test'), type: 1 })), undefined)
  })

  test('parses an appended record, and returns the message', () => {
    const found = find(appendTsig(message, TSIG))
    assert.ok(typeof found === 'object')
    assert.deepEqual(found, { tsig: TSIG, start: message.length })
    const back = unsignedMessage(appendTsig(message, TSIG), found)
    const renamed = message.slice()
    writeUint16(renamed, 0, TSIG.originalId)
    assert.deepEqual(back, renamed)
  })

  test('takes no record for it but the last', () => {
    const opt = message.slice(-11)
    const bare = writeQuery({ name: nameOf('www.test'), type: 1, id: 7 })
    const signed = concatBytes(appendTsig(bare, TSIG), opt)
    writeUint16(signed, 10, 2)
    assert.equal(find(signed), undefined)
  })

  for (const cut of [1, 5, 20]) {
    test(`calls a record malformed that lacks ${cut} bytes`, () => {
      const record = writeTsig(TSIG)
      const head = TSIG.name.length + 10
      const short = record.slice(0, record.length - cut)
      writeUint16(short, head - 2, short.length - head)
      const signed = concatBytes(message, short)
      writeUint16(signed, 10, 2)
      assert.equal(find(signed), 'malformed')
    })
  }

  test('rejects a record with surplus bytes', () => {
    const record = concatBytes(writeTsig(TSIG), Uint8Array.of(0))
    writeUint16(record, TSIG.name.length + 8, record.length - TSIG.name.length - 10)
    const signed = concatBytes(message, record)
    writeUint16(signed, 10, 2)
    assert.equal(find(signed), 'malformed')
  })

  test('reads back whatever is written', () => {
    const octets = fc.uint8Array({ maxLength: 64 })
    const id = fc.nat(0xffff)
    const record = fc.record({
      ...{ name: wireName(), algorithm: wireName(), mac: octets, other: octets },
      ...{ originalId: id, error: id, fudgeSeconds: id },
      timeSeconds: fc.nat({ max: 2 ** 48 - 1 }),
      ttlSeconds: fc.nat({ max: 2 ** 32 - 1 }),
    })
    fc.assert(
      fc.property(record, (tsig) => {
        const is = { tsig: { ...tsig }, start: message.length }
        assert.deepEqual(find(appendTsig(message, tsig)), is)
      }),
    )
  })
})
