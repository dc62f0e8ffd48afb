import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFileTokenStore } from '../../src/node-gateway/file-token-store.ts'
import { TOKEN_STORE_PROMISES } from '../gateway/token-store-contract.ts'
import { tokenRecord } from '../gateway/tokens.ts'
import { temporaryFolder } from './temporary-folder.ts'

describe('the tokens in a file', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, (t) => hold(createFileTokenStore(join(temporaryFolder(t), 'new', 'tokens'))))
  }

  test('lose none of many that are made at once, and are nobody else’s to read', async (t) => {
    const path = join(temporaryFolder(t), 'tokens')
    const store = createFileTokenStore(path)
    const made = await Promise.all(Array.from({ length: 20 }, () => tokenRecord()))
    await Promise.all(made.map(({ record }) => store.put(record)))
    assert.equal((await createFileTokenStore(path).list()).length, 20)
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })
})
