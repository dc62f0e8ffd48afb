/** What the Worker may cost before it answers anything. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, test } from 'vitest'
import { bundleWorker } from '../../build/worker.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The platform takes 3 MB on the free plan. */
const BUNDLE_KIB = 400
const BINDINGS = 'CLUSTER TOKENS SHARDS_KV SHARDS_R2 ANALYTICS LIMITER COREFILE'.split(' ')

describe('the Worker', () => {
  test(`is no larger than ${BUNDLE_KIB} KiB, compressed`, async () => {
    const kib = gzipSync(await bundleWorker()).length / 1024
    assert.ok(kib <= BUNDLE_KIB, `${kib.toFixed(1)} KiB`)
  })

  test('can be deployed: wrangler knows all that may be bound, and makes it no larger', (t) => {
    const folder = temporaryFolder(t)
    const config = join(folder, 'wrangler.toml')
    writeFileSync(config, withAllBindings(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')))
    const args = ['--dry-run', '-c', config, '--outdir', folder]
    const silence = {
      WRANGLER_LOG: 'log',
      WRANGLER_LOG_PATH: join(folder, 'log'),
      CI: 'true',
    }
    const run = join(ROOT, 'src/cli/run.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, [run, 'deploy', '--', ...args], {
      cwd: ROOT,
      env: { ...process.env, ...silence },
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.equal(status, 0, stderr)
    for (const binding of BINDINGS) {
      assert.ok(stdout.includes(`env.${binding}`), `${binding} in:\n${stdout}`)
    }
    const kib = gzipSync(readFileSync(join(folder, 'index.js'))).length / 1024
    assert.ok(kib <= BUNDLE_KIB, `${kib.toFixed(1)} KiB`)
  })
})

/** The same configuration with the bindings that are there as comments, to be in another folder. */
function withAllBindings(text: string): string {
  const opened = text.replaceAll(/^# (?=\[\[|(?:binding|bucket_name|id|dataset) = )/gm, '')
  const clusters = JSON.stringify({
    prod: { publicKey: 'A'.repeat(43), tokenSha256: '0'.repeat(64) },
  })
  return opened
    .replace('"worker/index.ts"', JSON.stringify(join(ROOT, 'worker/index.ts')))
    .replace('CLUSTERS = "{}"', `CLUSTERS = '${clusters}'`)
}
