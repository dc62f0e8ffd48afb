/**
 * The pages in docs/migration: their commands run, and write the Corefile that the page shows. The
 * suite of the chart gives helm's commands to helm.
 * @module
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { afterAll, describe, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { isRecord } from '../../src/dns/bytes/unknown.ts'
import { MIGRATION_PAGES, type MigrationRun, runMigration } from './migration-pages.ts'
import { filesBelow, read } from './pages.ts'

const VALUES: unknown = parse(read('deploy/chart/values.yaml'))

/** The argument after each occurrence of an option. */
function optionsOf(call: readonly string[], option: RegExp): string[] {
  return call.flatMap((word, i) => (option.test(word) ? [call[i + 1] ?? ''] : []))
}

function hasValue(path: string): boolean {
  const found = path
    .split('.')
    .reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), VALUES)
  return found !== undefined
}

/** Labels of the chart's pods that have one. */
function podLabels(): Set<string> {
  const documents = parseAllDocuments(read('deploy/manifests/own-service.yaml'))
  const pods = documents.map((one) => one.toJS()?.spec?.template?.metadata?.labels ?? {})
  return new Set(pods.flatMap((labels) => Object.entries(labels).map(([k, v]) => `${k}=${v}`)))
}

describe('pages of the migration', () => {
  test('are all in the overview', () => {
    const overview = read('docs/migration/README.md')
    for (const page of MIGRATION_PAGES) {
      assert.ok(overview.includes(`(${page.replace('docs/migration/', '')})`), page)
    }
  })

  test('have a section on the way back', () => {
    for (const page of MIGRATION_PAGES) assert.match(read(page), /^## Back$/m)
  })

  for (const page of MIGRATION_PAGES) {
    describe(page, () => {
      let ran: MigrationRun | undefined
      const run = () => {
        ran ??= runMigration(page)
        return ran
      }
      afterAll(() => ran && rmSync(ran.folder, { recursive: true }))

      test('has commands that write the Corefile that it shows', () => {
        const { status, stderr, written, promised } = run()
        assert.equal(status, 0, stderr)
        assert.equal(written, promised)
      })

      test('sets values that the chart has', () => {
        const installs = run().calls.filter(
          ([program, verb]) => `${program} ${verb}` === 'helm install',
        )
        assert.equal(installs.length, 1)
        const pairs = installs.flatMap((call) => optionsOf(call, /^--set(-file)?$/))
        const keys = pairs.map((pair) => pair.split('=')[0] ?? '')
        assert.deepEqual(
          keys.filter((key) => !hasValue(key)),
          [],
        )
      })

      test('has patches in JSON, whose labels of ours the pods have', () => {
        const labels = podLabels()
        assert.ok(labels.has('app.kubernetes.io/name=kubedoh'))
        for (const call of run().calls) {
          for (const patch of optionsOf(call, /^-p$/)) {
            assert.doesNotThrow(() => JSON.parse(patch), patch)
            const named = [...patch.matchAll(/"(app\.kubernetes\.io\/\w+)":"(\w+)"/g)]
            for (const [, key, value] of named) assert.ok(labels.has(`${key}=${value}`), patch)
          }
        }
      })
    })
  }

  // It loses what a pod prints before kubectl is attached: 2 of 9 short queries.
  test('attach to no pod that ends by itself', () => {
    for (const page of filesBelow('docs', '.md')) {
      assert.doesNotMatch(read(page), /kubectl run [^\n]*--attach/, page)
    }
  })

  test('stop CoreDNS with the commands of deploy/README.md', () => {
    const [, block = ''] =
      /```sh\n(kubectl -n kube-system patch[\s\S]*?)```/.exec(read('deploy/README.md')) ?? []
    assert.notEqual(block, '')
    assert.ok(read('docs/migration/coredns.md').includes(`\`\`\`sh\n${block}\`\`\``))
  })
})
