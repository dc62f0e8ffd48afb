/**
 * `npm run bench -- [NAME…] [--json FILE]`: runs benchmarks and prints what they measured.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benchBuild } from './build.ts'
import { benchCore } from './core.ts'
import { benchGateway } from './gateway.ts'
import { benchMemory } from './memory.ts'
import { benchOpen } from './open.ts'
import { benchPlugins } from './plugins.ts'
import { benchPublish } from './publish.ts'
import { formatTable, type Row } from './row.ts'

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
])

const { values, positionals } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
})
const names = positionals.length === 0 ? [...BENCHES.keys()] : positionals
const rows: Row[] = []
for (const name of names) {
  const bench = BENCHES.get(name)
  if (bench === undefined) {
    process.stderr.write(
      `There is no benchmark "${name}"; there are ${[...BENCHES.keys()].join(', ')}\n`,
    )
    process.exit(2)
  }
  process.stderr.write(`${name} …\n`)
  const measured = await bench()
  process.stdout.write(`${formatTable(measured)}\n`)
  rows.push(...measured)
}
if (values.json !== undefined) {
  writeFileSync(values.json, rows.map((one) => `${JSON.stringify(one)}\n`).join(''))
}
