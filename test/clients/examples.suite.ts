/**
 * The example for Deno, with the package as it is built. `npm test` runs the other examples.
 * @module
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { buildPackage } from '../../build/package.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { describeUnless } from '../describe-unless.ts'
import { installExample } from '../examples/installed.ts'
import { freePort } from '../free-port.ts'
import { DENO, missingRuntime } from '../runtimes.ts'

const ROOT = join(import.meta.dirname, '../..')

describeUnless(missingRuntime(DENO), 'the example for Deno', () => {
  test('serves the gateway', async (t) => {
    const packed = temporaryFolder(t)
    await buildPackage(join(packed, 'dist'))
    copyFileSync(join(ROOT, 'package.json'), join(packed, 'package.json'))
    const folder = installExample(t, 'deno', packed)
    const port = await freePort()
    const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.example.org\n  }\n}\n'
    const deno = spawn(DENO.command, ['run', '--allow-env', '--allow-net', 'main.ts'], {
      cwd: folder,
      env: { ...process.env, COREFILE, PUBLIC: 'true', PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.onTestFinished(() => void deno.kill('SIGKILL'))
    // It prints the address that it listens on, to one of the two.
    const lines = await Promise.race([once(deno.stdout, 'data'), once(deno.stderr, 'data')])
    assert.match(String(lines), /Listening/)
    const response = await fetch(`http://127.0.0.1:${port}/resolve?name=web.example.org`)
    assert.match(await response.text(), /"data":"192\.0\.2\.1"/)
    const missing = await fetch(`http://127.0.0.1:${port}/dns-query`)
    assert.equal(missing.status, 400)
  })
})
