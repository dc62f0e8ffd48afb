/**
 * Runs benchmarks, each in a process of its own, and prints what they measured. `run.ts` bundles and
 * starts it.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchBuild } from './build.ts'
import { benchCore } from './core.ts'
import { benchExporter } from './exporter.ts'
import { benchGateway } from './gateway.ts'
import { benchMemory } from './memory.ts'
import { benchOpen } from './open.ts'
import { benchPlugins } from './plugins.ts'
import { benchPublish } from './publish.ts'
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
  ['gateway', benchGateway],
  ['plugins', benchPlugins],
  ['server', benchServer],
  ['exporter', benchExporter],
  ['start', benchStart],
])

const { values, positionals } = parseArgs({
  options: { json: { type: 'string' }, markdown: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const names = positionals.length === 0 ? [...BENCHES.keys()] : positionals
const unknown = names.find((name) => !BENCHES.has(name))
if (unknown !== undefined) {
  process.stderr.write(
    `There is no benchmark "${unknown}"; there are ${[...BENCHES.keys()].join(', ')}\n`,
  )
  process.exit(2)
}
const [only = ''] = names
const lines = names.length === 1 ? await measure(only) : names.map(measureApart).join('')
if (values.json !== undefined) writeFileSync(values.json, lines)

/** Runs one benchmark and prints its table. Returns its rows, a line of JSON each. */
async function measure(name: string): Promise<string> {
  process.stderr.write(`${name} …\n`)
  const rows = (await BENCHES.get(name)?.()) ?? []
  process.stdout.write(`${formatTable(rows)}\n`)
  if (values.markdown) process.stdout.write(`${formatMarkdown(rows)}\n`)
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
    const flags = ['--json', file, ...(values.markdown ? ['--markdown'] : [])]
    const args = [...process.execArgv, import.meta.filename, name, ...flags]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
