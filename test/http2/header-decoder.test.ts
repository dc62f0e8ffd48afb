import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { HeaderDecoder, type HeaderList } from '../../src/http2/header-decoder.ts'
import { type Field, HpackEncoder, integer, literals } from './hpack-encoder.ts'
import { latin1 } from './peer.ts'

function decodeWith(decoder: HeaderDecoder, octets: Uint8Array): HeaderList | undefined {
  return decoder.decode(octets, 0, octets.length)
}

function textOf(list: HeaderList | undefined): string[] | undefined {
  return list?.fields.map(({ name, value }) => `${name}: ${value}`)
}

const bytesOf = (hex: string): Uint8Array =>
  new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

/** Examples of RFC 7541 appendix C: the blocks of one connection. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [string, readonly string[]])[]>> = {
  'C.2.1': [
    [
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      ['custom-key: custom-header'],
    ],
  ],
  'C.2.2': [['040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path']]],
  'C.2.3': [['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret']]],
  'C.2.4': [['82', [':method: GET']]],
  'C.3': [
    [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    ],
    [
      '8286 84be 5808 6e6f 2d63 6163 6865',
      [
        ':method: GET',
        ':scheme: http',
        ':path: /',
        ':authority: www.example.com',
        'cache-control: no-cache',
      ],
    ],
    [
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      [
        ':method: GET',
        ':scheme: https',
        ':path: /index.html',
        ':authority: www.example.com',
        'custom-key: custom-value',
      ],
    ],
  ],
  'C.4': [
    [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    ],
    [
      '8286 84be 5886 a8eb 1064 9cbf',
      [
        ':method: GET',
        ':scheme: http',
        ':path: /',
        ':authority: www.example.com',
        'cache-control: no-cache',
      ],
    ],
    [
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      [
        ':method: GET',
        ':scheme: https',
        ':path: /index.html',
        ':authority: www.example.com',
        'custom-key: custom-value',
      ],
    ],
  ],
}

describe('HeaderDecoder', () => {
  for (const [section, blocks] of Object.entries(EXAMPLES)) {
    test(`decodes the example of RFC 7541 ${section}`, () => {
      const decoder = new HeaderDecoder(latin1)
      for (const [hex, fields] of blocks)
        assert.deepEqual(textOf(decodeWith(decoder, bytesOf(hex))), fields)
    })
  }

  const broken: readonly (readonly [string, string])[] = [
    ['index 0', '80'],
    ['an index beyond all tables', 'be'],
    ['a name beyond all tables', '7f00'],
    ['an index of more than 2^28', 'ffffffffff7f'],
    ['an index that breaks off', 'ff'],
    ['a name that breaks off', '000a6375'],
    ['a value that breaks off', '0001610562'],
    ['a literal without a value', '000161'],
    ['a length of more than there is', '00017f7f80808001'],
    ['a size of the table over 4096', '3fe21f'],
    ['a size of the table after a field', '8220'],
    ['a Huffman code with EOS', '000161 84ffffffff'],
  ]
  for (const [name, hex] of broken) {
    test(`refuses ${name}`, () => {
      assert.equal(decodeWith(new HeaderDecoder(latin1), bytesOf(hex)), undefined)
    })
  }

  test('takes sizes of the table before all fields', () => {
    assert.deepEqual(textOf(decodeWith(new HeaderDecoder(latin1), bytesOf('203fe11f82'))), [
      ':method: GET',
    ])
  })

  test('keeps no more fields than are taken, and goes on with the next block', () => {
    const encoder = new HpackEncoder()
    const decoder = new HeaderDecoder(latin1)
    const large: Field = ['x', 'a'.repeat(3000)]
    const ways = Array.from(
      { length: 40 },
      () => ({ indexing: 'incremental', isHuffman: false }) as const,
    )
    const list = decodeWith(
      decoder,
      encoder.encode(
        Array.from({ length: 40 }, () => large),
        ways,
      ),
    )
    assert.equal(list?.isTooLarge, true)
    assert.ok(list.fields.length < 25)
    assert.deepEqual(textOf(decodeWith(decoder, encoder.encode([large]))), [`x: ${large[1]}`])
  })

  test('keeps no more fields than 256, however small they are', () => {
    const list = decodeWith(new HeaderDecoder(latin1), new Uint8Array(60_000).fill(0x82))
    assert.equal(list?.fields.length, 256)
    assert.equal(list.isTooLarge, true)
  })

  test('refuses a block of more bytes than are taken', () => {
    assert.equal(
      decodeWith(new HeaderDecoder(latin1), new Uint8Array(65_537).fill(0x82)),
      undefined,
    )
  })

  for (const [name, value, isValid] of [
    ['a', 'b', true],
    ['A', 'b', false],
    ['a', 'b\r\nc: d', false],
    ['te', 'trailers', true],
    ['te', 'gzip', false],
    ['connection', 'close', false],
  ] as const) {
    test(`says whether "${name}: ${JSON.stringify(value)}" may be there`, () => {
      const list = decodeWith(new HeaderDecoder(latin1), literals([[name, value]]))
      assert.equal(list?.isValid, isValid)
    })
  }

  test('gives back what an encoder was given, in any representation', () => {
    const character = fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code))
    const text = fc.array(character, { maxLength: 60 }).map((all) => all.join(''))
    const field = fc.tuple(fc.constantFrom('a', 'b', 'cookie', 'x-long-name'), text)
    const way = fc.record({
      indexing: fc.constantFrom('incremental', 'none', 'never'),
      isHuffman: fc.boolean(),
    })
    const block = fc.record({
      fields: fc.array(field, { maxLength: 12 }),
      ways: fc.array(way, { maxLength: 12 }),
      size: fc.option(fc.integer({ min: 0, max: 4096 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
        const [encoder, decoder] = [new HpackEncoder(), new HeaderDecoder(latin1)]
        for (const { fields, ways, size } of blocks) {
          const update = size === undefined ? new Uint8Array(0) : encoder.resize(size)
          const octets = Buffer.concat([update, encoder.encode(fields, ways)])
          const wanted = fields.map(([name, value]) => `${name}: ${value}`)
          assert.deepEqual(textOf(decodeWith(decoder, octets)), wanted)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('never throws, whatever the bytes', () => {
    const decoder = new HeaderDecoder(latin1)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        decodeWith(decoder, octets)
      }),
      { numRuns: 3000 },
    )
  })

  test('reads integers as RFC 7541 §5.1 writes them', () => {
    assert.deepEqual(integer(10, 0, 31), [10])
    assert.deepEqual(integer(1337, 0, 31), [31, 154, 10])
    const long: Field = ['x', 'v'.repeat(1337)]
    const list = decodeWith(new HeaderDecoder(latin1), literals([long]))
    assert.equal(list?.fields[0]?.value.length, 1337)
  })
})
