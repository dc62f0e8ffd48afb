import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'vitest'
import { loadCFunctions } from '../../../src/server/node/c-functions.ts'
import { describeUnless } from '../../describe-unless.ts'

const STRLEN = { strlen: { return: 'u64', arguments: ['pointer'] } } as const
const missing = loadCFunctions({}) === undefined && 'this Node has no node:ffi, or no 64-bit Linux'

test('returns undefined when the C library lacks a function', () => {
  assert.equal(loadCFunctions({ no_such_function: {} }), undefined)
})

describeUnless(missing, 'the C library', () => {
  test('reads a buffer at its address', () => {
    const found = loadCFunctions(STRLEN)
    assert.ok(found)
    const text = Buffer.from('twelve bytes\0')
    assert.equal(found.functions.strlen(found.addressOf(text)), 12n)
  })

  test('loads without a warning', () => {
    const module = import.meta.resolve('../../../src/server/node/c-functions.ts')
    const script = `import('${module}').then(({ loadCFunctions }) => loadCFunctions({}))`
    const output = execFileSync('sh', ['-c', '"$@" 2>&1', '', process.execPath, '-e', script])
    assert.equal(output.toString(), '')
  })
})
