import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  createMemoryTokenStore,
  formatTokenRecord,
  parseTokenRecord,
} from '../../../src/gateway/access/token-store.ts'
import { TOKEN_STORE_PROMISES } from '../token-store-contract.ts'
import { tokenRecord } from '../tokens.ts'

describe('a store of tokens in memory', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, () => hold(createMemoryTokenStore()))
  }
})

describe('a record as text', () => {
  test('is read as it was written', async () => {
    for (const expiresMs of [undefined, 5000]) {
      const { record } = await tokenRecord({ expiresMs, identities: ['cert:ab'] })
      assert.deepEqual(parseTokenRecord(formatTokenRecord(record)), record)
    }
  })

  test('has a role that a token may have, or is none', async () => {
    const { record } = await tokenRecord({ role: 'operator', by: 'https://sso.test ann' })
    const text = formatTokenRecord(record)
    assert.deepEqual(parseTokenRecord(text), record)
    for (const role of ['administrator', 'root', '', 1]) {
      const wrong = text.replace('"role":"operator"', `"role":${JSON.stringify(role)}`)
      assert.equal(parseTokenRecord(wrong), undefined)
    }
  })

  for (const text of ['null', '[]', '{}', '{"id":"a"}', '"text"']) {
    test(`is nothing else: ${text}`, () => {
      assert.equal(parseTokenRecord(text), undefined)
    })
  }

  test('is not half of one', async () => {
    const { record } = await tokenRecord()
    const wrong = { name: 1, scope: {}, identities: [1], secrets: {}, createdMs: '' }
    for (const [field, value] of Object.entries(wrong)) {
      assert.equal(
        parseTokenRecord(JSON.stringify({ ...record, [field]: value })),
        undefined,
        field,
      )
    }
  })
})
