import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { TemplateError } from '../../../src/go/template/datum.ts'
import { parseTemplate } from '../../../src/go/template/parser.ts'
import { outcomeOf, testOutcomes } from './run-template.ts'

describe('the parser of templates', () => {
  testOutcomes([
    ['{{ }}', 'refused: expected a value, got }}'],
    ['{{ | }}', 'refused: expected a value, got |'],
    ['{{ .Name | }}', 'www.example.org.'],
    ['{{ nosuch }}', 'refused: there is no function "nosuch"'],
    ['{{ "a""b" }}', 'refused: expected a space, got "b"'],
    ['{{ print(.Name) }}', 'refused: expected a space, got ('],
    ['{{ (.Name }}', 'refused: expected a value, got }}'],
    ['{{ .Name) }}', 'refused: expected a value, got )'],
    ['{{ 1a }}', 'refused: 1a is not a number'],
    ['{{ "\\q" }}', 'refused: "\\q" has an invalid escape'],
    ['{{ true.x }}', 'refused: unexpected ".x": the value before it has no fields'],
    ['{{ .Name | 5 }}', 'refused: only a function or a method can follow "|"'],
    ['{{ $x }}', 'refused: there is no variable $x'],
    ['{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}', 'refused: there is no variable $x'],
    ['{{ $a, $b := 1 }}', 'refused: too many variables'],
    ['{{ range $a, $b, $c := .Match }}{{ end }}', 'refused: too many variables'],
    ['{{ range $a, 5 }}{{ end }}', 'refused: expected ":=" after the variables'],
    ['{{ end }}', 'refused: unexpected {{end}}'],
    ['{{ else }}', 'refused: unexpected {{else}}'],
    ['{{ if true }}', 'refused: {{end}} is missing'],
    ['{{ if }}{{ end }}', 'refused: expected a value, got }}'],
    ['{{ if 1 }}{{ else }}{{ else }}{{ end }}', 'refused: unexpected second {{else}}'],
    ['{{ with 1 }}{{ else if 2 }}{{ end }}', 'refused: expected "}}", got if'],
    ['{{ break }}', 'refused: {{break}} is outside of {{range}}'],
    [
      '{{ define "x" }}a{{ end }}',
      'refused: {{define}} is not supported: a template is a single record',
    ],
    ['{{ template "x" }}', 'refused: {{template}} is not supported: a template is a single record'],
    ['{{ block "x" . }}', 'refused: {{block}} is not supported: a template is a single record'],
    ['{{ html .Name }}', 'refused: the function "html" is not supported'],
    ['{{ printf "%s %-3U" .Name 1 }}', 'refused: printf does not support "%-3U"'],
    ['{{ printf "%*d" 5 1 }}', 'refused: printf does not support "%*"'],
    ['{{ printf "%[1]d" 5 }}', 'refused: printf does not support "%["'],
    ['{{ end if }}', 'refused: unexpected {{end}}'],
    ['{{ if 1 }}{{ end 2 }}', 'refused: expected "}}", got 2'],
    ['{{ print if }}', 'refused: unexpected "if"'],
  ])

  test('bounds how deep parts stand within each other', () => {
    const nested = '{{ if 1 }}'.repeat(101) + '{{ end }}'.repeat(101)
    assert.equal(outcomeOf(nested), 'refused: over 100 nested parts')
    const parentheses = `{{ ${'('.repeat(101)}1${')'.repeat(101)} }}`
    assert.equal(outcomeOf(parentheses), 'refused: over 100 nested parts')
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
