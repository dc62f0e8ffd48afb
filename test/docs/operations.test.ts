/**
 * The units and the manifest of docs/operations.md; test/clients/operations.suite.ts runs them.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../../src/cli/commands.ts'
import { read, section, tableRows } from './pages.ts'

const PAGE = read('docs/operations.md')

describe('docs/operations.md', () => {
  test('has a socket unit and a service unit, whose lines are sections or settings', () => {
    const units = [...PAGE.matchAll(/```ini\n([\s\S]*?)```/g)].map(([, text = '']) => text)
    assert.equal(units.length, 2)
    for (const line of units.join('').split('\n')) assert.match(line, /^$|^\[\w+\]$|^\w+=\S.*$/)
  })

  test('starts a command that exists', () => {
    const [, command = '', flag] = /^ExecStart=\S+ (\S+) --(\S+)/m.exec(PAGE) ?? []
    const found = COMMANDS.find(({ name }) => name === command)
    assert.ok(found?.flags?.some((name) => name === flag))
  })

  test('drops every capability but one', () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(PAGE) ?? []
    const { securityContext } = parse(text)
    assert.deepEqual(securityContext.capabilities, { drop: ['ALL'], add: ['NET_BIND_SERVICE'] })
  })

  test('has a CronJob of the image that npm run image makes, with all that it mounts', () => {
    const [, text = ''] = /```yaml\n(apiVersion: batch[\s\S]*?)```/.exec(PAGE) ?? []
    const { containers, volumes } = parse(text).spec.jobTemplate.spec.template.spec
    const [{ image, volumeMounts }] = containers
    const { repository } = parse(read('deploy/chart/values.yaml')).image
    assert.equal(image, `${repository}:${JSON.parse(read('package.json')).version}`)
    const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name)
    assert.deepEqual(names(volumeMounts), names(volumes))
  })

  test('has sizes that the pages with the measurements have', () => {
    const pages = ['docs/benchmarks.md', 'deploy/README.md', 'docs/exporter.md'].map(read).join(' ')
    const rows = tableRows(section(PAGE, '## Sizes'))
    assert.ok(rows.length > 3)
    for (const [, , memory = '', command = ''] of rows) {
      for (const size of memory.split('; ')) {
        const number = size.replace(/ (MB|MiB)$/, '')
        assert.match(pages, new RegExp(`\\b${number}\\b[^|]{0,8} (MB|MiB)`), size)
      }
      const [, script = ''] = /^`npm run (bench|test:\w+)/.exec(command) ?? []
      assert.ok(script in JSON.parse(read('package.json')).scripts, command)
    }
  })

  test('names metrics that the code writes', () => {
    const code =
      read('src/server/serve/process-metrics.ts') + read('src/server/http/health-probe.ts')
    for (const name of ['kubedoh_udp_dropped_total', 'process_resident_memory_bytes']) {
      assert.ok(PAGE.includes(name) && code.includes(name))
    }
    assert.ok(code.includes('nodejs_eventloop_lag_'))
  })
})
