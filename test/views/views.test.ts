/**
 * The short form of `views.suite.ts`: a few clusters, and visibility broken on purpose.
 */
import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { Visibility } from '../../src/snapshot/read/visibility.ts'
import { compareWorlds, formatTally } from './compare.ts'

const SHORT = { worlds: 12, requests: 150 }

describe('what a token may not see', () => {
  test('looks, byte for byte, as if it were absent', async () => {
    const tally = await compareWorlds(1, SHORT)
    assert.deepEqual(tally.differences, [])
    assert.ok(tally.kinds.size > 8, formatTally(tally))
  })

  const mutations: { name: string; mutate: () => void }[] = [
    {
      name: 'namespaces are not hidden',
      mutate: () => vi.spyOn(Visibility.prototype, 'has').mockImplementation(() => true),
    },
    {
      name: 'name servers are not hidden',
      mutate: () => vi.spyOn(Visibility.prototype, 'hasNamed').mockImplementation(() => true),
    },
    {
      name: 'names above hostnames are not hidden',
      mutate: () => vi.spyOn(Visibility.prototype, 'hasOneOf').mockImplementation(() => true),
    },
    {
      name: 'the second namespace of a shard is not hidden',
      mutate: () => {
        const { has } = Visibility.prototype
        vi.spyOn(Visibility.prototype, 'has').mockImplementation(function (
          this: Visibility,
          ...args: Parameters<typeof has>
        ) {
          return args[1] === 2 || has.apply(this, args)
        })
      },
    },
  ]
  for (const { name, mutate } of mutations) {
    test(`is found out when ${name}`, async () => {
      mutate()
      const tally = await compareWorlds(1, SHORT)
      assert.ok(tally.different > 0, formatTally(tally))
    })
  }
})
