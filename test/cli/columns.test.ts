import assert from 'node:assert/strict'
import { test } from 'vitest'
import { formatColumns } from '../../src/cli/columns.ts'

test('formatColumns aligns cells, without trailing spaces', () => {
  const rows = [
    ['ID', 'NAME', ''],
    ['1', 'a long one', 'x'],
    ['12345', '', ''],
  ]
  assert.equal(formatColumns(rows), 'ID     NAME\n1      a long one  x\n12345\n')
  assert.equal(formatColumns([]), '')
})
