/**
 * docs/one-corefile.md has a row for each plugin as its entry says, and its Corefile works in all
 * places.
 * @module
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { differenceAt, type GatewayKind } from '../../src/gateway/config/gateway-plugins.ts'
import type { PluginFacts } from '../../src/resolver/contract/plugin-entry.ts'
import { ALL_PLUGINS } from '../../src/resolver/plugins/all-plugins.ts'
import { runCli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { read } from './pages.ts'

const PAGE = read('docs/one-corefile.md')

/** The row of a plugin. */
function rowOf(facts: PluginFacts): string {
  const cell = (kind: GatewayKind): string => {
    const difference = differenceAt(facts, kind)
    if (difference === undefined) return 'yes'
    const { is, because } = difference
    return { refused: 'refused: ', ignored: 'no effect: ', noted: '', other: '' }[is] + because
  }
  const [gateway, worker] = [cell('gateway'), cell('worker')]
  return `| \`${facts.name}\` | ${gateway} | ${worker === gateway ? 'the same' : worker} |`
}

describe('docs/one-corefile.md', () => {
  test('has a row for each plugin that differs at gateways', () => {
    const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'))
    const differing = [...ALL_PLUGINS.values()].filter(({ gateways }) => gateways !== undefined)
    assert.deepEqual(rows, differing.map(rowOf))
  })

  test('names the plugins that work everywhere', () => {
    const same = [...ALL_PLUGINS.values()].filter(({ gateways }) => gateways === undefined)
    const [, named = ''] = /The same everywhere: ([^.]*)\./.exec(PAGE) ?? []
    assert.deepEqual(
      named.split(/[\s`]+/).filter((name) => name !== ''),
      same.map(({ name }) => name).sort(),
    )
  })

  const [, corefile = ''] = /```corefile\n([\s\S]*?)```/.exec(PAGE) ?? []
  for (const target of ['serve', 'gateway', 'worker']) {
    test(`has a Corefile for ${target}`, async (t) => {
      const db = 'example.org. 60 IN SOA ns.example.org. admin.example.org. 1 2 3 4 5\n'
      const files = { Corefile: corefile, 'zones/db.example.org': db, hosts: '' }
      const path = join(temporaryFolder(t, files), 'Corefile')
      process.env.UPSTREAM = 'https://dns.example.org/dns-query'
      const { status, stderr } = await runCli(['check', path, '--for', target])
      assert.equal(status, 0, stderr)
      assert.doesNotMatch(stderr, /missing or unreadable/)
    })
  }
})
