/**
 * The npm package as package managers install it: the launcher finds the Node that came with it,
 * wherever the manager has put that, else one on the PATH.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PNPM = 'pnpm@10.34.8'
/** The folder of the Node that runs the suite, which npm has pinned. */
const PINNED = dirname(process.execPath)

type Case = {
  readonly name: string
  /** A shell command that installs `$1` in the present folder, or installs and runs it. */
  readonly install: string
  /** A shell command that runs it. */
  readonly run: string
  /** Whether the PATH has the pinned Node, rather than none but the machine's. */
  readonly hasNode?: true
}

const CASES: readonly Case[] = [
  {
    name: 'npm install',
    install: 'npm install --no-audit "$1"',
    run: 'node_modules/.bin/kubedoh',
  },
  {
    name: 'npm install -g',
    install: 'npm install -g --prefix=. --no-audit "$1"',
    run: 'bin/kubedoh',
  },
  {
    name: 'npm install --omit=optional, with a Node on the PATH',
    install: 'npm install --omit=optional --no-audit "$1"',
    run: 'node_modules/.bin/kubedoh',
    hasNode: true,
  },
  { name: 'npx', install: 'true', run: 'npx --yes --package="$1" kubedoh' },
  {
    name: 'pnpm add, by pnpm exec',
    install: `npx --yes ${PNPM} add "$1"`,
    run: `npx --yes ${PNPM} exec kubedoh`,
  },
]

describe('the package', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-managers-'))
  let file = ''
  let version = ''
  afterAll(() => rmSync(scratch, { recursive: true }))

  beforeAll(() => {
    const pack = ['pack', '--json', '--pack-destination', scratch]
    const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }))
    file = join(scratch, packed.filename)
    version = packed.version
  })

  for (const [i, { name, install, run, hasNode }] of CASES.entries()) {
    test(`runs after ${name}`, () => {
      const folder = join(scratch, String(i))
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{ "private": true }')
      writeFileSync(join(folder, 'Corefile'), '. {\n  whoami\n}\n')
      // npm of the suite has put the pinned Node first.
      const own = (process.env.PATH ?? '')
        .split(':')
        .filter((path) => !path.includes('/node_modules/'))
      const env = {
        ...process.env,
        PATH: [...(hasNode ? [PINNED] : []), ...own].join(':'),
      }
      const shell = (command: string) =>
        spawnSync('sh', ['-ec', command, 'sh', file], { cwd: folder, env, encoding: 'utf8' })
      const installed = shell(install)
      assert.equal(installed.status, 0, installed.stdout + installed.stderr)
      assert.equal(shell(`${run} --version`).stdout, `${version}\n`)
      const { status, stdout, stderr } = shell(`${run} check Corefile`)
      assert.deepEqual([status, stderr], [0, ''], stdout)
    })
  }
})
