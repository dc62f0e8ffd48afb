import assert from 'node:assert/strict'
import { test } from 'vitest'
import { count, formatAge, formatUntil, plainName, visible } from '../../page/visible.ts'

test('text that hides or reorders characters is shown by their numbers', () => {
  const cases: [string, string][] = [
    ['web.shop', 'web.shop'],
    ['a\u0000b\u001b[31m', 'a\\u{0}b\\u{1b}[31m'],
    ['\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['a\u200b\u2028b\u2066', 'a\\u{200b}\\u{2028}b\\u{2066}'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['größe \u{1f680}', 'größe \u{1f680}'],
  ]
  for (const [text, shown] of cases) assert.equal(visible(text), shown)
})

test('ages have one unit', () => {
  const ages = [null, -1, 0, 119, 120, 7199, 7200, 172_799, 172_800].map(formatAge)
  assert.deepEqual(ages, ['never', '0 s', '0 s', '119 s', '2 min', '119 min', '2 h', '47 h', '2 d'])
})

test('a time of today has no day', () => {
  const [noon, evening] = [new Date(2026, 10, 29, 12), new Date(2026, 10, 29, 23, 5)]
  const tomorrow = new Date(2026, 10, 30, 0, 5)
  const texts = [evening, tomorrow].map((time) => formatUntil(Number(time), Number(noon)))
  assert.deepEqual(
    texts.map((text) => [/05/.test(text), /30/.test(text)]),
    [
      [true, false],
      [true, true],
    ],
  )
})

test('counts have their noun', () => {
  const counts = [count(0, 'record'), count(1, 'address'), count(2, 'address')]
  assert.deepEqual(counts, ['0 records', '1 address', '2 addresses'])
})

test('names have no final dot, but the root', () => {
  assert.deepEqual(['a.b.', 'a.b', '.'].map(plainName), ['a.b', 'a.b', '.'])
})
