import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

test('deploy stops before wrangler where the Worker would answer 503', (t) => {
  const toml = 'name = "a"\nmain = "a.js"\n[vars]\nCOREFILE = """\n. {\n  erors\n}\n"""\n'
  const folder = temporaryFolder(t, { 'wrangler.toml': toml, 'a.js': '' })
  const config = join(folder, 'wrangler.toml')
  const args = ['src/cli/run.ts', 'deploy', '--', '--dry-run', '-c', config]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: join(import.meta.dirname, '../../..'),
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

test('deploy reports a missing wrangler', (t) => {
  const folder = temporaryFolder(t, { 'wrangler.toml': '' })
  const args = [join(import.meta.dirname, '../../../src/cli/run.ts'), 'deploy']
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 1)
  assert.equal(stderr, 'kubedoh: wrangler is not installed here; run: npm install\n')
})
