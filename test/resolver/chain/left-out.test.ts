import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { LEFT_OUT, leftOutBecause } from '../../../src/resolver/chain/left-out.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'

describe('what is left out', () => {
  const names = LEFT_OUT.flatMap(({ plugins }) => plugins)

  test('is not supported, and is reported once', () => {
    assert.deepEqual(
      names.filter((name) => ALL_PLUGINS.has(name)),
      [],
    )
    assert.equal(new Set(names).size, names.length)
  })

  test('says why, and what to do', () => {
    assert.equal(
      leftOutBecause('azure'),
      'plugin "azure" is not supported: its records come from the API of a cloud or of Nomad; ' +
        'forward to a CoreDNS that has it, or serve a copy with file',
    )
    assert.equal(leftOutBecause('cache'), undefined)
  })
})
