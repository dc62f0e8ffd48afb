/**
 * What every store of tokens promises, whatever keeps them. Each promise is tried on a new, empty
 * store; so that it can run where a store runs, it needs only Web APIs.
 * @module
 */
import type { TokenRecord } from '../../src/gateway/token.ts'
import type { TokenStore } from '../../src/gateway/token-store.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

/** A promise; `hold` rejects when it is broken. */
export type TokenStorePromise = {
  readonly name: string
  readonly hold: (store: TokenStore) => Promise<void>
}

/** The promises. */
export const TOKEN_STORE_PROMISES: readonly TokenStorePromise[] = [
  {
    name: 'has nothing at first',
    hold: async (store) => {
      same(await store.list(), [])
      same(await store.remove('a'), false)
    },
  },
  {
    name: 'gives records back whole',
    hold: async (store) => {
      await store.put(record('a', 'one'))
      await store.put(record('b', 'two'))
      same(await sorted(store), [record('a', 'one'), record('b', 'two')])
    },
  },
  {
    name: 'puts a record in place of the one with its identifier',
    hold: async (store) => {
      await store.put(record('a', 'one'))
      await store.put(record('a', 'two'))
      same(await store.list(), [record('a', 'two')])
    },
  },
  {
    name: 'removes a record once',
    hold: async (store) => {
      await store.put(record('a', 'one'))
      await store.put(record('b', 'two'))
      same(await store.remove('a'), true)
      same(await store.remove('a'), false)
      same(await store.list(), [record('b', 'two')])
    },
  },
]

function record(id: string, name: string): TokenRecord {
  const secrets = [{ sha256: 'a'.repeat(64), expiresMs: undefined }]
  const times = { createdMs: 1, expiresMs: id === 'a' ? undefined : 2 }
  return { id, name, scope: WHOLE_SCOPE, identities: ['cert:ab'], secrets, ...times }
}

async function sorted(store: TokenStore): Promise<TokenRecord[]> {
  return [...(await store.list())].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function same(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${one} is not ${other}`)
}
