/**
 * Runs benchmarks, each in a process of its own, and prints what they measured. `run.ts` bundles
 * and starts it.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CONTESTS, compareWith, formatPaired } from './against/against.ts'
import { benchBuild } from './build.ts'
import { benchCore } from './core.ts'
import { benchEdge } from './edge.ts'
import { benchExporter } from './exporter.ts'
import { benchGateway } from './gateway.ts'
import { benchIdentities } from './identities.ts'
import { benchMemory } from './memory.ts'
import { benchOpen } from './open.ts'
import { benchOwnCluster } from './own-cluster.ts'
import { benchPlugins } from './plugins.ts'
import { benchPublish } from './publish.ts'
import { benchRights } from './rights.ts'
import { formatMarkdown, formatTable, type Row } from './row.ts'
import { benchServer } from './server.ts'
import { benchStart } from './start.ts'

const BENCHES: ReadonlyMap<string, () => Promise<Row[]> | Row[]> = new Map<
  string,
  () => Promise<Row[]> | Row[]
>([
  ['core', benchCore],
  ['build', benchBuild],
  ['memory', benchMemory],
  ['open', benchOpen],
  ['publish', benchPublish],
  ['rights', benchRights],
  ['gateway', benchGateway],
  ['identities', benchIdentities],
  ['edge', benchEdge],
  ['plugins', benchPlugins],
  ['server', benchServer],
  ['exporter', benchExporter],
  ['own-cluster', benchOwnCluster],
  ['start', benchStart],
])

const { values, positionals } = parseArgs({
  options: {
    against: { type: 'string' },
    json: { type: 'string' },
    markdown: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const known = [...(values.against === undefined ? BENCHES : CONTESTS).keys()]
const names = positionals.length === 0 ? known : positionals
const unknown = names.find((name) => !known.includes(name))
if (unknown !== undefined) {
  const flag = values.against === undefined ? '' : ' with --against'
  process.stderr.write(`no benchmark "${unknown}"${flag}; use one of ${known.join(', ')}\n`)
  process.exit(2)
}
const [only = ''] = names
const lines = names.length === 1 ? await measure(only) : names.map(measureApart).join('')
if (values.json !== undefined) writeFileSync(values.json, lines)

/** Runs one benchmark and prints its table. Returns its rows, a line of JSON each. */
async function measure(name: string): Promise<string> {
  process.stderr.write(`${name} …\n`)
  if (values.against !== undefined) return compare(name, values.against)
  const rows = (await BENCHES.get(name)?.()) ?? []
  process.stdout.write(`${formatTable(rows)}\n`)
  if (values.markdown) process.stdout.write(`${formatMarkdown(rows)}\n`)
  return rows.map((one) => `${JSON.stringify(one)}\n`).join('')
}

/** The same beside another commit. A row that got slower makes this process fail at its end. */
async function compare(name: string, ref: string): Promise<string> {
  const rows = await compareWith(ref, name)
  process.stdout.write(`${formatPaired(rows)}\n`)
  if (rows.some(({ verdict }) => verdict === 'slower')) process.exitCode = 1
  return rows.map((one) => `${JSON.stringify(one)}\n`).join('')
}

/**
 * The same in a process of its own: what one leaves on the heap, and what its data made of compiled
 * code, is not the next one's.
 */
function measureApart(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
  try {
    const file = join(folder, 'rows')
    const flags = [
      ...['--json', file],
      ...(values.markdown ? ['--markdown'] : []),
      ...(values.against === undefined ? [] : ['--against', values.against]),
    ]
    const args = [...process.execArgv, import.meta.filename, name, ...flags]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exitCode = status ?? 1
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
