import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ConversionError } from '../../../src/operators/convert/conversion.ts'
import { writeCorefile } from '../../../src/operators/convert/corefile-text.ts'
import { parse } from '../../corefile/source.ts'

describe('writeCorefile', () => {
  test('writes blocks, indented, with comments', () => {
    const { corefile: text } = writeCorefile([
      { comment: 'one\nline', head: ['a:53', 'b'], lines: [] },
      {
        head: ['.'],
        lines: [['errors'], { head: ['cache', '30'], lines: [['success', '1']] }],
      },
    ])
    assert.equal(
      text,
      '# one line\na:53 b {\n}\n. {\n    errors\n    cache 30 {\n        success 1\n    }\n}\n',
    )
  })

  test('knows the field of each line', () => {
    const { corefile, fieldAt } = writeCorefile(
      [
        { head: ['a'], lines: [['x', 'two\nlines']], field: 'first', comment: 'one' },
        { head: ['b'], lines: [] },
        { head: ['c'], lines: [], field: 'last' },
      ],
      '. {\n}\n',
    )
    const fields = corefile.split('\n').map((_, i) => fieldAt(i + 1))
    const none = undefined
    const first = Array(5).fill('first')
    assert.deepEqual(fields, [none, none, ...first, none, none, 'last', 'last', none])
  })

  const words: { word: string; text: string }[] = [
    { word: 'a\\.b$', text: 'a\\.b$' },
    { word: 'a b', text: '"a b"' },
    { word: 'say "x"', text: '"say \\"x\\""' },
    { word: '', text: '""' },
    { word: '{', text: '"{"' },
    { word: 'a#b', text: '"a#b"' },
    { word: '{{ .Name }}', text: '"{{ .Name }}"' },
  ]
  for (const { word, text } of words) {
    test(`writes ${JSON.stringify(word)} so that it is read as it is`, () => {
      assert.equal(
        writeCorefile([{ head: ['.'], lines: [['x', word]] }]).corefile,
        `. {\n    x ${text}\n}\n`,
      )
    })
  }

  const refused: { word: string; message: string }[] = [
    { word: '{$HOME}', message: '"{$HOME}" would be read as an environment variable' },
    { word: '{%HOME%}', message: '"{%HOME%}" would be read as an environment variable' },
    { word: 'a b\\', message: '"a b\\" cannot be quoted in a Corefile' },
    { word: 'a \\" b', message: '"a \\" b" cannot be quoted in a Corefile' },
  ]
  for (const { word, message } of refused) {
    test(`refuses ${JSON.stringify(word)}`, () => {
      assert.throws(() => writeCorefile([{ head: ['.'], lines: [['x', word]] }]), {
        name: 'ConversionError',
        message,
      })
    })
  }

  test('writes any words so that they are read as they are, or refuses them', () => {
    const word = fc.oneof(fc.string(), fc.stringMatching(/^[a"\\ #{}$%\n]*$/))
    fc.assert(
      fc.property(fc.array(word), (args) => {
        try {
          const server = { head: ['.'], lines: [['x', ...args]] }
          const [block] = parse(writeCorefile([server]).corefile)
          assert.deepEqual(
            block?.directives[0]?.args.map(({ text }) => text),
            args,
          )
        } catch (error) {
          assert.ok(error instanceof ConversionError, String(error))
        }
      }),
      { numRuns: 1000 },
    )
  })
})
