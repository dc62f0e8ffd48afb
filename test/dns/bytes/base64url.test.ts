import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  decodeBase64,
  decodeBase64url,
  encodeBase64,
  encodeBase64url,
} from '../../../src/dns/bytes/base64url.ts'
import { hex } from '../wire/messages.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
const strangers = ascii.filter((char) => !ALPHABET.includes(char))

describe('decodeBase64url', () => {
  const cases: { name: string; text: string; wire: string | undefined }[] = [
    { name: 'takes the empty text', text: '', wire: '' },
    { name: 'takes one byte (RFC 4648 §10)', text: 'Zg', wire: '66' },
    { name: 'takes two bytes', text: 'Zm8', wire: '666f' },
    { name: 'takes three bytes', text: 'Zm9v', wire: '666f6f' },
    { name: 'takes four bytes', text: 'Zm9vYg', wire: '666f6f62' },
    { name: 'takes five bytes', text: 'Zm9vYmE', wire: '666f6f6261' },
    { name: 'takes six bytes', text: 'Zm9vYmFy', wire: '666f6f626172' },
    { name: 'takes - and _ for 62 and 63', text: '-_-_', wire: 'fbffbf' },
    {
      name: 'takes the query of RFC 8484 §4.1.1',
      text: 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB',
      wire: '00000100000100000000000003777777076578616d706c6503636f6d0000010001',
    },
    {
      name: 'takes the long query of RFC 8484 §4.1.1',
      text:
        'AAABAAABAAAAAAAAAWE-NjJjaGFyYWN0ZXJsYWJlbC1tYWtlcy1iYXNlNjR1cmwtZGlz' +
        'dGluY3QtZnJvbS1zdGFuZGFyZC1iYXNlNjQHZXhhbXBsZQNjb20AAAEAAQ',
      wire:
        '000001000001000000000000' +
        '01613e3632636861726163746572 6c6162656c2d6d616b65732d62617365363475' +
        '726c2d64697374696e63742d66726f6d2d7374616e646172642d62617365363407' +
        '6578616d706c6503636f6d0000010001',
    },
    { name: 'refuses one character', text: 'A', wire: undefined },
    { name: 'refuses five characters', text: 'AAAAA', wire: undefined },
    { name: 'refuses padding', text: 'Zg==', wire: undefined },
    { name: 'refuses padding of one', text: 'Zm8=', wire: undefined },
    { name: 'refuses padding after whole groups', text: 'Zm9v=', wire: undefined },
    { name: 'refuses nothing but padding', text: '====', wire: undefined },
    { name: 'refuses a final line feed', text: 'Zm9v\n', wire: undefined },
    { name: 'refuses the first character beyond ASCII', text: 'AA\u0080A', wire: undefined },
    { name: 'refuses full-width letters', text: 'Ｚｍ９ｖ', wire: undefined },
    {
      name: 'refuses characters that are letters in their low bits',
      text: 'Ｚm9v\u0141',
      wire: undefined,
    },
  ]
  for (const { name, text, wire } of cases) {
    test(name, () => {
      const wanted = wire === undefined ? undefined : hex(wire)
      assert.deepEqual(decodeBase64url(text), wanted)
      assert.deepEqual(decodeBase64url(`/?${text}`, 2), wanted)
    })
  }

  test('refuses every other ASCII character, at each place of a group', () => {
    assert.equal(strangers.length, 64)
    for (const char of strangers) {
      for (let at = 0; at < 4; at++) {
        const text = `AAAA${'A'.repeat(at)}${char}${'A'.repeat(3 - at)}AAAA`
        assert.equal(decodeBase64url(text), undefined, JSON.stringify(text))
      }
    }
  })

  test('takes every character of the alphabet, at each place of a group', () => {
    for (const char of ALPHABET) {
      for (let at = 0; at < 4; at++) {
        const text = `${'A'.repeat(at)}${char}${'A'.repeat(3 - at)}`
        assert.deepEqual(
          decodeBase64url(text),
          new Uint8Array(Buffer.from(text, 'base64url')),
          text,
        )
      }
    }
  })

  test('refuses bits set after the last byte, so that each message has one spelling', () => {
    Array.from(ALPHABET).forEach((char, value) => {
      const one = decodeBase64url(`A${char}`)
      const two = decodeBase64url(`AA${char}`)
      assert.deepEqual(one, value % 16 === 0 ? Uint8Array.of(value >> 4) : undefined, `A${char}`)
      assert.deepEqual(two, value % 4 === 0 ? Uint8Array.of(0, value >> 2) : undefined, `AA${char}`)
    })
  })

  test('accepts a text exactly if encoding its bytes gives that text', () => {
    const text = fc.string({ unit: fc.constantFrom(...ALPHABET, '=', '+', '/', ' ', 'ä') })
    fc.assert(
      fc.property(text, (candidate) => {
        const canonical = Buffer.from(candidate, 'base64url').toString('base64url')
        assert.equal(decodeBase64url(candidate) !== undefined, canonical === candidate)
      }),
    )
  })
})

