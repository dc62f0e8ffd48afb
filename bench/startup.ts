/**
 * How long the Worker takes before its first request, as wrangler measures it in workerd.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './places.ts'
import { median, type Row, row } from './row.ts'

const ROUNDS = process.env.BENCH_QUICK === '1' ? 2 : 5

/** Measures. */
export function startupRows(): Row[] {
  const times = Array.from({ length: ROUNDS }, activeMs)
  return [row('gateway', 'start-up of the Worker', 'ms', median(times), { atMost: 60 })]
}

function activeMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-startup-'))
  const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
  const outfile = join(folder, 'startup.cpuprofile')
  const args = [wrangler, 'check', 'startup', '-c', 'wrangler.toml', '--outfile', outfile]
  const silence = {
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    CI: 'true',
  }
  const env = {
    ...process.env,
    ...silence,
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_LOG_PATH: folder,
  }
  const { stdout } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })
  rmSync(folder, { recursive: true, force: true })
  return Number(/Active: ([\d.]+) ms/.exec(stdout)?.[1] ?? Number.NaN)
}
