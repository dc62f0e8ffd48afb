import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { temporaryFolder } from '../exporter/temporary-folder.ts'
import { failed, runCli } from './run-cli.ts'

/** Installs wrangler in a folder. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules'))
  const wrangler = join(import.meta.dirname, '../../node_modules/wrangler')
  symlinkSync(wrangler, join(folder, 'node_modules/wrangler'))
}

test('deploy stops before wrangler where the Worker would answer 503', (t) => {
  const toml = 'name = "a"\nmain = "a.js"\n[vars]\nCOREFILE = """\n. {\n  erors\n}\n"""\n'
  const folder = temporaryFolder(t, { 'wrangler.toml': toml, 'a.js': '' })
  const config = join(folder, 'wrangler.toml')
  linkPackages(folder)
  const args = ['src/cli/run.ts', 'deploy', '--', '--dry-run', '-c', config]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  assert.deepEqual([status, stdout], [1, ''])
  assert.equal(
    stderr.slice(stderr.indexOf('COREFILE')),
    'COREFILE:2:3: there is no plugin "erors"; did you mean "errors"?\n' +
      'not deployed: with these variables the Worker answers 503\n',
  )
})

test('deploy says that wrangler is missing', async (t) => {
  const folder = temporaryFolder(t, { 'wrangler.toml': '' })
  const config = join(folder, 'wrangler.toml')
  const result = await runCli(['deploy', '--', '-c', config])
  assert.deepEqual(result, failed(`kubedoh: ${folder} has no wrangler; run: npm install`))
})
