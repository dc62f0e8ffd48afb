import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatRcode, OPCODE, parseRcode, RCODE } from '../../../src/dns/names/rcode.ts'
import { messageOf } from '../wire/messages.ts'
import { decodeMessage } from '../wire/oracle.ts'

describe('RCODE', () => {
  for (const [name, value] of Object.entries(RCODE)) {
    // The second decoder is older than RFC 8490.
    if (value > 15 || name === 'DSOTYPENI') continue
    test(`${name} has the same mnemonic in another library`, () => {
      const reply = decodeMessage(messageOf({ flags: 0x8000 | value, counts: [0, 0, 0, 0] }))
      assert.equal(reply.rcode, name)
    })
  }

  test('those that need an OPT record are the ones IANA lists', () => {
    const { BADVERS, BADKEY, BADTIME, BADMODE, BADNAME, BADALG, BADTRUNC, BADCOOKIE } = RCODE
    assert.deepEqual(
      [BADVERS, BADKEY, BADTIME, BADMODE, BADNAME, BADALG, BADTRUNC, BADCOOKIE],
      [16, 17, 18, 19, 20, 21, 22, 23],
    )
  })
})

describe('OPCODE', () => {
  for (const [name, value] of Object.entries(OPCODE)) {
    if (name === 'DSO') continue
    test(`${name} has the same mnemonic in another library`, () => {
      const query = decodeMessage(messageOf({ flags: value << 11, counts: [0, 0, 0, 0] }))
      assert.equal(query.opcode, name)
    })
  }

  test('DSO is 6 (RFC 8490 §5.1)', () => {
    assert.equal(OPCODE.DSO, 6)
  })
})

describe('formatRcode and parseRcode', () => {
  test('know other names of the same codes', () => {
    assert.deepEqual(['badsig', 'NOTIMPL'].map(parseRcode), [RCODE.BADVERS, RCODE.NOTIMP])
    assert.equal(RCODE.DSOTYPENI, 11)
  })

  test('undo each other for every code with a name', () => {
    for (const value of Object.values(RCODE)) assert.equal(parseRcode(formatRcode(value)), value)
  })

  test('write a code without a name as its number', () => {
    assert.equal(formatRcode(12), 'RCODE12')
  })

  test('read any letter case', () => {
    assert.equal(parseRcode('nxDomain'), 3)
  })

  for (const text of ['', 'RCODE3', '3', 'constructor', 'toString']) {
    test(`refuse ${JSON.stringify(text)}`, () => {
      assert.equal(parseRcode(text), undefined)
    })
  }
})
