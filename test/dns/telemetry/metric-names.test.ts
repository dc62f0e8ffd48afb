import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../../../src')
const METRIC =
  /(?:(?:const (\w+)(?:: \w+)? =|(\w+)\(|=>|\.(\w+)\()\s*)\{\s*name(?:: [`'"]([^`'"]+)[`'"])?,\s*help(?:: ([\s\S]*?))?,\s*labels/g
/** Suffixes that belong to the series of histograms. */
const OF_HISTOGRAMS = /_(count|sum|bucket)$/

type Defined = { readonly name: string; readonly help: string; readonly type: string }

/** Finds the metrics that the sources define; those with a computed name are in `computed`. */
function definedMetrics(texts: readonly string[]): {
  readonly metrics: Defined[]
  readonly computed: number
} {
  let computed = 0
  const metrics = texts.flatMap((text) =>
    [...text.matchAll(METRIC)].flatMap(([, constant, , method, name = '', help = '']) => {
      const usage = new RegExp(`\\.(counter|gauge|histogram)\\([^)]*\\b${constant}\\b`)
      const type = constant === undefined ? method : usage.exec(text)?.[1]
      if (type !== undefined && name !== '' && !name.includes('$')) return [{ name, help, type }]
      computed++
      return []
    }),
  )
  return { metrics, computed }
}

function sources(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  const paths = files.filter((path) => path.endsWith('.ts'))
  return paths.map((path) => readFileSync(join(SOURCES, path), 'utf8'))
}

test('metrics follow the naming conventions of Prometheus', () => {
  const texts = sources()
  const { metrics, computed } = definedMetrics(texts)
  for (const { name, help, type } of metrics) {
    assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`)
    assert.doesNotMatch(name, OF_HISTOGRAMS)
    assert.match(help, /\w/, `${name} has no help`)
  }
  for (const text of texts) assert.doesNotMatch(text, /\b[gG]auge\(\s*[`'"]\w+_total\b/)
  assert.ok(metrics.length > 30, `only ${metrics.length} metrics were found`)
  assert.ok(computed < 8, `${computed} metrics have names that this test cannot read`)
})
