/**
 * The archives that `npm run image` writes, without the network: `npm run test:image` builds one.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { packImage } from '../../build/image/oci.ts'
import { spdxOf } from '../../build/image/sbom.ts'
import { entriesOf, NET_BIND_SERVICE, type TarEntry, tarOf } from '../../build/image/tar.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const ENTRY = join(import.meta.dirname, '../../build/image/entry.js')
const CONFIG = { name: 'localhost/a:1', created: 0, config: { Entrypoint: ['/a'] } }
const text = (path: string, content: string): TarEntry => ({
  path,
  mode: 0o644,
  content: Buffer.from(content),
})
const list = (archive: Buffer, ...options: readonly string[]) =>
  execFileSync('tar', ['-tv', '--numeric-owner', '--full-time', ...options], {
    input: archive,
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  })

describe('tar archives', () => {
  const long = `${'folder/'.repeat(20)}file`
  const entries: readonly TarEntry[] = [
    text(long, 'x'),
    { path: 'b', mode: 0o777, link: 'a' },
    { path: 'tmp', mode: 0o1777 },
    { ...text('a', 'hello'), mode: 0o755, capability: NET_BIND_SERVICE },
  ]

  test('are read by GNU tar', () => {
    const rows = list(tarOf(entries)).trimEnd().split('\n')
    assert.deepEqual(
      rows.map((row) => row.replace(/ +/g, ' ')),
      [
        '-rwxr-xr-x 0/0 5 1970-01-01 00:00:00 a',
        'lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 b -> a',
        `-rw-r--r-- 0/0 1 1970-01-01 00:00:00 ${long}`,
        'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
      ],
    )
  })

  test('carry the capability to bind ports under 1024', () => {
    const rows = list(tarOf(entries), '--xattrs', '--xattrs-include=security.capability', '-vv')
    assert.match(rows, / a\n +x: 20 security\.capability\n/)
  })

  test('hold what is in a folder', (t) => {
    const folder = temporaryFolder(t, { 'one/two.txt': 'x' })
    const paths = entriesOf(folder, 'app').map(({ path }) => path)
    assert.deepEqual(paths, ['app/one', 'app/one/two.txt'])
  })
})

describe('image archives', () => {
  const pack = (...layer: readonly TarEntry[]) =>
    packImage([{ architecture: 'amd64', layers: [layer] }], CONFIG)

  test('have a digest that depends on the files, not on their order', () => {
    const [a, b] = [text('a', '1'), text('b', '2')]
    assert.deepEqual(pack(a, b), pack(b, a))
    assert.notEqual(pack(a, b).digest, pack(a, text('b', '3')).digest)
  })

  test('with two architectures name an index', (t) => {
    const platforms = ['amd64', 'arm64'].map((architecture) => ({ architecture, layers: [[]] }))
    const { archive, digest } = packImage(platforms, CONFIG)
    const folder = temporaryFolder(t)
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    const read = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'))
    const [top] = read('index.json').manifests
    assert.equal(top.digest, digest)
    const { manifests } = read(`blobs/${digest.replace(':', '/')}`)
    const named = manifests.map((one: { platform: unknown }) => one.platform)
    assert.deepEqual(named, [
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux' },
    ])
  })
})

test('a bill of materials names packages by their package URLs', () => {
  const { packages } = JSON.parse(
    spdxOf(
      [
        { purl: 'pkg:npm/kubedoh', version: '1.0.0', license: 'Apache-2.0' },
        {
          purl: 'pkg:deb/debian/libstdc%2B%2B6?arch=amd64',
          version: '1+2',
          license: 'NOASSERTION',
        },
      ],
      '1970-01-01T00:00:00Z',
    ),
  )
  assert.equal(packages[1].name, 'libstdc++6')
  const [{ referenceLocator }] = packages[1].externalRefs
  assert.equal(referenceLocator, 'pkg:deb/debian/libstdc%2B%2B6@1%2B2?arch=amd64')
})

test('the entry point takes the flags of CoreDNS, and commands', (t) => {
  const folder = temporaryFolder(t, { 'package.json': '{ "type": "module" }' })
  copyFileSync(ENTRY, join(folder, 'entry.js'))
  writeFileSync(join(folder, 'run.js'), 'console.log(process.argv.slice(2).join(" "))')
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, 'entry.js'), ...args], { encoding: 'utf8' }).stdout
  assert.equal(run('-conf', '/etc/coredns/Corefile'), 'serve -conf /etc/coredns/Corefile\n')
  assert.equal(run(), 'serve\n')
  assert.equal(run('export', '--cluster', 'a'), 'export --cluster a\n')
  assert.equal(run('--help'), '--help\n')
})
