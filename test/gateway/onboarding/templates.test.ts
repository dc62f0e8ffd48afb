import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { kitFiles, readKit } from '../../../src/gateway/onboarding/kit.ts'

const FOLDER = join(import.meta.dirname, '../../../src/gateway/onboarding/templates')
const audiences = { github: 'kubedoh', gitlab: 'kubedoh' }
const domains = ['a.test', 'b.test']
const hostname = '0wkp1p09z9e7g10he8vhtar2er.doh.example.org'
const files = await kitFiles(
  readKit('https://dns.example.net', 'kdt_1_a', domains, { audiences, hostname }),
)
const PLIST = 'import plistlib, sys; plistlib.loads(sys.stdin.buffer.read())'
const PARSE = 'import ast, sys; ast.parse(sys.stdin.read())'
/** What reads a file from its standard input, complains and fails. */
const TOOLS: readonly (readonly [files: RegExp, tool: string, ...args: string[]])[] = [
  [/\.sh$/, 'sh', '-n'],
  [/\.mjs$/, process.execPath, '--check', '--input-type=module', '-'],
  [/\.py$/, 'python3', '-c', PARSE],
  [/\.mobileconfig$/, 'python3', '-c', PLIST],
  [/\.go$/, 'gofmt', '-d'],
]

test('each template is a file of the kit', () => {
  assert.deepEqual(files.map(({ name }) => name).sort(), readdirSync(FOLDER).sort())
})

test('all places are filled but that of a program', () => {
  const unfilled = files.flatMap(({ name, text }) =>
    [...text.matchAll(/\$\{\w+\}/g)].map(([place]) => `${name}: ${place}`),
  )
  assert.deepEqual(unfilled, ['node.mjs: $' + '{hostname}'])
})

describe('programs and documents are valid', () => {
  for (const { name, text } of files) {
    if (name.endsWith('.json')) test(name, () => assert.equal(typeof JSON.parse(text), 'object'))
    if (name.endsWith('.yml')) test(name, () => assert.equal(typeof parse(text), 'object'))
    for (const [, tool, ...args] of TOOLS.filter(([one]) => one.test(name))) {
      test(name, ({ skip }) => {
        const options = { input: text, encoding: 'utf8' } as const
        const { status, stdout, stderr, error } = spawnSync(tool, args, options)
        // The suite of clients, which needs these tools, runs each program.
        if (error !== undefined && 'code' in error && error.code === 'ENOENT') return skip()
        assert.deepEqual([status, stdout, stderr], [0, '', ''])
      })
    }
  }
})
