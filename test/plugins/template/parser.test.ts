import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { TemplateError } from '../../../src/plugins/template/datum.ts'
import { parseTemplate } from '../../../src/plugins/template/parser.ts'
import { outcomeOf, testOutcomes } from './run-template.ts'

describe('the parser of templates', () => {
  testOutcomes([
    ['{{ }}', 'refused: expected a value, got }}'],
    ['{{ | }}', 'refused: expected a value, got |'],
    ['{{ .Name | }}', 'www.example.org.'],
    ['{{ nosuch }}', 'refused: there is no function "nosuch"'],
    ['{{ "a""b" }}', 'refused: expected a blank, got "b"'],
    ['{{ print(.Name) }}', 'refused: expected a blank, got ('],
    ['{{ (.Name }}', 'refused: expected a value, got }}'],
    ['{{ .Name) }}', 'refused: expected a value, got )'],
    ['{{ 1a }}', 'refused: 1a is not a number'],
    ['{{ "\\q" }}', 'refused: "\\q" has an escape that Go does not know'],
    ['{{ true.x }}', 'refused: ".x" cannot stand here: what is before it has no fields'],
    ['{{ .Name | 5 }}', 'refused: only a function or a method can be given what comes before "|"'],
    ['{{ $x }}', 'refused: there is no variable $x'],
    ['{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}', 'refused: there is no variable $x'],
    ['{{ $a, $b := 1 }}', 'refused: too many variables'],
    ['{{ range $a, $b, $c := .Match }}{{ end }}', 'refused: too many variables'],
    ['{{ range $a, 5 }}{{ end }}', 'refused: expected ":=" behind the variables'],
    ['{{ end }}', 'refused: {{end}} cannot stand here'],
    ['{{ else }}', 'refused: {{else}} cannot stand here'],
    ['{{ if true }}', 'refused: {{end}} is missing'],
    ['{{ if }}{{ end }}', 'refused: expected a value, got }}'],
    ['{{ if 1 }}{{ else }}{{ else }}{{ end }}', 'refused: a second {{else}} cannot stand here'],
    ['{{ with 1 }}{{ else if 2 }}{{ end }}', 'refused: expected "}}", got if'],
    ['{{ break }}', 'refused: {{break}} is outside of {{range}}'],
    ['{{ define x }}{{ end }}', 'refused: expected the name of a template in quotes, got x'],
    ['{{ define "x" }}a{{ else }}{{ end }}', 'refused: {{else}} cannot stand here'],
    ['{{ if 1 }}{{ define "x" }}{{ end }}{{ end }}', 'refused: {{define}} cannot stand here'],
    [
      '{{ define "x" }}a{{ end }}{{ define "x" }}b{{ end }}',
      'refused: the template "x" is defined twice',
    ],
    ['{{ end if }}', 'refused: {{end}} cannot stand here'],
    ['{{ if 1 }}{{ end 2 }}', 'refused: expected "}}", got 2'],
    ['{{ print if }}', 'refused: "if" cannot stand here'],
  ])

  test('bounds how deep parts stand within each other', () => {
    const nested = '{{ if 1 }}'.repeat(101) + '{{ end }}'.repeat(101)
    assert.equal(outcomeOf(nested), 'refused: at most 100 parts may stand within each other')
    const parentheses = `{{ ${'('.repeat(101)}1${')'.repeat(101)} }}`
    assert.equal(outcomeOf(parentheses), 'refused: at most 100 parts may stand within each other')
  })

  test('never throws anything but what is wrong', () => {
    const word = fc.constantFrom(
      ...['{{', '}}', '{{-', '-}}', '(', ')', '|', ',', ':=', '=', '$x', '.A', '.', '1', '"a"'],
      ...['if', 'else', 'end', 'range', 'with', 'define', 'template', 'block', 'break', 'f', '/*'],
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 16 }), (words) => {
        try {
          parseTemplate(words.join(' '), new Set('f'))
        } catch (error) {
          if (!(error instanceof TemplateError)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})
