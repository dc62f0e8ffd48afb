import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const MODULE = import.meta.resolve('../../../src/server/node/compile-cache.ts')

/** Writes a program that imports itself with the cache. @returns the folder, and how to run it */
function program(t: TestContext, name: string): { folder: string; run: () => string } {
  const folder = temporaryFolder(t)
  const entry = join(folder, name)
  writeFileSync(join(folder, 'other.mjs'), 'console.log("runs")')
  writeFileSync(
    entry,
    `import { storeCompiledCode, useCompileCache } from ${JSON.stringify(MODULE)}
useCompileCache(import.meta.filename)
await import('./other.mjs')
storeCompiledCode()
`,
  )
  // The tests' own cache would take precedence, and a run that counts coverage has none.
  const others = Object.entries(process.env).filter(([name]) => !name.endsWith('COMPILE_CACHE'))
  const env = Object.fromEntries(others)
  const run = (): string => spawnSync(process.execPath, [entry], { encoding: 'utf8', env }).stdout
  return { folder, run }
}

describe('compiled code', () => {
  test('is kept beside a bundle', (t) => {
    const { folder, run } = program(t, 'run.js')
    assert.deepEqual([run(), run()], ['runs\n', 'runs\n'])
    assert.ok(readdirSync(join(folder, '.cache')).length > 0)
  })

  test('is not kept beside sources', (t) => {
    const { folder, run } = program(t, 'run.ts')
    assert.equal(run(), 'runs\n')
    assert.ok(!existsSync(join(folder, '.cache')))
  })

  test('is not missed where its folder cannot be created', (t) => {
    const { folder, run } = program(t, 'run.js')
    writeFileSync(join(folder, '.cache'), 'not a folder')
    assert.equal(run(), 'runs\n')
  })
})
