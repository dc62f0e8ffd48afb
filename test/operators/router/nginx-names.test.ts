import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { withDistinctNames } from '../../../src/operators/router/nginx-names.ts'
import { collidingHosts, tableOfHosts } from './colliding-hosts.ts'

describe('hosts of one hash', () => {
  test('are eight at most, the oldest; the objects of the others are refused', () => {
    const hosts = collidingHosts(12)
    const table = tableOfHosts(['other.test', ...hosts])
    const { hosts: kept, verdicts } = withDistinctNames(table)
    assert.deepEqual(
      kept.map(({ host }) => host).sort(),
      ['other.test', ...hosts.slice(0, 8)].sort(),
    )
    assert.deepEqual(
      verdicts.flatMap(({ object, refusal }) => (refusal === undefined ? [] : object.hosts)),
      table.verdicts.slice(-4).flatMap(({ object }) => object.hosts),
    )
    assert.deepEqual(verdicts.at(-1)?.refusal, {
      reason: 'ConfigurationRefused',
      message: 'nginx has the same hash for 8 older hosts',
    })
  })

  test('are no more than that among 10,000 other hosts', () => {
    const table = tableOfHosts(Array.from({ length: 10_000 }, (_, i) => `h${i}.apps.example.org`))
    assert.equal(withDistinctNames(table).hosts.length, 10_000)
  })
})
