import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type LocalGateway, startGateway } from '../../demo/gateway.ts'
import { TOKEN_STORE_PROMISES } from '../gateway/token-store-contract.ts'

describe('the tokens in a Durable Object', () => {
  let worker: LocalGateway | undefined
  beforeAll(async () => {
    const entry = join(import.meta.dirname, 'store-worker.ts')
    worker = await startGateway({ variables: {}, port: 0, entry })
  })
  afterAll(() => worker?.stop())
  for (const [index, { name }] of TOKEN_STORE_PROMISES.entries()) {
    test(name, async () => {
      const response = await fetch(`${worker?.url}/tokens/${index}`)
      assert.equal(await response.text(), '')
      assert.equal(response.status, 200)
    })
  }
})
