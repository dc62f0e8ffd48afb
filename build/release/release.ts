/**
 * `.ci/release`: builds all that a release publishes into a folder, with checksums, a signature and
 * its provenance. Uploads nothing.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { pinnedPackages } from '../image/debian.ts'
import { ARCHITECTURES } from '../image/image.ts'
import { type Artefact, buildArtefacts, kilobytes, sha256 } from './artefacts.ts'
import { debianMaterials, lockedMaterials, provenanceOf } from './provenance.ts'
import { releaseNotes, releaseProblems, releaseVersion } from './versions.ts'

const ROOT = join(import.meta.dirname, '../..')
const OUT = join(ROOT, '.cache/release')
/** What a signature is for: the same key's signatures for other purposes do not count. */
const NAMESPACE = 'kubedoh-release'
/** Programs whose versions can change the bytes of an artefact. */
const TOOLS = ['npm', 'gzip', 'tar', 'dpkg-deb', 'llvm-strip', 'strip']

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trimEnd()

function lines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

/** The first line that each program prints as its version; programs that are missing have none. */
function toolVersions(): Record<string, string> {
  const found = TOOLS.flatMap((tool) => {
    const { status, stdout } = spawnSync(tool, ['--version'], { encoding: 'utf8' })
    return status === 0 ? [[tool, stdout.trim().split('\n')[0] ?? ''] as const] : []
  })
  return { node: process.version, ...Object.fromEntries(found) }
}

function write(folder: string, artefacts: readonly Artefact[]): void {
  for (const { path, content } of artefacts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** Signs SHA256SUMS by SSH: `ssh-keygen -Y verify` checks it, and keys may be in an agent. */
function sign(folder: string, key: string): void {
  const file = join(folder, 'SHA256SUMS')
  const { status, stderr, error } = spawnSync(
    'ssh-keygen',
    ['-Y', 'sign', '-f', key, '-n', NAMESPACE, file],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`cannot sign: ${error?.message ?? stderr.trim()}`)
}

function sizes(artefacts: readonly Artefact[]): string {
  const width = Math.max(...artefacts.map(({ path }) => path.length))
  const rows = artefacts.map(
    ({ path, content, note = '' }) =>
      `${path.padEnd(width)} ${kilobytes(content.length).padStart(8)} kB  ${note}`,
  )
  return `${rows.map((row) => row.trimEnd()).join('\n')}\n`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: ARCHITECTURES.join() },
      builder: { type: 'string', default: 'https://localhost/' },
      draft: { type: 'boolean', default: false },
      key: { type: 'string' },
      out: { type: 'string', default: OUT },
    },
  })
  if (values.out === OUT) rmSync(OUT, { recursive: true, force: true })
  mkdirSync(values.out, { recursive: true })
  if (readdirSync(values.out).length > 0) throw new Error(`${values.out} is not empty`)
  const startedOn = new Date().toISOString()
  const tags = lines(git('tag', '--points-at', 'HEAD'))
  const changes = lines(git('status', '--porcelain')).map((line) => line.slice(3))
  const fragments = readdirSync(join(ROOT, '.changes/unreleased')).filter(
    (name) => name !== '.gitkeep',
  )
  const problems = releaseProblems({ read, tags, changes, fragments })
  if (problems.length > 0 && !values.draft) throw new Error(problems.join('\nrelease: '))
  for (const problem of problems) process.stderr.write(`draft: ${problem}\n`)

  const version = releaseVersion(read)
  const architectures = values.arch.split(',')
  process.env.SOURCE_DATE_EPOCH = git('log', '-1', '--format=%ct')
  const built = await buildArtefacts(version, architectures)
  const images = built.flatMap(({ path, digest }) =>
    digest === undefined ? [] : [{ name: `${path}#image`, sha256: digest.replace('sha256:', '') }],
  )
  const statement = provenanceOf({
    version,
    commit: git('rev-parse', 'HEAD'),
    architectures,
    subjects: [...built.map((one) => ({ name: one.path, sha256: sha256(one.content) })), ...images],
    materials: [
      ...lockedMaterials(read('package-lock.json')),
      ...lockedMaterials(read('build/image/bun-lock.json')),
      ...debianMaterials(pinnedPackages('node'), architectures),
    ],
    tools: toolVersions(),
    builder: values.builder,
    startedOn,
    finishedOn: new Date().toISOString(),
  })
  const file = (path: string, text: string): Artefact => ({ path, content: Buffer.from(text) })
  const all = [
    ...built,
    file('NOTES.md', releaseNotes(read('CHANGELOG.md'))),
    file('provenance.json', `${JSON.stringify(statement, undefined, 2)}\n`),
  ]
  const sums = all.map(({ path, content }) => `${sha256(content)}  ${path}\n`).join('')
  write(values.out, [...all, file('SHA256SUMS', sums)])
  if (values.key !== undefined) sign(values.out, values.key)
  else process.stderr.write('not signed: pass --key FILE\n')
  process.stdout.write(`${sizes(all)}${values.out}\n`)
}

await main().catch((error: Error) => {
  process.stderr.write(`release: ${error.message}\n`)
  process.exitCode = 1
})
