/**
 * `bin/kubedoh` chooses a Node: beside it, or on the PATH, and refuses one that is too old.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const NEEDS = 'Node 22.19, 24.5 or newer'
const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-launcher-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** A `node` that prints its version, or what it would run. */
function putNode(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'node')
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo "${version} \${1#${scratch}/*/} $2"; fi\n`,
  )
  chmodSync(path, 0o755)
}

let places = 0

/** Runs a copy of the launcher with the given Nodes; '' for none. */
function launch({
  beside = '',
  above = '',
  onPath = '',
  hasSources = false,
  entry = '',
}): readonly [number | null, string, string] {
  const place = join(scratch, String(places++))
  const root = join(place, 'node_modules/kubedoh')
  mkdirSync(join(root, 'bin'), { recursive: true })
  copyFileSync(join(ROOT, 'bin/kubedoh'), join(root, 'bin/kubedoh'))
  if (hasSources) {
    mkdirSync(join(root, 'src/cli'), { recursive: true })
    writeFileSync(join(root, 'src/cli/run.ts'), '')
  }
  if (beside !== '') putNode(join(root, 'node_modules/.bin'), beside)
  if (above !== '') putNode(join(place, 'node_modules/.bin'), above)
  if (onPath !== '') putNode(join(place, 'path'), onPath)
  // The launcher needs dirname of the system, which may have a Node beside it.
  const tools = join(place, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'dirname'), '#!/bin/sh\nexec /usr/bin/dirname "$@"\n', { mode: 0o755 })
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(root, 'bin/kubedoh'), 'serve'], {
    encoding: 'utf8',
    env: { PATH: `${join(place, 'path')}:${tools}`, KUBEDOH_ENTRY: entry },
  })
  return [status, stdout, stderr]
}

describe('bin/kubedoh', () => {
  const RUNS: readonly [string, Parameters<typeof launch>[0], string][] = [
    ['the Node beside it', { beside: 'v26.10.0', onPath: 'v20.1.0' }, 'v26.10.0'],
    ['the Node beside the package', { above: 'v26.10.0', onPath: 'v20.1.0' }, 'v26.10.0'],
    ['the Node on the PATH without the optional package', { onPath: 'v26.0.0' }, 'v26.0.0'],
    ['the oldest Node that will do', { onPath: 'v22.19.0' }, 'v22.19.0'],
    ['Node 24.5', { onPath: 'v24.5.0' }, 'v24.5.0'],
    ['a Node of three digits', { onPath: 'v100.0.0' }, 'v100.0.0'],
    [
      'the PATH when the Node beside it is too old',
      { above: 'v18.0.0', onPath: 'v24.10.0' },
      'v24.10.0',
    ],
  ]
  for (const [what, nodes, version] of RUNS) {
    it(`runs ${what}`, () => {
      const line = `${version} node_modules/kubedoh/dist/run.js serve\n`
      assert.deepEqual(launch(nodes), [0, line, ''])
    })
  }

  it('runs the sources in a checkout', () => {
    const line = 'v26.10.0 node_modules/kubedoh/src/cli/run.ts serve\n'
    assert.deepEqual(launch({ onPath: 'v26.10.0', hasSources: true }), [0, line, ''])
  })

  it('runs what KUBEDOH_ENTRY names, in a checkout as well', () => {
    const nodes = { onPath: 'v26.10.0', hasSources: true, entry: '/a/b/run.js' }
    assert.deepEqual(launch(nodes), [0, 'v26.10.0 /a/b/run.js serve\n', ''])
  })

  for (const version of ['v20.20.2', 'v22.18.0', 'v23.11.0', 'v24.4.1', 'none']) {
    it(`refuses ${version} on the PATH in one line`, () => {
      const [status, stdout, stderr] = launch({ onPath: version === 'none' ? '' : version })
      const rest = 'install a newer Node, or install kubedoh with its optional npm packages'
      const line = `kubedoh: needs ${NEEDS}; the PATH has ${version}; ${rest}\n`
      assert.deepEqual([status, stdout, stderr], [1, '', line])
    })
  }

  it('requires the Node versions of package.json and README', () => {
    const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
    assert.match(read('package.json'), /"node": "\^22\.19 \|\| >=24\.5"/)
    assert.ok(read('README.md').includes(NEEDS))
  })
})
