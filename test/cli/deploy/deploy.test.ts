import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'vitest'
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

describe('deploy refuses, in one line', () => {
  const whole = `name = "a"
main = "a.js"
compatibility_date = "2026-10-01"
[vars]
COREFILE = """
. {
  forward . https://dns.example
}
"""
PUBLIC = "true"
[[durable_objects.bindings]]
name = "CLUSTER"
class_name = "ClusterObject"
[[durable_objects.bindings]]
name = "TOKENS"
class_name = "TokenObject"
`
  const cases: { name: string; toml: string; args: string[]; message: RegExp }[] = [
    {
      name: 'an environment without variables and bindings',
      toml: `${whole}[env.test]\n`,
      args: ['--env', 'test'],
      message:
        /^add COREFILE and CLUSTERS to \[env\.test\.vars\], and CLUSTER and TOKENS as \[\[env\.test\./,
    },
    {
      name: 'an environment without bindings',
      toml: `${whole}[env.test.vars]\nCOREFILE = ". {\\n  whoami\\n}\\n"\n`,
      args: ['-e', 'test'],
      message: /^add CLUSTER and TOKENS as \[\[env\.test\.durable_objects\.bindings\]\]: /,
    },
    {
      name: 'an environment that the file lacks',
      toml: whole,
      args: ['--env=test'],
      message: /\/wrangler\.toml has no \[env\.test\]; add it, with variables and bindings$/,
    },
    {
      name: 'an environment beside the one that the file has',
      toml: `${whole}[env.test]\n`,
      args: ['--env', 'tset'],
      message: /\/wrangler\.toml has no \[env\.tset\]; add it, with variables and bindings$/,
    },
    {
      name: 'an open resolver',
      toml: whole,
      args: [],
      message: /^COREFILE:2:3: with PUBLIC = "true" this resolves every name for everybody/,
    },
    {
      name: 'an open resolver by a flag',
      toml: whole.replace('PUBLIC = "true"', 'PUBLIC = "false"'),
      args: ['--var', 'PUBLIC:true'],
      message: /^COREFILE:2:3: with PUBLIC = "true" this resolves every name for everybody/,
    },
  ]
  for (const { name, toml, args, message } of cases) {
    test(name, (t) => {
      const config = join(
        temporaryFolder(t, { 'wrangler.toml': toml, 'a.js': '' }),
        'wrangler.toml',
      )
      const command = ['src/cli/run.ts', 'deploy', '--', '--dry-run', '-c', config, ...args]
      const { status, stderr } = spawnSync(process.execPath, command, {
        cwd: join(import.meta.dirname, '../../..'),
        encoding: 'utf8',
      })
      assert.equal(status, 1)
      const [line = '', ...others] = stderr.trimEnd().split('\n')
      assert.deepEqual(others, [])
      assert.match(line, /^kubedoh: /)
      assert.match(line.slice('kubedoh: '.length), message)
    })
  }
})
