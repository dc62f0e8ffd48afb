/**
 * Alerts and dashboards of the chart: by promtool, and against Grafana's types.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { parse } from 'yaml'
import { describeUnless } from '../describe-unless.ts'
import { ALERT_CASES, type AlertCase, HEALTHY } from './alert-cases.ts'
import { queriesOf, readDashboards } from './dashboards.ts'
import { CHART } from './helm.ts'
import { compileDashboards, prepareGrafanaTypes, preparePromtool, run } from './tools.ts'

const ALERTS = join(CHART, 'alerts')
/** Minutes at which no alert may fire in a healthy system. */
const MINUTES = Array.from({ length: 49 }, (_, index) => 2 * index + 1)
const promtool = preparePromtool() ?? ''
const types = prepareGrafanaTypes() ?? ''

type Rule = {
  readonly alert: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

function rules(): Rule[] {
  return readdirSync(ALERTS).flatMap((file) => {
    const { groups } = parse(readFileSync(join(ALERTS, file), 'utf8'))
    return groups.flatMap((group: { rules: Rule[] }) => group.rules)
  })
}

describeUnless(promtool === '' && 'apt has no package prometheus', 'alerts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-alerts-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const check = (files: readonly string[], tests: readonly object[]) => {
    const path = join(folder, 'tests.json')
    writeFileSync(path, JSON.stringify({ rule_files: files, evaluation_interval: '1m', tests }))
    return run(promtool, ['test', 'rules', path])
  }

  for (const file of readdirSync(ALERTS)) {
    test(`are valid rules: ${file}`, () => {
      const { status, output } = run(promtool, ['check', 'rules', join(ALERTS, file)])
      assert.equal(status, 0, output)
    })
  }

  test('have a case each, of each severity', () => {
    const name = (alert: string, severity: string) => `${alert} ${severity}`
    assert.deepEqual(
      ALERT_CASES.map((one) => name(one.alert, one.severity)).toSorted(),
      rules()
        .map((one) => name(one.alert, one.labels.severity))
        .toSorted(),
    )
  })

  for (const one of ALERT_CASES) {
    const { alert, severity, minutes } = one
    test(`${alert} (${severity}) fires after ${minutes} minutes`, () => {
      const rule = rules().find((each) => each.alert === alert && each.labels.severity === severity)
      assert.ok(rule !== undefined)
      const path = join(folder, 'rule.json')
      writeFileSync(path, JSON.stringify({ groups: [{ name: 'one', rules: [rule] }] }))
      const { status, output } = check([path], [testOf(rule, one)])
      assert.equal(status, 0, output)
    })
  }

  test('none fires while all is well', () => {
    const tests = Object.entries(HEALTHY).map(([component, series]) => ({
      interval: '1m',
      input_series: inputOf(component, series),
      alert_rule_test: ALERT_CASES.filter((one) => one.component === component).flatMap((one) =>
        MINUTES.map((minute) => ({
          alertname: one.alert,
          eval_time: `${minute}m`,
          exp_alerts: [],
        })),
      ),
    }))
    const files = readdirSync(ALERTS).map((file) => join(ALERTS, file))
    const { status, output } = check(files, tests)
    assert.equal(status, 0, output.slice(0, 2000))
  })
})

/** Returns a test of promtool: the alert fires, and did not a minute before. */
function testOf(rule: Rule, { component, series, minutes, labels, description }: AlertCase) {
  const { alert, annotations } = rule
  // Only expressions without `by` and absent() keep the labels of the job.
  const isWhole = /Panicking|Refused/.test(alert)
  const job = isWhole ? { job: `kubedoh-${component}` } : {}
  const expected = {
    exp_labels: { ...rule.labels, ...job, ...labels },
    exp_annotations: { ...annotations, description },
  }
  return {
    interval: '1m',
    input_series: inputOf(component, series),
    alert_rule_test: [
      { alertname: alert, eval_time: `${minutes - 1}m`, exp_alerts: [] },
      { alertname: alert, eval_time: `${minutes}m`, exp_alerts: [expected] },
    ],
  }
}

function inputOf(component: string, series: Readonly<Record<string, string>>) {
  return Object.entries(series).map(([name, values]) => {
    const labels = `job="kubedoh-${component}",instance="one"`
    const [metric, rest = '}'] = name.split('{')
    return { series: `${metric}{${labels}${rest === '}' ? '' : ','}${rest}`, values }
  })
}

describeUnless(types === '' && 'npm has no @grafana/schema', "Grafana's types", () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-dashboards-'))
  beforeAll(() => symlinkSync(join(types, 'node_modules'), join(folder, 'node_modules')))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('take each dashboard', () => {
    const texts = new Map(readDashboards().map(({ name, text }) => [name, text]))
    const { status, output } = compileDashboards(folder, texts)
    assert.equal(status, 0, output)
  })

  test('refuse an unknown field', () => {
    const wrong = '{ "schemaVersion": 39, "panels": [{ "type": "stat", "gridPosition": {} }] }'
    const { status, output } = compileDashboards(folder, new Map([['wrong', wrong]]))
    assert.notEqual(status, 0)
    assert.match(output, /gridPosition/)
  })
})

describeUnless(promtool === '' && 'apt has no package prometheus', 'queries of dashboards', () => {
  test('are valid PromQL', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-queries-'))
    const queries = readDashboards()
      .flatMap(queriesOf)
      .map((query) => query.replaceAll(/\$__\w+/g, '5m'))
    const rows = queries.map((expr, index) => ({ record: `query:number:${index}`, expr }))
    const path = join(folder, 'rules.json')
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'queries', rules: rows }] }))
    const { status, output } = run(promtool, ['check', 'rules', path])
    rmSync(folder, { recursive: true })
    assert.equal(status, 0, output)
    assert.ok(output.includes(`${queries.length} rules found`), output)
  })
})
