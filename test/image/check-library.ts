/**
 * The package as a library: another program compiles against its types, and runs it.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { LIBRARY } from '../../build/library.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The program of the page about the library, which uses each module. */
const PAGE = readFileSync(join(ROOT, 'docs/library.md'), 'utf8')
const [, PROGRAM = ''] = /```ts\n([\s\S]*?)```/.exec(PAGE) ?? []

/** Compiles and runs a program that has installed the package of a folder. */
export function checkLibrary(t: TestContext, packed: string): void {
  const folder = temporaryFolder(t, { 'program.ts': PROGRAM, 'package.json': '{"type":"module"}' })
  cpSync(packed, join(folder, 'node_modules/kubedoh'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  // The types need no other package but Node's, so their own files are checked as well.
  const options = { module: 'nodenext', target: 'es2024', strict: true, types: ['node'] }
  const compilerOptions = { ...options, noEmit: true, skipLibCheck: false, lib: ['es2024', 'dom'] }
  const config = { compilerOptions, files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const compiled = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  assert.equal(compiled.stdout, '')
  const ran = spawnSync(process.execPath, ['program.ts'], { cwd: folder, encoding: 'utf8' })
  assert.equal(ran.stderr, '')
  assert.deepEqual(ran.stdout.split('\n'), [
    '1 this "{" is not closed',
    'web.test. 3600 IN A 192.0.2.1',
    '200',
    'Cannot open shard: 3 bytes are not a shard',
    '',
  ])
  for (const name of LIBRARY) assert.match(PROGRAM, new RegExp(`'kubedoh/${name}'`))
}
