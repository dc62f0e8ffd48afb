import assert from 'node:assert/strict'
import { test } from 'vitest'
import { allMetrics } from '../../../build/metrics-page.ts'

/** Suffixes that belong to the series of histograms. */
const OF_HISTOGRAMS = /_(count|sum|bucket)$/

test('metrics follow the naming conventions of Prometheus', () => {
  const metrics = allMetrics()
  assert.ok(metrics.length > 90, `only ${metrics.length} metrics were found`)
  for (const { name, help, type, labels } of metrics) {
    assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`)
    assert.doesNotMatch(name, OF_HISTOGRAMS)
    assert.match(help, /\w/, `${name} has no help`)
    assert.match(labels, /^([a-z_]+( |$))*$/)
  }
})
