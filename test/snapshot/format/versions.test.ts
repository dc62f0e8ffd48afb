import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  describeMismatch,
  formatVersions,
  newestOfBoth,
  parseVersions,
  VERSIONS_READ,
  VERSIONS_WRITTEN,
} from '../../../src/snapshot/format/versions.ts'

test('this build reads what it writes', () => {
  for (const version of VERSIONS_WRITTEN) assert.ok(VERSIONS_READ.includes(version))
  assert.deepEqual(parseVersions(formatVersions(VERSIONS_READ)), VERSIONS_READ)
})

describe('the header', () => {
  const cases: [text: string | null, versions: readonly number[]][] = [
    [null, [1]],
    ['', [1]],
    ['2', [2]],
    ['1, 2', [1, 2]],
    [' 3 ,2', [3, 2]],
    ['1;2', [1]],
    ['2,', [1]],
    ['0', [1]],
    ['12345', [1]],
    ['2, x', [1]],
    [Array.from({ length: 16 }, () => '2').join(), Array.from({ length: 16 }, () => 2)],
    [Array.from({ length: 17 }, () => '2').join(), [1]],
  ]
  test.each(cases)('%j', (text, versions) => {
    assert.deepEqual(parseVersions(text), versions)
  })
})

describe('the version to write', () => {
  const cases: [written: number[], read: number[], version: number | undefined][] = [
    [[1], [1], 1],
    [[1], [1, 2], 1],
    [[1, 2], [1], 1],
    [[1, 2], [2, 1], 2],
    [[2, 1, 3], [1, 2], 2],
    [[2], [1], undefined],
    [[1], [2, 3], undefined],
  ]
  test.each(cases)('of %j for a gateway that reads %j is %j', (written, read, version) => {
    assert.equal(newestOfBoth(written, read), version)
  })

  test('is none where one side is too old, which the message names', () => {
    const text = 'The gateway reads snapshots of version 2, 3, this exporter writes 1'
    assert.equal(describeMismatch([1], [2, 3]), `${text}; upgrade the exporter`)
    assert.match(describeMismatch([2, 3], [1]), /version 1, .* writes 2, 3; upgrade the gateway$/)
  })
})
