/**
 * Prometheus's promtool and Grafana's types, for the suite of alerts and dashboards.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'

/** Grafana's model of dashboards, as TypeScript types. */
const SCHEMA = '@grafana/schema@12.3.0'
const INSTALL_MS = 120_000
const TSC = join(import.meta.dirname, '../../node_modules/.bin/tsc')

/** What a program printed, and its exit status. */
export type Printed = { readonly status: number | null; readonly output: string }

/** Finds promtool, or unpacks it from Debian's package. @returns undefined without it */
export function preparePromtool(): string | undefined {
  if (spawnSync('promtool', ['--version']).status === 0) return 'promtool'
  const folder = cacheFolder('prometheus-debian')
  mkdirSync(folder, { recursive: true })
  const find = () => readdirSync(folder).find((name) => /^prometheus_.*\.deb$/.test(name))
  if (find() === undefined) {
    spawnSync('apt-get', ['-qq', 'download', 'prometheus'], { cwd: folder, timeout: INSTALL_MS })
  }
  const file = find()
  if (file === undefined) return undefined
  const path = join(folder, file.replace(/\.deb$/, ''), 'usr/bin/promtool')
  if (!existsSync(path)) {
    spawnSync('dpkg-deb', ['-x', join(folder, file), join(folder, file.replace(/\.deb$/, ''))])
  }
  return spawnSync(path, ['--version']).status === 0 ? path : undefined
}

/** Installs Grafana's types from npm, once. @returns their folder, or undefined without them */
export function prepareGrafanaTypes(): string | undefined {
  const folder = cacheFolder(SCHEMA.replaceAll('/', '-'))
  const installed = join(folder, 'node_modules/@grafana/schema/package.json')
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true })
    const flags = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', folder]
    spawnSync('npm', ['install', ...flags, SCHEMA], { timeout: INSTALL_MS })
  }
  return existsSync(installed) ? folder : undefined
}

/**
 * Compiles dashboards, as JSON texts by name, against Grafana's types. Unknown fields are
 * errors.
 */
export function compileDashboards(
  folder: string,
  dashboards: ReadonlyMap<string, string>,
): Printed {
  const files = [...dashboards].map(([name, text]) => {
    const path = join(folder, `${name}.ts`)
    const head = `import type { Dashboard } from '@grafana/schema'\n`
    writeFileSync(path, `${head}export const dashboard: Dashboard = ${text}`)
    return path
  })
  const module = ['--module', 'esnext', '--moduleResolution', 'bundler']
  return run(TSC, ['--noEmit', '--skipLibCheck', '--strict', '--ignoreConfig', ...module, ...files])
}

/** Runs a program. */
export function run(command: string, args: readonly string[]): Printed {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}
