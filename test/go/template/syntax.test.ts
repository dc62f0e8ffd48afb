import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TEMPLATE_FUNCTIONS } from '../../../src/go/template/functions.ts'
import { parseTemplate } from '../../../src/go/template/parser.ts'
import { formatParts } from '../../../src/go/template/syntax.ts'

describe('a template as Go writes it', () => {
  const cases: readonly [template: string, text: string][] = [
    ['{{ .Name }} 60 IN A {{index  .Match  1}}', '{{.Name}} 60 IN A {{index .Match 1}}'],
    ['{{ .A.B | printf "%s" (len $) true nil }}', '{{.A.B | printf "%s" (len $) true nil}}'],
    [
      '{{- if eq .A 0x1F -}} a {{ else if .B }}b{{ else }}c{{ end }}',
      '{{if eq .A 0x1F}}a {{else}}{{if .B}}b{{else}}c{{end}}{{end}}',
    ],
    [
      '{{ range $i, $x := .M }}{{ $x.Y }}{{ break }}{{ continue }}{{ end }}',
      '{{range $i, $x := .M}}{{$x.Y}}{{break}}{{continue}}{{end}}',
    ],
    [
      '{{ with $y := (index .A 0).B }}{{ . }}{{ end }}{{/* c */}}',
      '{{with $y := (index .A 0).B}}{{.}}{{end}}',
    ],
    ['{{ $z := 1 }}{{ $z = 2 }}', '{{$z := 1}}{{$z = 2}}'],
  ]
  for (const [template, text] of cases) {
    test(`is ${text}`, () => {
      assert.equal(formatParts(parseTemplate(template, new Set(TEMPLATE_FUNCTIONS.keys()))), text)
    })
  }
})
