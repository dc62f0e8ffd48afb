import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { asWordBytes, type WordBytes, wordBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { Compression } from '../../../src/dns/wire/compression.ts'
import { NameWriter } from '../../../src/dns/wire/name-writer.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { WireReader } from '../../../src/dns/wire/rdata-wire.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'

type Item = { readonly text: string; readonly mayPoint: boolean }

/** Names that often end alike, in letters of both cases. */
const nameText = fc
  .array(fc.constantFrom('a', 'b', 'A', 'cc', 'ns', 'dns', 'svc'), { maxLength: 6 })
  .map((labels) => (labels.length === 0 ? '.' : labels.join('.')))
const item: fc.Arbitrary<Item> = fc.record({ text: nameText, mayPoint: fc.boolean() })

/** Begins a message with a question. */
function begin(question: string): { writer: NameWriter; message: Uint8Array; end: number } {
  const query = parseQuery(writeQuery({ name: nameOf(question), type: TYPE.A }))
  if (query.kind !== 'query') throw new TypeError('Not a query')
  const message = new Uint8Array(70_000)
  message.set(query.bytes)
  const writer = new NameWriter(message)
  writer.begin(query)
  return { writer, message, end: query.questionEnd }
}

function write(question: string, items: readonly Item[]): Uint8Array {
  const { writer, message, end } = begin(question)
  let at = end
  for (const { text, mayPoint } of items) at = writer.write(at, nameOf(text), mayPoint)
  return message.slice(0, at)
}

describe('NameWriter', () => {
  test('writes the same bytes as a table of all names', () =>
    fc.assert(
      fc.property(nameText, fc.array(item, { maxLength: 24 }), (question, items) => {
        const table = new Compression()
        const { message, end } = begin(question)
        table.learn(message, 12)
        let at = end
        for (const { text, mayPoint } of items) {
          at = table.write(message, at, nameOf(text), 0, mayPoint)
        }
        assert.deepEqual(write(question, items), message.slice(0, at))
      }),
    ))

  test('writes joined names like complete ones, or returns 0', () =>
    fc.assert(
      fc.property(
        nameText,
        fc.array(item, { maxLength: 12 }),
        fc.nat(4),
        fc.nat(3),
        (question, items, cut, shift) => {
          const { writer, message, end } = begin(question)
          let at = end
          for (const { text, mayPoint } of items) {
            const name = nameOf(text)
            const starts = [...name.keys()].filter((i) => isLabelStart(name, i))
            const split = starts[Math.min(cut, starts.length - 1)] ?? 0
            const origin = name.slice(split)
            const next = writer.writeJoined(
              at,
              placed(name, shift),
              shift,
              split,
              asWordBytes(origin),
              mayPoint,
            )
            at = next > 0 ? next : writer.write(at, name, mayPoint)
          }
          assert.deepEqual(message.slice(0, at), write(question, items))
        },
      ),
    ))

  test('writes names that are read again', () =>
    fc.assert(
      fc.property(nameText, fc.array(item, { maxLength: 24 }), (question, items) => {
        const bytes = write(question, items)
        const reader = new WireReader(bytes, begin(question).end)
        for (const { text } of items) {
          assert.equal(
            formatName(reader.name()).toLowerCase(),
            formatName(nameOf(text)).toLowerCase(),
          )
        }
        assert.equal(reader.isBroken, false)
      }),
    ))

  const question = 'www.shop.example.org'
  const cases: { name: string; items: Item[]; bytes: number }[] = [
    {
      name: 'one pointer for the whole question',
      items: [{ text: question, mayPoint: true }],
      bytes: 2,
    },
    {
      name: 'a label and a pointer to the rest of it',
      items: [{ text: 'api.shop.example.org', mayPoint: true }],
      bytes: 6,
    },
    {
      name: 'no pointer where none may be',
      items: [{ text: question, mayPoint: false }],
      bytes: 22,
    },
    { name: 'the root without one', items: [{ text: '.', mayPoint: true }], bytes: 1 },
    { name: 'a stranger in full', items: [{ text: 'a.example.net', mayPoint: true }], bytes: 15 },
    {
      name: 'a pointer to a name that was written in full',
      items: [
        { text: 'a.example.net', mayPoint: false },
        { text: 'a.example.net', mayPoint: true },
      ],
      bytes: 17,
    },
  ]
  for (const { name, items, bytes } of cases) {
    test(`writes ${name}`, () => {
      assert.equal(write(question, items).length - begin(question).end, bytes)
    })
  }

  test('never points to a forgotten name', () => {
    const { writer, end } = begin(question)
    const next = writer.write(end, nameOf('a.example.net'), false)
    writer.forget()
    assert.equal(writer.write(next, nameOf('a.example.net'), true) - next, 15)
  })
})

/** Puts a name at an offset. */
function placed(name: Uint8Array, offset: number): WordBytes {
  const place = wordBytes(260)
  place.bytes.set(name, offset)
  return place
}

function isLabelStart(name: Uint8Array, offset: number): boolean {
  let at = 0
  while (at < offset) at += (name[at] ?? 0) + 1
  return at === offset
}
