/**
 * The packed charts: the same bytes each time, and what helm makes of them.
 * @module
 */
import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { parse } from 'yaml'
import { CHARTS, packChart } from '../../build/charts.ts'
import { describeUnless } from '../describe-unless.ts'
import { KUBERNETES, prepareBinaries } from '../real-cluster/binaries.ts'
import { DEPLOY, helm } from './helm.ts'

const binaries = prepareBinaries()

describeUnless(typeof binaries === 'string' && binaries, 'the packed charts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-packed-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  for (const chart of CHARTS) {
    test(`${chart} has the same bytes with other times and permissions`, () => {
      const source = join(DEPLOY, chart)
      const copy = join(folder, chart)
      cpSync(source, copy, { recursive: true })
      utimesSync(join(copy, 'Chart.yaml'), 1, 1)
      chmodSync(join(copy, 'Chart.yaml'), 0o600)
      const packed = packChart(source)
      assert.equal(packChart(copy).digest, packed.digest)
      writeFileSync(join(copy, 'Chart.yaml'), 'name: kubedoh\nversion: 0.0.1\n')
      assert.notEqual(packChart(copy).digest, packed.digest)
      console.log(`${packed.file}: ${(packed.content.length / 1e3).toFixed(1)} kB`)
    })

    test(`the packed ${chart} has the repository as its home`, () => {
      const home = 'https://example.org/kubedoh'
      const { file, content } = packChart(join(DEPLOY, chart), home)
      writeFileSync(join(folder, file), content)
      const { stdout } = helm('show', 'chart', join(folder, file))
      const { sources, icon, maintainers, keywords, annotations, ...shown } = parse(stdout)
      assert.equal(shown.home, home)
      assert.deepEqual(sources, [home])
      assert.match(icon, /^data:image\/svg\+xml,/)
      assert.ok(maintainers.length > 0 && keywords.length > 1)
      assert.equal(annotations['artifacthub.io/license'], 'Apache-2.0')
      assert.equal(shown.kubeVersion, '>=1.28.0-0')
    })

    test(`helm renders and lints ${chart} as it does the folder`, () => {
      const { file, content } = packChart(join(DEPLOY, chart))
      const path = join(folder, file)
      writeFileSync(path, content)
      const options = ['--namespace', 'kube-system', '--kube-version', KUBERNETES]
      const rendered = helm('template', 'kubedoh', path, ...options)
      assert.equal(rendered.status, 0, rendered.stderr)
      const original = helm('template', 'kubedoh', join(DEPLOY, chart), ...options)
      assert.equal(rendered.stdout, original.stdout)
      const lint = helm('lint', '--strict', path, '--namespace', 'kube-system')
      assert.equal(lint.status, 0, lint.stdout)
    })
  }
})
