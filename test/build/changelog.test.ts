import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const numbers = (file: string): number[] => file.split('.').slice(0, 3).map(Number)

test('CHANGELOG.md is the versions in .changes, the newest first', () => {
  const versions = readdirSync(join(ROOT, '.changes')).filter((name) => /^\d/.test(name))
  const sorted = versions.sort((a, b) => {
    const [one, other] = [numbers(a), numbers(b)]
    const index = one.findIndex((number, i) => number !== other[i])
    return (other[index] ?? 0) - (one[index] ?? 0)
  })
  const parts = ['header.md', ...sorted].map((name) => read(`.changes/${name}`).trim())
  assert.equal(read('CHANGELOG.md').trim(), parts.join('\n\n'))
})

test('changes that no release has have a kind and a text of one line', () => {
  const { kinds } = parse(read('.changie.yaml')) as { kinds: { label: string }[] }
  const labels = kinds.map(({ label }) => label)
  const folder = '.changes/unreleased'
  for (const name of readdirSync(join(ROOT, folder)).filter((file) => file !== '.gitkeep')) {
    const { kind, body } = parse(read(`${folder}/${name}`)) as { kind: string; body: string }
    assert.ok(labels.includes(kind), name)
    assert.match(body, /^\S.*\.$/, name)
  }
})
