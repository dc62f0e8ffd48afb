import { env } from 'cloudflare:workers'
import { describe, test } from 'vitest'
import { directoryIn } from '../../worker/directory-stub.ts'
import { DIRECTORY_PROMISES } from '../gateway/directory-contract.ts'
import { TOKEN_STORE_PROMISES } from '../gateway/token-store-contract.ts'

describe('the tokens in a Durable Object', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, async () => {
      const object = env.TOKENS.getByName(name)
      await hold({
        list: async () => object.list(),
        add: async (record) => object.add(record),
        replace: async (before, next) => object.replace(before, next),
        remove: async (id) => object.remove(id),
        noteUse: async (days) => object.noteUse(days),
      })
    })
  }
})

describe('the directory in the same object', () => {
  for (const { name, hold } of DIRECTORY_PROMISES) {
    test(name, () => hold(directoryIn(() => env.TOKENS.getByName(`directory ${name}`))))
  }
})
