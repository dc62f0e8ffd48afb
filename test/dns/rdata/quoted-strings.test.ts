import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseQuotedStrings } from '../../../src/dns/rdata/quoted-strings.ts'

describe('a text of quoted strings', () => {
  const cases: { text: string; strings: string[] | undefined }[] = [
    { text: '"v=spf1 -all"', strings: ['v=spf1 -all'] },
    { text: ' "v=DKIM1; k=rsa; "\t"p=MIGf" ', strings: ['v=DKIM1; k=rsa; ', 'p=MIGf'] },
    { text: '"a""b"', strings: ['a', 'b'] },
    { text: '""', strings: [''] },
    { text: String.raw`"a\"b\\" "\065\."`, strings: ['a"b\\', 'A.'] },
    { text: '"grüße €" "\\195\\188"', strings: ['grüße €', 'ü'] },
    { text: '"two\nlines"', strings: ['two\nlines'] },
    { text: '', strings: undefined },
    { text: ' ', strings: undefined },
    { text: 'v=spf1 -all', strings: undefined },
    { text: 'a "b"', strings: undefined },
    { text: '"a" b', strings: undefined },
    { text: '"a', strings: undefined },
    { text: 'a"', strings: undefined },
    { text: '"a"b"', strings: undefined },
    { text: String.raw`"a\"`, strings: undefined },
    { text: String.raw`"\300"`, strings: undefined },
    { text: '"', strings: undefined },
  ]
  for (const { text, strings } of cases) {
    test(JSON.stringify(text), () => {
      const found = parseQuotedStrings(text)
      assert.deepEqual(
        found?.map((one) => new TextDecoder().decode(one)),
        strings,
      )
    })
  }

  test('takes no longer for a long one that is none', () => {
    for (const text of [`"${'a'.repeat(1_000_000)}`, `${'"" '.repeat(300_000)}x`]) {
      assert.equal(parseQuotedStrings(text), undefined)
    }
  })
})
