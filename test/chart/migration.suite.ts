/**
 * The commands of docs/migration for helm, rendered by helm.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { MIGRATION_PAGES, runMigration } from '../docs/migration-pages.ts'
import { KUBERNETES, prepareBinaries, prepareHelm } from '../real-cluster/binaries.ts'
import { objectsOf } from './helm.ts'

const binaries = prepareBinaries()

describeUnless(typeof binaries === 'string' && binaries, 'migrations', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-migrations-'))
  afterAll(() => rmSync(scratch, { recursive: true }))

  const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')

  for (const page of MIGRATION_PAGES) {
    test(`${page}: helm renders the chart with the Corefile, and the objects that are named`, () => {
      const { folder, calls, written } = runMigration(page, scratch)
      const [, , ...args] = calls.find(([program]) => program === 'helm') ?? []
      const options = ['--kube-version', KUBERNETES]
      const { status, stdout, stderr } = spawnSync(
        prepareHelm(),
        ['template', ...args.filter((word) => word !== '--wait'), ...options],
        { cwd: folder, encoding: 'utf8' },
      )
      assert.equal(status, 0, stderr)
      const objects = objectsOf(stdout)
      const names = objects.map(({ metadata }) => metadata.name)
      const words = calls.filter(([program]) => program !== 'helm').flat()
      for (const name of words.filter((word) => word.startsWith('kubedoh-'))) {
        // Some are the hostname of a Service.
        const object = name.replace('.kube-system.svc.cluster.local', '')
        assert.ok(names.includes(object), `${name}: ${names.join(' ')}`)
      }
      // The name alone also selects exporters and gateways of the release.
      const selector = /"path":"\/spec\/selector","value":(\{"app[^}]*\})/.exec(
        words.join(' '),
      )?.[1]
      const component = JSON.parse(selector ?? 'null')?.['app.kubernetes.io/component']
      assert.equal(component, selector && 'server')
      const given = page.endsWith('nodelocal.md') ? read(folder, 'Corefile.base') : written
      const rendered = objects.flatMap(({ data }) => Object.values(data ?? {}).map(String))
      assert.ok(rendered.some((text) => text.trim() === given.trim()))
    })
  }
})
