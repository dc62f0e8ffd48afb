import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { configError } from '../../../src/corefile/problem.ts'
import { preparePlugins } from '../../../src/resolver/chain/prepare-plugins.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'

const AT = { file: 'Corefile', line: 1, column: 1 }

function plugin(name: string, prepare?: () => Promise<void>): Plugin {
  return { name, ...(prepare && { prepare }) }
}

describe('preparePlugins', () => {
  test('prepares one after the other', async () => {
    const seen: string[] = []
    const preparing = (name: string): Plugin =>
      plugin(name, async () => {
        seen.push(`${name} begins`)
        await Promise.resolve()
        seen.push(`${name} ends`)
      })
    await preparePlugins([preparing('a'), plugin('b'), preparing('c')])
    assert.deepEqual(seen, ['a begins', 'a ends', 'c begins', 'c ends'])
  })

  test('rejects with the mistakes of all', async () => {
    const failing = (message: string): Plugin =>
      plugin(message, () => Promise.reject(configError(AT, message)))
    await assert.rejects(preparePlugins([failing('one'), failing('two')]), {
      message: 'Corefile:1:1: one\nCorefile:1:1: two',
    })
  })

  test('passes on other errors', async () => {
    const failing = plugin('a', () => Promise.reject(new TypeError('no')))
    await assert.rejects(preparePlugins([failing]), new TypeError('no'))
  })
})
