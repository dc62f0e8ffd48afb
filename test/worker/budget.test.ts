/** What the Worker may cost before it answers anything. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWorker } from '../../demo/gateway.ts'

const ROOT = join(import.meta.dirname, '../..')
const BUNDLE_KIB = 100

describe('the Worker', () => {
  test(`is no larger than ${BUNDLE_KIB} KiB, compressed`, async () => {
    const kib = gzipSync(await bundleWorker()).length / 1024
    assert.ok(kib <= BUNDLE_KIB, `${kib.toFixed(1)} KiB`)
  })

  test('can be deployed: wrangler knows its bindings, and makes it no larger', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-deploy-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const args = ['deploy', '--dry-run', '-c', 'wrangler.toml', '--outdir', folder]
    const silence = {
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_LOG_PATH: join(folder, 'log'),
      CI: 'true',
    }
    const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [wrangler, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...silence },
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.equal(status, 0, stderr)
    for (const binding of ['env.CLUSTER', 'env.TOKENS', 'env.LIMITER', 'env.COREFILE']) {
      assert.ok(stdout.includes(binding), `${binding} in:\n${stdout}`)
    }
    const kib = gzipSync(readFileSync(join(folder, 'index.js'))).length / 1024
    assert.ok(kib <= BUNDLE_KIB, `${kib.toFixed(1)} KiB`)
  })
})
