import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeHuffman, huffmanBytesMax } from '../../src/http2/huffman.ts'
import { huffman } from './hpack-encoder.ts'

function decode(hex: string): string | undefined {
  const bytes = Buffer.from(hex, 'hex')
  const out = Buffer.alloc(huffmanBytesMax(bytes.length))
  const size = decodeHuffman(bytes, 0, bytes.length, out)
  return size < 0 ? undefined : out.toString('latin1', 0, size)
}

describe('decodeHuffman', () => {
  // Strings of RFC 7541 appendix C.4 and C.6.
  const cases: readonly (readonly [string, string])[] = [
    ['f1e3c2e5f23a6ba0ab90f4ff', 'www.example.com'],
    ['a8eb10649cbf', 'no-cache'],
    ['25a849e95ba97d7f', 'custom-key'],
    ['25a849e95bb8e8b4bf', 'custom-value'],
    ['6402', '302'],
    ['aec3771a4b', 'private'],
    ['d07abe941054d444a8200595040b8166e082a62d1bff', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['9d29ad171863c78f0b97c8e9ae82ae43d3', 'https://www.example.com'],
    ['640eff', '307'],
    ['9bd9ab', 'gzip'],
    [
      '94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ],
    ['', ''],
    // The longest codes: 0xf9 has 28 bits, 10 has 30.
    ['ffffffe' + 'f', '\xf9'],
    ['fffffff' + '3', '\n'],
  ]
  for (const [hex, text] of cases) {
    test(`decodes ${hex} to ${JSON.stringify(text)}`, () => assert.equal(decode(hex), text))
  }

  const broken: readonly (readonly [string, string])[] = [
    ['padding of eight bits', 'f1e3c2e5f23a6ba0ab90f4ffff'],
    ['padding of zeros', 'f1e3c2e5f23a6ba0ab90f400'],
    ['only padding of eight bits', 'ff'],
    ['EOS', 'ffffffff'],
    ['EOS before more', 'fffffffc00'],
    ['a long code that ends early', 'ffff'],
  ]
  for (const [name, hex] of broken) {
    test(`refuses ${name}`, () => assert.equal(decode(hex), undefined))
  }

  test('reads only between its bounds', () => {
    const bytes = Buffer.from('ffff6402ffff', 'hex')
    const out = Buffer.alloc(10)
    assert.equal(decodeHuffman(bytes, 2, 4, out), 3)
    assert.equal(out.toString('latin1', 0, 3), '302')
  })

  test('gives back every text in ASCII', () => {
    const text = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')
    for (let i = 0; i < text.length; i++) {
      const one = text.slice(i) + text.slice(0, i)
      const coded = huffman(one)
      assert.ok(coded !== undefined)
      assert.equal(decode(Buffer.from(coded).toString('hex')), one)
    }
  })

  test('reads long codes between short ones, wherever they begin', () => {
    // 30 bits for LF, 28 for 0xf9, 10 for the question mark, 5 for 0.
    const codes = {
      '\n': `${'1'.repeat(28)}00`,
      '\xf9': `${'1'.repeat(27)}0`,
      '?': '1111111100',
      0: '00000',
    }
    const letters = Object.entries(codes)
    let state = 1
    for (let i = 0; i < 500; i++) {
      let [text, bits] = ['', '']
      for (let length = i % 12; length >= 0; length--) {
        state = (state * 48_271) % 0x7fff_ffff
        const [character = '', code = ''] = letters[state % letters.length] ?? []
        text += character
        bits += code
      }
      bits += '1'.repeat((8 - (bits.length % 8)) % 8)
      const octets = (bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2))
      assert.equal(decode(Buffer.from(octets).toString('hex')), text)
    }
  })

  test('has room for what the shortest codes make', () => {
    const zeros = '00'.repeat(50)
    assert.equal(decode(zeros), '0'.repeat(80))
    assert.equal(huffmanBytesMax(50), 80)
  })
})