describe('decodeBase64url of long texts', () => {
  const long = ALPHABET.repeat(32)
  const cases: { name: string; text: string; isTaken: boolean }[] = [
    { name: 'takes whole groups', text: long, isTaken: true },
    { name: 'takes one byte more', text: `${long}Zg`, isTaken: true },
    { name: 'refuses a padded group', text: `${long}Zg==`, isTaken: false },
    { name: 'refuses a blank in front', text: ` ${long}AAA`, isTaken: false },
    { name: 'refuses line feeds within', text: `${long}\n\n\n\n${long}`, isTaken: false },
    { name: 'refuses the other alphabet', text: `${long}AAA+`, isTaken: false },
    { name: 'refuses letters beyond ASCII', text: `${long}AAAÄ`, isTaken: false },
  ]
  const native = Object.getOwnPropertyDescriptor(Uint8Array, 'fromBase64')
  for (const { name, text, isTaken } of cases) {
    const wanted = isTaken ? new Uint8Array(Buffer.from(text, 'base64url')) : undefined

    test(`${name}, by the runtime's decoder`, () => {
      assert.ok(native)
      assert.deepEqual(decodeBase64url(text), wanted)
    })

    test(`${name}, where the runtime has none`, (t) => {
      Reflect.deleteProperty(Uint8Array, 'fromBase64')
      t.onTestFinished(() => {
        if (native) Object.defineProperty(Uint8Array, 'fromBase64', native)
      })
      assert.deepEqual(decodeBase64url(text), wanted)
    })
  }
})

describe('encodeBase64url', () => {
  test('agrees with Buffer, and decodeBase64url reverses it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64url(bytes)
        assert.equal(text, Buffer.from(bytes).toString('base64url'))
        assert.deepEqual(decodeBase64url(text), bytes)
      }),
    )
  })
})

describe('base64 of zone files', () => {
  test('agrees with Buffer, and is reversible', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64(bytes)
        assert.equal(text, Buffer.from(bytes).toString('base64'))
        assert.deepEqual(decodeBase64(text), bytes)
      }),
    )
  })

  const refused: { name: string; text: string }[] = [
    { name: 'missing padding', text: 'Zg' },
    { name: 'too little padding', text: 'Zg=' },
    { name: 'too much padding', text: 'Zm9v====' },
    { name: 'padding in the middle', text: 'Zg==Zg==' },
    { name: 'nothing but padding', text: '====' },
    { name: 'the alphabet of URLs', text: '-_-_' },
    { name: 'blanks', text: 'Zm 9v' },
    { name: 'bits set after the last byte', text: 'Zh==' },
  ]
  for (const { name, text } of refused) {
    test(`refuses ${name}`, () => {
      assert.equal(decodeBase64(text), undefined)
    })
  }
})
