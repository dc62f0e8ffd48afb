/**
 * docs/failures.md is true to the code: its times are constants of the code, and the log lines,
 * explanations and metrics that it quotes are those that the code writes.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { codes, constantValue, filesBelow, read, section, tableRows } from './pages.ts'

const PAGE = read('docs/failures.md')
const NUMBERS = tableRows(section(PAGE, '## Numbers'))
const PROSE = PAGE.slice(0, PAGE.indexOf('## Numbers')).replace(/\s+/g, ' ')
const CODE = [...filesBelow('src', '.ts'), ...filesBelow('worker', '.ts')].map(read).join('\n')

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  days: 86_400_000,
}
const TIME = /\b(\d[\d.,]*) (ms|s|min|h|days)\b/g

function milliseconds(number: string, unit: string): number {
  return Number(number.replaceAll(',', '')) * (UNIT_MS[unit] ?? Number.NaN)
}

/** Returns the fixed parts of a message with `…`, `N` and words in capitals for what varies. */
function fixedParts(message: string): readonly string[] {
  return message.split(/…|\bN\b|\b[A-Z]{4,}\b/).filter((part) => part.trim().length > 4)
}

describe('docs/failures.md', () => {
  for (const [time = '', name = '', file = ''] of NUMBERS) {
    const [constant = ''] = codes(name)
    const [path = ''] = codes(file)
    test(`${constant} of ${path} is ${time}`, () => {
      const [, number = '', unit = ''] = [...time.matchAll(TIME)][0] ?? []
      const scale = /SECONDS/.test(constant) ? 1000 : 1
      assert.equal(milliseconds(number, unit), scale * constantValue(constant, read(path)))
    })
  }

  test('has no time that is not among the numbers', () => {
    const known = new Set(
      NUMBERS.flatMap(([time = '']) =>
        [...time.matchAll(TIME)].map(([, number = '', unit = '']) => milliseconds(number, unit)),
      ),
    )
    const unknown = [...PROSE.matchAll(TIME)]
      .filter(([, number = '', unit = '']) => !known.has(milliseconds(number, unit)))
      .map(([text]) => text)
    assert.deepEqual(unknown, [])
  })

  test('has no number that the prose does not use', () => {
    const used = new Set([...PROSE.matchAll(TIME)].map(([text]) => text))
    const idle = NUMBERS.filter(([time = '']) => !used.has(time))
    assert.deepEqual(idle, [])
  })

  test('quotes log lines as the code writes them', () => {
    const quoted = [...PROSE.matchAll(/logs? `([^`]+)`/g)].map(([, message = '']) => message)
    assert.ok(quoted.length > 10)
    const wrong = quoted.flatMap(fixedParts).filter((part) => !CODE.includes(part))
    assert.deepEqual(wrong, [])
  })

  test('quotes explanations of extended errors as the code writes them', () => {
    const quoted = [...PROSE.matchAll(/EDE \d+[^"|.]*"([^"]+)"/g)].map(([, text = '']) => text)
    assert.ok(quoted.length >= 4)
    assert.deepEqual(
      quoted.filter((text) => !CODE.includes(`'${text}'`)),
      [],
    )
  })

  test('names metrics that exist', () => {
    const named = [...PROSE.matchAll(/\b(?:kubedoh|coredns)_\w+/g)].map(([name]) => name)
    // The exporter's metrics get their prefix in one place.
    const written = (name: string): string => name.replace(/^kubedoh_exporter_/, '')
    assert.deepEqual(
      named.filter((name) => !CODE.includes(`'${name}'`) && !CODE.includes(`'${written(name)}'`)),
      [],
    )
  })
})
