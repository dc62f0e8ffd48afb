/**
 * What CONTRIBUTING.md and CI run: paths and commands that exist, valid templates.
 * @module
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { codes, filesBelow, ROOT, read, section, tableRows } from './pages.ts'

const CONTRIBUTING = read('CONTRIBUTING.md')
const SCRIPTS = [...read('package.json').matchAll(/^ {4}"([\w:]+)": "/gm)].map(
  ([, name = '']) => name,
)

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  assert.ok(typeof value === 'object' && value !== null)
  return Object.fromEntries(Object.entries(value))
}

function listOf(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value))
  return value
}

/** Whether a file has this name, or ends with this path. */
function isName(files: readonly string[], path: string): boolean {
  return files.some((file) => file.endsWith(`/${path}`))
}

describe('CONTRIBUTING.md', () => {
  test('names files and folders that exist', () => {
    const paths = codes(CONTRIBUTING)
      .filter((code) => /^(src|test|docs|worker|demo|bin|\.ci)(\/[\w./-]+)?$/.test(code))
      .filter((path) => !path.includes('NAME'))
    assert.ok(paths.length > 30)
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(ROOT, path))),
      [],
    )
  })

  test('has every folder of src', () => {
    const rows = tableRows(section(CONTRIBUTING, '## Where things are'))
    const named = rows.flatMap(([cell = '']) => codes(cell))
    const folders = readdirSync(join(ROOT, 'src')).map((name) => `src/${name}`)
    assert.deepEqual(named.filter((name) => name.startsWith('src/')).sort(), folders.sort())
  })

  test('names scripts of package.json, and every suite', () => {
    const named = [...CONTRIBUTING.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
    assert.deepEqual(
      named.filter((name) => !SCRIPTS.includes(name)),
      [],
    )
    const suites = SCRIPTS.filter((name) => name.startsWith('test:'))
    assert.deepEqual(
      suites.filter((name) => !named.includes(name)),
      [],
    )
  })

  test('names the suites of CI', () => {
    const [, list = ''] = /and\s+the suites ([^,]+(?:, `\w+`)*), within/.exec(CONTRIBUTING) ?? []
    const run = [...read('.ci/run').matchAll(/npm run test:(\w+)/g)].map(([, name]) => name)
    // One runs twice, with another family of addresses.
    assert.deepEqual(codes(list), [...new Set(run)])
  })

  test('names identifiers that the named file has', () => {
    const pairs = [...CONTRIBUTING.matchAll(/`(\w{4,})` in `((?:src|test)\/[\w./-]+\.ts)`/g)]
    assert.ok(pairs.length >= 5)
    for (const [, name = '', path = ''] of pairs)
      assert.ok(read(path).includes(name), `${name} in ${path}`)
  })

  test('names files, identifiers and modules that the code has', () => {
    const folders = ['src', 'worker', 'page', 'build', 'test', 'bench', 'demo'].filter((folder) =>
      existsSync(join(ROOT, folder)),
    )
    const files = folders.flatMap((folder) => [
      ...filesBelow(folder, '.ts'),
      ...filesBelow(folder, '.tsx'),
    ])
    const others = ['package.json', '.ci/run', '.ci/release', 'bin/kubedoh', '.changie.yaml']
    const code = [...files.filter((file) => file !== 'test/docs/repository.test.ts'), ...others]
      .map(read)
      .join('\n')
    const words = new Set(code.match(/[\w$]+/g) ?? [])
    const named = codes(CONTRIBUTING).filter((one) => !one.includes('NAME'))
    const missingFiles = named
      .filter((name) => /^[\w/.-]+\.(ts|md|toml|json)$/.test(name))
      .filter((name) => !existsSync(join(ROOT, name)) && !isName(files, name))
      // Files that a script writes are in its text.
      .filter((name) => !code.includes(`'${name}'`))
    const missingWords = named
      .flatMap((one) => /^\.?([A-Za-z_]\w*)(?=\(|$)/.exec(one)?.[1] ?? [])
      .filter((word) => !words.has(word))
    assert.deepEqual([...missingFiles, ...missingWords], [])
  })
})

describe('.github', () => {
  test('runs .ci/run with the Node of a user, Go and a time limit', () => {
    const { jobs } = recordOf(parse(read('.github/workflows/ci.yml')))
    const { ci } = recordOf(jobs)
    const job = recordOf(ci)
    assert.equal(job['timeout-minutes'], 60)
    assert.match(String(recordOf(job.container).image), /^node:20\b/)
    const steps = listOf(job.steps).map(recordOf)
    assert.ok(steps.some(({ uses }) => String(uses).startsWith('actions/setup-go@')))
    assert.equal(steps.at(-1)?.run, '.ci/run')
  })

  for (const file of ['bug.yml', 'feature.yml']) {
    test(`${file} is a form that GitHub takes`, () => {
      const form = recordOf(parse(read(`.github/ISSUE_TEMPLATE/${file}`)))
      assert.ok(typeof form.name === 'string' && typeof form.description === 'string')
      const body = listOf(form.body).map(recordOf)
      const asked = body.filter(({ type }) => type !== 'markdown')
      assert.equal(new Set(asked.map(({ id }) => id)).size, asked.length)
      for (const { type, id, attributes } of asked) {
        assert.match(String(type), /^(input|textarea|dropdown|checkboxes)$/)
        assert.match(String(id), /^[a-z]+$/)
        assert.equal(typeof recordOf(attributes).label, 'string')
      }
    })
  }
})
