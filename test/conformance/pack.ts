/**
 * Packs recorded scenarios into `data/`: `node test/conformance/pack.ts FOLDER…`. The README beside
 * this file lists what a folder holds.
 * @module
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { HOSTNAME, type Scenario } from './scenario.ts'

/** What names of the class CH say of the machine. */
const MACHINE = /(hostname\.bind|id\.server)\. 0 CH TXT \\"[^"\\]*\\"/gi

type Meta = {
  readonly name: string
  readonly local_ips?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly ordered?: boolean
  readonly upstreams?: Readonly<Record<string, { readonly dir?: string; readonly dead?: boolean }>>
}

for (const folder of process.argv.slice(2)) {
  const scenario = readFolder(folder)
  const text = JSON.stringify(scenario)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const packed = brotliCompressSync(text, { params })
  writeFileSync(join(import.meta.dirname, 'data', `${scenario.name}.json.br`), packed)
  process.stdout.write(`${scenario.name}: ${scenario.cases.length} cases, ${packed.length} bytes\n`)
}

function readFolder(folder: string): Scenario {
  const text = (name: string): string =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  const meta: Meta = JSON.parse(text('meta.json'))
  const upstreams = Object.entries(meta.upstreams ?? {}).map(([name, { dir = '', dead }]) => [
    name,
    dead === true ? null : parseLines(text(join(dir, 'fixtures.jsonl'))),
  ])
  const cluster = text('cluster.json')
  return {
    name: meta.name,
    corefile: text('Corefile'),
    cluster: cluster === '' ? '' : JSON.stringify(JSON.parse(cluster)),
    ...(existsSync(join(folder, 'etcd.json')) && { etcd: JSON.parse(text('etcd.json')) }),
    imports: readImports(folder),
    files: readFiles(join(folder, 'files')),
    localAddresses: meta.local_ips ?? [],
    environment: meta.env ?? {},
    upstreams: Object.fromEntries(upstreams),
    ordered: meta.ordered ?? false,
    cases: parseLines(text('cases.jsonl').replace(MACHINE, (_, name) => `${name}. 0 ${HOSTNAME}`)),
  }
}

function parseLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** What lies in folders beside the Corefile, which imports it. */
function readImports(folder: string): Record<string, string> {
  const folders = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(files|upstream)/.test(entry.name))
    .map(({ name }) => name)
  return Object.fromEntries(
    folders.flatMap((name) =>
      Object.entries(readFiles(join(folder, name))).map(([path, text]) => [join(name, path), text]),
    ),
  )
}

function readFiles(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {}
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
  return Object.fromEntries(
    paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  )
}
