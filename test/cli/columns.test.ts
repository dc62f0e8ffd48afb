import assert from 'node:assert/strict'
import { test } from 'vitest'
import { formatColumns } from '../../src/cli/columns.ts'

test('formatColumns puts cells below one another, with no blanks at the end', () => {
  const rows = [
    ['ID', 'NAME', ''],
    ['1', 'a long one', 'x'],
    ['12345', '', ''],
  ]
  assert.equal(formatColumns(rows), 'ID     NAME\n1      a long one  x\n12345\n')
  assert.equal(formatColumns([]), '')
})
