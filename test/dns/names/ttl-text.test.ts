import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseTtl } from '../../../src/dns/names/ttl-text.ts'

describe('parseTtl', () => {
  const cases: { text: string; seconds: number | undefined }[] = [
    { text: '0', seconds: 0 },
    { text: '3600', seconds: 3600 },
    { text: '30s', seconds: 30 },
    { text: '5m', seconds: 300 },
    { text: '2H', seconds: 7200 },
    { text: '1d', seconds: 86_400 },
    { text: '1w', seconds: 604_800 },
    { text: '1h30m', seconds: 5400 },
    { text: '1h30', seconds: 3630 },
    { text: '1W2D3H4M5S', seconds: 788_645 },
    { text: '4294967295', seconds: 0xffffffff },
    { text: '4294967296', seconds: undefined },
    { text: '8000w', seconds: undefined },
    { text: '', seconds: undefined },
    { text: 'h', seconds: undefined },
    { text: '1hm', seconds: undefined },
    { text: '1x', seconds: undefined },
    { text: '-1', seconds: undefined },
    { text: '1.5h', seconds: undefined },
    { text: ' 1', seconds: undefined },
  ]
  for (const { text, seconds } of cases) {
    test(`"${text}" is ${seconds ?? 'no TTL'}`, () => {
      assert.equal(parseTtl(text), seconds)
    })
  }

  test('adds up parts', () => {
    const part = fc.tuple(fc.nat(999), fc.constantFrom('s', 'm', 'h'))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const alone = parts.map(([amount, unit]) => parseTtl(`${amount}${unit}`) ?? NaN)
        const text = parts.map((words) => words.join('')).join('')
        assert.equal(
          parseTtl(text),
          alone.reduce((sum, seconds) => sum + seconds, 0),
        )
      }),
    )
  })

  test('takes no longer for a long text', () => {
    assert.equal(parseTtl(`${'1'.repeat(100_000)}x`), undefined)
  })
})
