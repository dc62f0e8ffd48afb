/**
 * `.ci/release` as a draft: its files, their checksums, signature and provenance, by the commands
 * of CONTRIBUTING.md.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { ROOT, read, section } from '../docs/pages.ts'
import { probeTools } from './tools.ts'

/** Bytes of the package, compressed: 2.35 million of which the bundles with their maps are 2.2. */
const PACKAGE_BYTES_MAX = 2.5e6
const missing =
  probeTools() ??
  (spawnSync('ssh-keygen', ['-?']).error === undefined ? undefined : 'missing: ssh-keygen')

/** In CI, the images of a release are for one processor; arm64.suite.ts runs that for the other. */
const IS_SHORT = process.env.CI !== undefined
const ONLY = IS_SHORT ? ['--arch', 'amd64'] : []

function release(...args: readonly string[]) {
  const entry = join(ROOT, 'build/release/release.ts')
  return spawnSync(process.execPath, [entry, '--draft', ...args], { cwd: ROOT, encoding: 'utf8' })
}

/** Runs the commands by which users verify a release, in its folder. */
function verify(folder: string) {
  const [, commands = ''] =
    /```sh\n(ssh-keygen [\s\S]*?)```/.exec(section(read('CONTRIBUTING.md'), '## Release')) ?? []
  assert.match(commands, /sha256sum -c/)
  return spawnSync('sh', ['-ec', commands], { cwd: folder, encoding: 'utf8' })
}

describeUnless(missing, 'a release', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-release-'))
  if (IS_SHORT)
    console.log('left out: images for arm64 of a release; without CI the suite has them')
  const folder = join(scratch, 'out')
  const sums = () => readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
  afterAll(() => rmSync(scratch, { recursive: true }))

  beforeAll(() => {
    const key = join(scratch, 'key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
    const { status, stdout, stderr } = release('--out', folder, '--key', key, ...ONLY)
    assert.equal(status, 0, stderr)
    console.log(stdout)
    const publicKey = readFileSync(`${key}.pub`, 'utf8')
    writeFileSync(join(folder, 'allowed_signers'), `release@example.org ${publicKey}`)
  })

  test('is verified by the commands of CONTRIBUTING.md', () => {
    const { status, stdout, stderr } = verify(folder)
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /^Good "kubedoh-release" signature for release@example\.org/)
    assert.match(stdout, /^npm\/kubedoh-\S+\.tgz: OK$/m)
  })

  test('has packages, charts, images for two architectures and their bills of materials', () => {
    const { version } = JSON.parse(read('package.json'))
    const names = sums().map((line) => line.slice(66).replaceAll(version, 'V'))
    const wanted = [
      'npm/kubedoh-V.tgz',
      'charts/kubedoh-V.tgz',
      'charts/kubedoh-crds-V.tgz',
      'images/kubedoh-V.tar',
      'images/kubedoh-V.amd64.spdx.json',
      'images/kubedoh-V.arm64.spdx.json',
      'images/kubedoh-V-node.tar',
      'images/kubedoh-V-node.amd64.spdx.json',
      'images/kubedoh-V-node.arm64.spdx.json',
      'images/kubedoh-V-bun.tar',
      'images/kubedoh-V-bun.amd64.spdx.json',
      'images/kubedoh-V-bun.arm64.spdx.json',
      'NOTES.md',
      'provenance.json',
    ]
    assert.deepEqual(
      names,
      wanted.filter((name) => !IS_SHORT || !name.includes('arm64')),
    )
    const { length } = readFileSync(join(folder, `npm/kubedoh-${version}.tgz`))
    assert.ok(length <= PACKAGE_BYTES_MAX, `${length} bytes`)
  })

  test('states the commit and the digest of each file and image in its provenance', () => {
    const statement = JSON.parse(readFileSync(join(folder, 'provenance.json'), 'utf8'))
    const { version } = JSON.parse(read('package.json'))
    type Named = { readonly name: string; readonly digest: { readonly sha256: string } }
    const subjects: readonly Named[] = statement.subject
    const files = subjects.filter(({ name }) => !name.endsWith('#image'))
    const lines = files.map(({ name, digest }) => `${digest.sha256}  ${name}`)
    assert.deepEqual(lines, sums().slice(0, -2))
    const path = `images/kubedoh-${version}.tar`
    const index = execFileSync('tar', ['-xOf', join(folder, path), 'index.json'])
    const [{ digest }] = JSON.parse(String(index)).manifests
    const image = subjects.find(({ name }) => name === `${path}#image`)
    assert.equal(`sha256:${image?.digest.sha256}`, digest)
    const [source] = statement.predicate.buildDefinition.resolvedDependencies
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
    assert.equal(`${source.digest.gitCommit}\n`, commit)
  })

  test('is not written over files', () => {
    const { status, stderr } = release('--out', folder)
    assert.equal(status, 1)
    assert.ok(stderr.endsWith(`release: ${folder} is not empty\n`), stderr)
  })

  test('is refused when a file or the list of checksums has changed', () => {
    appendFileSync(join(folder, 'NOTES.md'), 'x')
    assert.match(verify(folder).stdout, /^NOTES\.md: FAILED$/m)
    appendFileSync(join(folder, 'SHA256SUMS'), '\n')
    const { status, stdout } = verify(folder)
    assert.notEqual(status, 0)
    assert.doesNotMatch(stdout, /OK$/m)
  })
})
