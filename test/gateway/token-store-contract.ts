/**
 * The promises of every token store, whatever keeps the records. Each promise gets a new, empty
 * store. Races go through the routes, as operators' requests do. The promises need only Web APIs,
 * so that they can run where a store runs.
 * @module
 */

import { hashToken, type TokenRecord } from '../../src/gateway/access/token.ts'
import type { TokenStore } from '../../src/gateway/access/token-store.ts'
import { errorResponse, HttpError } from '../../src/gateway/doh/http-error.ts'
import { createTokenRoutes } from '../../src/gateway/routes/token-routes.ts'
import { NO_TIME } from '../turns.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

/** A promise; `hold` rejects when it is broken. */
export type TokenStorePromise = {
  readonly name: string
  readonly hold: (store: TokenStore) => Promise<void>
}

const ADMIN = 'the-token-of-the-operator'
const ROUNDS = 20

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
      same(await store.add(record('a', 'one')), { kind: 'added' })
      same(await store.add(record('b', 'two')), { kind: 'added' })
      same(await sorted(store), [record('a', 'one'), record('b', 'two')])
      const operator = {
        ...record('c', 'three'),
        by: 'https://sso.test ann',
        role: 'operator' as const,
      }
      await store.add(operator)
      same((await sorted(store)).at(-1), operator)
    },
  },
  {
    name: 'adds no record in place of another one',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      same(await store.add(record('a', 'two')), { kind: 'exists' })
      same(await store.list(), [record('a', 'one')])
    },
  },
  {
    name: 'adds no second record with an identity',
    hold: async (store) => {
      await store.add(record('a', 'one', ['cert:aa', 'cert:ab']))
      const taken = { kind: 'taken', identity: 'cert:ab', id: 'a' }
      same(await store.add(record('b', 'two', ['cert:ab'])), taken)
      await store.remove('a')
      same(await store.add(record('b', 'two', ['cert:ab'])), { kind: 'added' })
    },
  },
  {
    name: 'adds all records of another store once, and none where one differs',
    hold: async (store) => {
      await store.add(record('a', 'one', ['cert:aa']))
      await store.noteUse([['a', 20_000]])
      const used = { ...record('a', 'one', ['cert:aa']), usedDay: 20_000 }
      const wanted = [record('a', 'one', ['cert:aa']), record('b', 'two'), record('c', 'three')]
      same(await store.addAll(wanted), { added: ['b', 'c'], same: 1, refused: [] })
      same(await store.addAll(wanted), { added: [], same: 3, refused: [] })
      const all = [used, record('b', 'two'), record('c', 'three')]
      same(await sorted(store), all)
      const narrow = { ...record('b', 'two').scope, namespaces: ['shop'] }
      for (const [other, refused] of [
        [
          { ...record('b', 'two'), scope: narrow },
          { id: 'b', reason: 'differs' },
        ],
        [
          { ...record('b', 'two'), secrets: [] },
          { id: 'b', reason: 'differs' },
        ],
        [
          { ...record('a', 'one', ['cert:aa']), expiresMs: 5 },
          { id: 'a', reason: 'differs' },
        ],
        [record('e', 'five', ['cert:aa']), { id: 'e', reason: 'identity_taken' }],
      ] as const) {
        const outcome = await store.addAll([record('d', 'four'), other])
        same(outcome, { added: [], same: 0, refused: [refused] })
      }
      same(await sorted(store), all)
    },
  },
  {
    name: 'keeps the later of two revocations of a subject',
    hold: async (store) => {
      const nothing = { clusters: [], origins: [], namespaces: [], recurse: false }
      const revoked = (id: string, createdMs: number, sub = 'ann'): TokenRecord => ({
        ...{ id, name: '', scope: nothing, identities: [`revoked:https://sso.test ${sub}`] },
        ...{ secrets: [], createdMs, expiresMs: createdMs + 9 },
      })
      await store.add(revoked('a', 5))
      same((await store.addAll([revoked('b', 4), revoked('a', 3)])).added, [])
      same(await store.list(), [revoked('a', 5)])
      same((await store.addAll([revoked('b', 7)])).added, ['a'])
      same(await store.list(), [revoked('a', 7)])
      same((await store.addAll([revoked('b', 9), revoked('a', 8)])).added, ['a'])
      same((await store.addAll([revoked('a', 10, 'bob')])).refused, [
        { id: 'a', reason: 'differs' },
      ])
      same(await store.list(), [revoked('a', 9)])
    },
  },
  {
    name: 'replaces a record only when it is still the one that was read',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      const [read = record('a', '')] = await store.list()
      same(await store.replace(read, record('a', 'two')), true)
      same(await store.replace(read, record('a', 'three')), false)
      same(await store.list(), [record('a', 'two')])
    },
  },
  {
    name: 'replaces no record that was removed',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      await store.remove('a')
      same(await store.replace(record('a', 'one'), record('a', 'two')), false)
      same(await store.list(), [])
    },
  },
  {
    name: 'notes the newest day of use, and none for unknown tokens',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      await store.add(record('b', 'two'))
      await store.noteUse([
        ['a', 20_000],
        ['c', 20_000],
      ])
      await store.noteUse([['a', 19_999]])
      same(await sorted(store), [{ ...record('a', 'one'), usedDay: 20_000 }, record('b', 'two')])
      await store.noteUse([['a', 20_001]])
      const [read = record('a', '')] = await sorted(store)
      same(read.usedDay, 20_001)
      same(await store.replace(read, { ...read, name: 'three' }), true)
    },
  },
  {
    name: 'removes a record once',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      await store.add(record('b', 'two'))
      same(await store.remove('a'), true)
      same(await store.remove('a'), false)
      same(await store.list(), [record('b', 'two')])
    },
  },
  {
    name: 'replaces the tokens of the objects of a cluster, and no others',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      const [first, second] = [ofObject('shop', '1', 'b'), ofObject('shop', '2', 'c')]
      const other = ofObject('prod', '3', 'd')
      await store.replaceObjects('prod', [other])
      const outcome = await store.replaceObjects('shop', [first, second])
      same([outcome.added, outcome.changed, outcome.removed], [['1', '2'], [], []])
      await store.noteUse([['1', 20_000]])
      const renamed = { ...first, name: 'shop/renamed', createdMs: 9 }
      const changed = await store.replaceObjects('shop', [renamed])
      same([changed.added, changed.changed, changed.removed], [[], ['1'], ['2']])
      same(changed.usedDays, [{ id: '1', day: 20_000 }])
      const kept = { ...renamed, createdMs: first.createdMs, usedDay: 20_000 }
      same(await sorted(store), [kept, other, record('a', 'one')])
      const again = await store.replaceObjects('shop', [renamed])
      same([again.added, again.changed, again.removed], [[], [], []])
    },
  },
  {
    name: 'gives no object what another record has: an identifier, or a secret',
    hold: async (store) => {
      await store.add(record('a', 'one'))
      await store.replaceObjects('prod', [ofObject('prod', '3', 'd')])
      const wanted = [
        ofObject('shop', 'a', 'b'),
        ofObject('shop', '3', 'c'),
        ofObject('shop', '4', 'd'),
        ofObject('shop', '5', 'e'),
        ofObject('shop', '6', 'e'),
      ]
      const { added, refused } = await store.replaceObjects('shop', wanted)
      same(added, ['5'])
      same(refused, [
        { id: 'a', reason: 'IdTaken' },
        { id: '3', reason: 'IdTaken' },
        { id: '4', reason: 'TokenTaken' },
        { id: '6', reason: 'TokenTaken' },
      ])
      const ids = (await sorted(store)).map(({ id, by }) => [id, by ?? null])
      same(ids, [
        ['3', 'cluster prod'],
        ['5', 'cluster shop'],
        ['a', null],
      ])
    },
  },
  {
    name: 'changes the token of no object by requests of operators',
    hold: async (store) => {
      const send = await routesOf(store)
      const object = ofObject('shop', '1', 'b')
      await store.replaceObjects('shop', [object])
      for (const request of [rotation('/v1/tokens/1'), revocation('/v1/tokens/1')]) {
        const { status, body } = await send(...request)
        same([status, JSON.stringify(body).includes('ClientToken shop/1 of cluster')], [409, true])
      }
      same(await store.list(), [object])
    },
  },
  {
    name: 'keeps a whole list, of ten that arrive at once, and what operators create meanwhile',
    hold: async (store) => {
      const send = await routesOf(store)
      const lists = Array.from({ length: 10 }, (_, i) =>
        ['b', 'c', 'd'].map((hash) => ofObject('shop', `${i}${hash}`, hash)),
      )
      const made = await Promise.all([
        ...lists.map((wanted) => store.replaceObjects('shop', wanted)),
        ...lists.map(() => send('POST', '/v1/tokens', {})),
      ])
      same(made.length, 20)
      const all = await store.list()
      const objects = all.filter(({ by }) => by === 'cluster shop').map(({ id }) => id)
      same([all.length, objects.length, new Set(objects.map((id) => id[0])).size], [13, 3, 1])
    },
  },
  {
    name: 'keeps a token revoked that is rotated at that moment',
    hold: async (store) => {
      const send = await routesOf(store)
      for (let round = 0; round < ROUNDS; round++) {
        const { body } = await send('POST', '/v1/tokens', {})
        const path = `/v1/tokens/${String(body.id)}`
        const order = round % 2 === 0
        const [one, other] = await Promise.all([
          send(...(order ? rotation(path) : revocation(path))),
          send(...(order ? revocation(path) : rotation(path))),
        ])
        const [rotated, revoked] = order ? [one, other] : [other, one]
        same(revoked.status, 204)
        same([200, 404].includes(rotated.status), true)
        same(await store.list(), [])
      }
    },
  },
  {
    name: 'keeps both secrets of two rotations at once',
    hold: async (store) => {
      const send = await routesOf(store)
      for (let round = 0; round < ROUNDS; round++) {
        const made = await send('POST', '/v1/tokens', {})
        const path = `/v1/tokens/${String(made.body.id)}`
        const rotated = await Promise.all([send(...rotation(path)), send(...rotation(path))])
        same(
          rotated.map(({ status }) => status),
          [200, 200],
        )
        await haveSecrets(store, [made, ...rotated])
      }
    },
  },
  {
    name: 'keeps the secret of each rotation that succeeds, of ten at once',
    hold: async (store) => {
      const send = await routesOf(store)
      const made = await send('POST', '/v1/tokens', {})
      const path = `/v1/tokens/${String(made.body.id)}`
      const rotated = await Promise.all(Array.from({ length: 10 }, () => send(...rotation(path))))
      same(rotated.map(({ status }) => status).sort(), [200, 200, 200, ...Array(7).fill(409)])
      await haveSecrets(store, [made, ...rotated.filter(({ status }) => status === 200)])
    },
  },
  {
    name: 'makes one token for an identity, of ten at once',
    hold: async (store) => {
      const send = await routesOf(store)
      const body = { identities: [`cert:${'0a'.repeat(32)}`] }
      const made = await Promise.all(
        Array.from({ length: 10 }, () => send('POST', '/v1/tokens', body)),
      )
      same(made.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)])
      same((await store.list()).length, 1)
    },
  },
  {
    name: 'loses none of many tokens that are made and revoked at once',
    hold: async (store) => {
      const send = await routesOf(store)
      const made = await Promise.all(
        Array.from({ length: ROUNDS }, () => send('POST', '/v1/tokens', {})),
      )
      const ids = made.map(({ body }) => String(body.id))
      const [gone, kept] = [ids.slice(0, ROUNDS / 2), ids.slice(ROUNDS / 2)]
      const more = await Promise.all([
        ...gone.map((id) => send(...revocation(`/v1/tokens/${id}`))),
        ...gone.map(() => send('POST', '/v1/tokens', {})),
      ])
      const added = more.slice(gone.length).map(({ body }) => String(body.id))
      same(
        (await sorted(store)).map(({ id }) => id),
        [...kept, ...added].sort(),
      )
    },
  },
]

