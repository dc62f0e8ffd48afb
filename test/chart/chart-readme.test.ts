/**
 * The chart's page, which the comments of its values make.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { parse } from 'yaml'
import { writeChartReadme } from '../../build/chart-readme.ts'

const CHART = join(import.meta.dirname, '../../deploy/chart')
const read = (name: string): string => readFileSync(join(CHART, name), 'utf8')

test("deploy/chart/README.md is that of the values: run 'node build/chart-readme.ts'", () => {
  assert.equal(read('README.md'), writeChartReadme())
})

test('deploy/chart/README.md has each value', () => {
  const values: Readonly<Record<string, unknown>> = parse(read('values.yaml'))
  const page = read('README.md')
  const names = Object.entries(values).flatMap(([part, fields]) => {
    const below = Object.keys(Object(fields))
    return below.length === 0 ? [part] : below.map((field) => `${part}.${field}`)
  })
  assert.ok(names.length > 100)
  assert.deepEqual(
    names.filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  )
})
