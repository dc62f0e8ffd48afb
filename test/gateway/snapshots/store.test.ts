import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createMemoryStore, Mutex, StoreError } from '../../../src/gateway/snapshots/store.ts'
import { STORE_PROMISES } from '../store-contract.ts'

describe('the store in memory', () => {
  for (const { name, hold } of STORE_PROMISES) test(name, () => hold(createMemoryStore()))
})

test('steps are taken in turn, whatever becomes of those before', async () => {
  const mutex = new Mutex()
  const said: string[] = []
  const step = (name: string, fails = false): Promise<string> =>
    mutex.run(async () => {
      said.push(`${name} begins`)
      await new Promise(setImmediate)
      said.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const [one, two, three] = [step('one'), step('two', true), step('three')]
  await assert.rejects(two, /two/)
  assert.deepEqual([await one, await three], ['one', 'three'])
  const order = ['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`])
  assert.deepEqual(said, order)
})

test('a refusal of a store names the cause to clients, and paths only to the log', () => {
  const cause = new Error('ENOSPC: no space left on device, write /var/lib/tokens.jsonl')
  const kinds = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'EROFS', 'EACCES', 'EIO'].map((code) => {
    const error = new StoreError(code, cause)
    assert.ok(error.message.includes(code) && !error.message.includes('/'), error.message)
    assert.equal(error.cause, cause)
    return `${error.status} ${error.code}`
  })
  assert.deepEqual(kinds, [
    '507 no_space',
    '507 no_space',
    '507 no_space',
    '503 read_only',
    '503 no_access',
    '500 storage_failed',
  ])
})
