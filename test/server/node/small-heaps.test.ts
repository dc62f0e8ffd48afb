import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'vitest'

const MODULE = join(import.meta.dirname, '../../../src/server/node/small-heaps.ts')
const MIB = 2 ** 20

/** Returns whether V8's flags differ afterwards, in a process of its own. */
function changesFlags(limitBytes: number): boolean {
  const script = `
    import { keepHeapsSmall } from ${JSON.stringify(MODULE)}
    import { cachedDataVersionTag } from 'node:v8'
    const before = cachedDataVersionTag()
    keepHeapsSmall(${limitBytes})
    console.log(cachedDataVersionTag() !== before)`
  const args = ['--input-type=module', '--no-warnings', '--eval', script]
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'true'
}

test('heaps stay small where the limit of the container is low', () => {
  assert.equal(changesFlags(170 * MIB), true)
  assert.equal(changesFlags(256 * MIB), true)
  assert.equal(changesFlags(512 * MIB), false)
  assert.equal(changesFlags(2 ** 64), false, 'no limit with cgroup v1')
  assert.equal(changesFlags(0), false, 'unknown')
})
