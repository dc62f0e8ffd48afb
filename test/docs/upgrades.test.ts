/**
 * docs/upgrades.md: the versions, resources and tests that it names are those of the code.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { MAGIC } from '../../src/snapshot/format/layout.ts'
import { MANIFEST_VERSION } from '../../src/snapshot/format/manifest.ts'
import { filesBelow, read, section } from './pages.ts'

describe('docs/upgrades.md', () => {
  const page = read('docs/upgrades.md')

  test('has the versions of manifests and shards', () => {
    assert.ok(page.includes(`manifests of version ${MANIFEST_VERSION} and`))
    const magic = Buffer.from(Uint32Array.of(MAGIC).buffer).toString('latin1')
    assert.ok(page.includes(`\`${magic}\``), magic)
  })

  test('has the oldest Kubernetes of both charts', () => {
    for (const chart of ['chart', 'crds']) {
      const { kubeVersion } = parse(read(`deploy/${chart}/Chart.yaml`))
      const [, oldest] = /^>=(\d+\.\d+)\./.exec(kubeVersion) ?? []
      assert.ok(oldest !== undefined && page.includes(`| ${oldest} and later;`), kubeVersion)
    }
  })

  test('has all custom resources, and their version', () => {
    const files = filesBelow('deploy/crds/templates', '.yaml')
    const kinds = files.map((file) => /^ {4}kind: (\w+)$/m.exec(read(file))?.[1] ?? file)
    for (const kind of kinds) assert.ok(page.includes(kind), kind)
    for (const file of files) {
      const served = [...read(file).matchAll(/^ {4}- name: (v\w+)$/gm)].map(([, name]) => name)
      assert.deepEqual(served, ['v1alpha1'], file)
    }
  })

  test('names tests that exist', () => {
    const named = [...section(page, '## What a test holds today').matchAll(/`(test\/[\w/.]+)`/g)]
    assert.ok(named.length > 3)
    for (const [, path = ''] of named) {
      const folder = path.replace(/\/[\w.]+\.ts$/, '')
      assert.ok(
        filesBelow(folder, '.ts').some((file) => file.startsWith(path)),
        path,
      )
    }
  })
})
