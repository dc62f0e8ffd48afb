import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatSignatureTime, parseSignatureTime } from '../../src/dns/signature-time.ts'

describe('times of signatures', () => {
  const cases: { text: string; seconds: number | undefined }[] = [
    { text: '20030322173103', seconds: 1_048_354_263 },
    { text: '19700101000000', seconds: 0 },
    { text: '20240229235959', seconds: 1_709_251_199 },
    { text: '21060207062816', seconds: 0 },
    { text: '1048354263', seconds: 1_048_354_263 },
    { text: '0', seconds: 0 },
    { text: '4294967296', seconds: undefined },
    { text: '20230229000000', seconds: undefined },
    { text: '20241301000000', seconds: undefined },
    { text: '20240101240000', seconds: undefined },
    { text: '19691231235959', seconds: undefined },
    { text: '2024010100000', seconds: undefined },
    { text: '', seconds: undefined },
    { text: '2024-01-01', seconds: undefined },
  ]
  for (const { text, seconds } of cases) {
    test(`"${text}" is ${seconds ?? 'none'}`, () => {
      assert.equal(parseSignatureTime(text), seconds)
    })
  }

  test('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (seconds) => {
        const text = formatSignatureTime(seconds)
        assert.match(text, /^\d{14}$/)
        assert.equal(parseSignatureTime(text), seconds)
      }),
    )
  })
})