type Reply = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
type Send = (method: string, path: string, body?: object) => Promise<Reply>

/** Returns a function that sends an operator's requests to the token routes of a store. */
async function routesOf(store: TokenStore): Promise<Send> {
  const app = createTokenRoutes({
    advise: () => [],
    takesObjects: () => true,
    host: NO_TIME,
    domainsOf: () => [],
    audiences: { github: '', gitlab: '' },
    adminSha256s: [await hashToken(ADMIN)],
    tokenDomain: '',
    tokenStore: store,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    now: () => 0,
  })
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    throw error
  })
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await app.request(path, request)
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
}

function rotation(path: string): Parameters<Send> {
  return ['POST', `${path}/rotate`]
}

function revocation(path: string): Parameters<Send> {
  return ['DELETE', path]
}

/** Checks that the tokens in some replies are secrets of their record. */
async function haveSecrets(store: TokenStore, replies: readonly Reply[]): Promise<void> {
  const kept = (await store.list()).flatMap(({ secrets }) => secrets.map(({ sha256 }) => sha256))
  for (const { body } of replies) {
    same(kept.includes(await hashToken(String(body.token))), true)
  }
}

function record(id: string, name: string, identities: readonly string[] = []): TokenRecord {
  const secrets = [{ sha256: 'a'.repeat(64), expiresMs: undefined }]
  const times = { createdMs: 1, expiresMs: id === 'a' ? undefined : 2 }
  return { id, name, scope: WHOLE_SCOPE, identities, secrets, ...times }
}

/** The record of an object whose token has a hash of one digit. */
function ofObject(cluster: string, id: string, digit: string): TokenRecord {
  const scope = { ...WHOLE_SCOPE, clusters: [cluster] }
  const secrets = [{ sha256: digit.repeat(64), expiresMs: undefined }]
  const about = { name: `shop/${id}`, scope, identities: [], secrets, createdMs: 1 }
  return { id, ...about, expiresMs: undefined, by: `cluster ${cluster}` }
}

async function sorted(store: TokenStore): Promise<TokenRecord[]> {
  return [...(await store.list())].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function same(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${one} is not ${other}`)
}
