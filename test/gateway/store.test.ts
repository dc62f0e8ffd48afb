import { describe, test } from 'vitest'
import { createMemoryStore } from '../../src/gateway/store.ts'
import { STORE_PROMISES } from './store-contract.ts'

describe('the store in memory', () => {
  for (const { name, hold } of STORE_PROMISES) test(name, () => hold(createMemoryStore()))
})
