/** Each alert of the chart links to its runbook, and each runbook is one of an alert. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const ALERTS = join(ROOT, 'deploy/chart/alerts')

type Rule = { readonly alert: string; readonly annotations: Readonly<Record<string, string>> }

const rules = readdirSync(ALERTS).flatMap((file) => {
  const { groups } = parse(readFileSync(join(ALERTS, file), 'utf8'))
  return groups.flatMap((group: { readonly rules: readonly Rule[] }) => group.rules)
})
const [, ...sections] = readFileSync(join(ROOT, 'docs/runbooks.md'), 'utf8').split(/^### /m)
const runbooks = new Map(sections.map((text) => [text.slice(0, text.indexOf('\n')), text]))

describe('a runbook', () => {
  for (const { alert, annotations } of rules) {
    test(`is linked by its alert: ${alert}, ${annotations.summary}`, () => {
      assert.equal(annotations.runbook_url, `docs/runbooks.md#${alert.toLowerCase()}`)
      assert.ok(runbooks.has(alert))
    })
  }

  test('is one of an alert', () => {
    const alerts = new Set<string>(rules.map(({ alert }: Rule) => alert))
    assert.deepEqual(new Set(runbooks.keys()), alerts)
  })

  for (const [name, text] of runbooks) {
    test(`has meaning, impact, look and mend: ${name}`, () => {
      const words = [...text.matchAll(/^- (\w+): \S/gm)].map(([, word]) => word)
      assert.deepEqual(words, ['Meaning', 'Impact', 'Look', 'Mend'])
    })
  }
})
