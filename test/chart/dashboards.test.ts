/** The Grafana dashboards, by what needs no Grafana; `npm run test:chart` has its types. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { metricsOf, queriesOf, readDashboards } from './dashboards.ts'

const SOURCES = join(import.meta.dirname, '../../src')
/** A name of a metric in the code; a part of it may be a variable. */
const NAME = /['`]((?:coredns|kubedoh|leader_election|nodejs|process)_(?:\w|\$\{\w+\})+)['`]/g
const UNITS = ['none', 'bytes', 'Bps', 'percentunit', 'pps', 'reqps', 's']

const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readFileSync(join(SOURCES, file), 'utf8').matchAll(NAME)])
  .map(([, name = '']) => name.replaceAll(/\$\{\w+\}/g, '\\w+'))
const METRIC = new RegExp(`^(?:${[...new Set(names)].join('|')})(?:_bucket|_count|_sum)?$`)

for (const dashboard of readDashboards()) {
  const { name, text, panels, templating } = dashboard

  test(`each query has a metric, and the code has each: ${name}`, () => {
    for (const query of queriesOf(dashboard)) {
      const metrics = metricsOf(query)
      assert.ok(metrics.length > 0 || query.startsWith('sum(up{'), query)
      const unknown = metrics.filter((metric) => !METRIC.test(metric))
      assert.deepEqual(unknown, [], query)
    }
  })

  test(`each panel has a title, a unit and a place of its own: ${name}`, () => {
    const cells = new Set<string>()
    for (const { title, gridPos, fieldConfig } of panels) {
      assert.match(title, /^[\w ,/]+$/)
      assert.ok(UNITS.includes(fieldConfig.defaults.unit), title)
      assert.ok(gridPos.x + gridPos.w <= 24, title)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(!cells.has(`${x} ${y}`), title)
          cells.add(`${x} ${y}`)
        }
      }
    }
  })

  test(`queries use only the dashboard's variables: ${name}`, () => {
    const known = new Set([...templating.list.map((one) => one.name), '__rate_interval', '__range'])
    const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, variable = '']) => variable)
    assert.deepEqual(
      used.filter((variable) => !known.has(variable)),
      [],
    )
  })

  test(`each query is one of a cluster, where Prometheus has several: ${name}`, () => {
    assert.deepEqual(
      templating.list.map((one) => one.name),
      ['datasource', 'cluster', 'job', 'instance'],
    )
    for (const query of queriesOf(dashboard)) {
      const count = (part: string): number => query.split(part).length - 1
      assert.ok(count('{') > 0)
      assert.equal(count('cluster=~"$cluster"'), count('{'), query)
    }
  })
}
