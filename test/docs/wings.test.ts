import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { MAY_IMPORT, ROOMS } from '../tidy.ts'
import { codes, filesBelow, ROOT, read, tableRows } from './pages.ts'

const WINGS = Object.keys(MAY_IMPORT).filter((wing) => wing.startsWith('src/'))

describe('the README of each wing', () => {
  for (const wing of WINGS) {
    const page = `${wing}/README.md`
    test(`${page} names files that exist, and how to test it alone`, () => {
      const text = read(page)
      const files = codes(text).filter((code) => /^[a-z-]+(\/[a-z0-9-]+)*\.ts$/.test(code))
      const own = filesBelow(wing, '.ts')
      const missing = files.filter(
        (file) =>
          !own.some((path) => path.endsWith(`/${file}`)) &&
          !['src', '.'].some((top) => existsSync(join(ROOT, top, file))),
      )
      assert.deepEqual(missing, [])
      assert.match(text, /`npm test -- test\//)
    })
  }

  for (const [wing, rooms] of Object.entries(ROOMS)) {
    test(`${wing}/README.md has its rooms`, () => {
      const [, table = ''] = read(`${wing}/README.md`).split('| room, the lowest first |')
      const named = tableRows(table)
        .flatMap(([cell = '']) => codes(cell))
        .map((code) => code.replace('/NAME', ''))
      const expected = rooms.filter((room) => room !== '.')
      assert.deepEqual(
        named.filter((name) => expected.includes(name)),
        expected,
      )
    })
  }
})
