import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Mutex } from '../../src/gateway/mutex.ts'

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
