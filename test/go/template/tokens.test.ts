import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readTokens } from '../../../src/go/template/tokens.ts'
import { testOutcomes } from './run-template.ts'

describe('tokens of templates', () => {
  const cases: readonly [template: string, tokens: string][] = [
    ['a {{.B.C}} d', 'text:a  open:{{ field:.B field:.C close:}} text: d'],
    ['{{ $x := . }}', 'open:{{ _variable:$x _sign::= _dot:. close:}}'],
    [
      '{{printf "a" `b` \'c\' 1.5 -2}}',
      'open:{{ word:printf _string:"a" _string:`b` _character:\'c\' _number:1.5 _number:-2 close:}}',
    ],
    ['{{(a)|b}}', 'open:{{ sign:( word:a sign:) sign:| word:b close:}}'],
  ]
  for (const [template, tokens] of cases) {
    test(`are found in ${template}`, () => {
      const found = readTokens(template).map(
        ({ kind, text, isSpaced }) => `${isSpaced ? '_' : ''}${kind}:${text}`,
      )
      assert.equal(found.join(' '), `${tokens} end:the end of the template`)
    })
  }

  testOutcomes([
    ['text only', 'text only'],
    ['a }} b', 'a }} b'],
    ['{{ "{{" }} }}', '{{ }}'],
    ['a  {{- .Type -}}  b', 'aAAAAb'],
    ['a\n{{- /* comment */ -}}\n b', 'ab'],
    ['a {{/* comment */}} b', 'a  b'],
    ['{{-3}}', '-3'],
    ['{{- 3 -}}', '3'],
    ['{{/* open', 'refused: a comment must end right before "}}"'],
    ['{{/* c */ }}', 'refused: a comment must end right before "}}"'],
    ['{{ /* c */ }}', 'refused: "/" is not valid in an action'],
    ['{{ .Name', 'refused: an action is not closed by "}}"'],
    ['{{ .Name }', 'refused: "}" is not valid in an action'],
    ['{{ "a }}', 'refused: a " is not closed'],
    ['{{ .Na-me }}', 'refused: "-" cannot follow ".Na"'],
  ])
})
