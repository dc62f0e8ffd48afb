import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ownClaimsOf,
  ownPrincipals,
  type Principals,
  principalsOf,
  visibilityByRights,
} from '../../../src/gateway/access/principals.ts'
import type { PrincipalClaims } from '../../../src/gateway/config/issuers.ts'
import { openRights, type Right } from '../../../src/snapshot/format/rights-table.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { tableOf } from '../publishing.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const BY_EMAIL: PrincipalClaims = {
  username: { claim: 'email', prefix: 'oidc:' },
  groups: { claim: 'groups', prefix: 'oidc:' },
}
const BARE: PrincipalClaims = {
  username: { claim: 'sub', prefix: '' },
  groups: { claim: 'groups', prefix: '' },
}
const BUILDER = 'system:serviceaccount:ci:builder'

type Case = {
  readonly name: string
  readonly from: PrincipalClaims
  readonly claims: Readonly<Record<string, unknown>>
  readonly is: Principals | RegExp
}

const ada = { email: 'ada@example.org', email_verified: true }
const cases: readonly Case[] = [
  {
    name: 'a user with a prefix, and groups with theirs',
    from: BY_EMAIL,
    claims: { ...ada, sub: '1', groups: ['dev', 'ops', 'dev'] },
    is: { user: 'oidc:ada@example.org', groups: ['oidc:dev', 'oidc:ops'] },
  },
  {
    name: 'a group as a text',
    from: BY_EMAIL,
    claims: { ...ada, groups: 'dev' },
    is: { user: 'oidc:ada@example.org', groups: ['oidc:dev'] },
  },
  ...[undefined, null, []].map((groups) => ({
    name: `no groups by ${JSON.stringify(groups)}`,
    from: BARE,
    claims: { sub: 'a', ...(groups !== undefined && { groups }) },
    is: { user: 'a', groups: [] },
  })),
  {
    name: 'groups that no claim is for',
    from: { username: { claim: 'sub', prefix: 'i#' } },
    claims: { sub: 'a', groups: ['dev'] },
    is: { user: 'i#a', groups: [] },
  },
  {
    name: 'an email without a word on its check',
    from: BY_EMAIL,
    claims: { email: 'a@example.org' },
    is: { user: 'oidc:a@example.org', groups: [] },
  },
  ...[false, 'true', 1, null].map((verified) => ({
    name: `an email that is verified by ${JSON.stringify(verified)}`,
    from: BY_EMAIL,
    claims: { ...ada, email_verified: verified },
    is: /not verified/,
  })),
  ...[undefined, '', 7, null, ['a'], { a: 1 }].map((sub) => ({
    name: `a user that is ${JSON.stringify(sub)}`,
    from: BARE,
    claims: { ...(sub !== undefined && { sub }) },
    is: /"sub" has no name/,
  })),
  {
    name: 'a user by what all objects have',
    from: { username: { claim: 'toString', prefix: '' } },
    claims: {},
    is: /"toString" has no name/,
  },
  ...[{ dev: 1 }, [['dev']], ['dev', 7], 7, true, [{ name: 'dev' }], [null]].map((groups) => ({
    name: `groups that are ${JSON.stringify(groups)}`,
    from: BARE,
    claims: { sub: 'a', groups },
    is: /"groups" is no list/,
  })),
  ...['system:admin', BUILDER, 'system:'].map((sub) => ({
    name: `the user ${sub} of an issuer that is no cluster's`,
    from: BARE,
    claims: { sub },
    is: /only the API server gives/,
  })),
  ...['system:masters', 'system:authenticated'].map((group) => ({
    name: `the group ${group} of an issuer`,
    from: BARE,
    claims: { sub: 'a', groups: ['dev', group] },
    is: /only the API server gives/,
  })),
  {
    name: 'a reserved name that a prefix completes',
    from: { ...BARE, groups: { claim: 'groups', prefix: 'system:' } },
    claims: { sub: 'a', groups: ['masters'] },
    is: /only the API server gives/,
  },
  {
    name: 'what only looks reserved',
    from: BARE,
    claims: { sub: 'System:admin', groups: ['ѕystem:masters', ' system:masters'] },
    is: { user: 'System:admin', groups: ['ѕystem:masters', ' system:masters'] },
  },
  {
    name: 'as many groups as fit',
    from: BARE,
    claims: { sub: 'a', groups: many(128, 32) },
    is: { user: 'a', groups: many(128, 32) },
  },
  { name: 'a group more', from: BARE, claims: { sub: 'a', groups: many(129, 3) }, is: /over 128/ },
  {
    name: 'longer groups',
    from: BARE,
    claims: { sub: 'a', groups: many(128, 33) },
    is: /over 4096 characters/,
  },
  { name: '10,000 groups', from: BARE, claims: { sub: 'a', groups: many(10_000, 5) }, is: /over/ },
  { name: 'a long user', from: BARE, claims: { sub: 'a'.repeat(513) }, is: /over 512/ },
  {
    name: 'a ServiceAccount, whatever groups it claims',
    from: 'service-accounts',
    claims: { sub: BUILDER, groups: ['system:masters'] },
    is: { user: BUILDER, groups: [] },
  },
  ...[
    undefined,
    'a',
    'system:admin',
    'system:serviceaccount:ci',
    `${BUILDER}:x`,
    `x${BUILDER}`,
  ].map((sub) => ({
    name: `${sub} as a ServiceAccount`,
    from: 'service-accounts' as const,
    claims: { ...(sub !== undefined && { sub }) },
    is: /no ServiceAccount/,
  })),
]

const rights: readonly Right[] = [
  { kind: 'user', name: 'ada', namespaces: ['shop'] },
  { kind: 'group', name: 'dev', namespaces: ['blog'] },
  { kind: 'group', name: 'system:authenticated', namespaces: ['open'] },
  { kind: 'group', name: 'system:serviceaccounts', namespaces: ['robots'] },
  { kind: 'group', name: 'system:serviceaccounts:ci', namespaces: ['ci'] },
  { kind: 'group', name: 'system:unauthenticated', namespaces: ['ghosts'] },
  { kind: 'group', name: 'root', namespaces: 'all' },
  { kind: 'group', name: 'ada', namespaces: ['users-are-no-groups'] },
]
const NAMESPACES = ['shop', 'blog', 'open', 'robots', 'ci', 'ghosts', 'users-are-no-groups']
const [bytes] = buildShards([])
const table = openRights(await tableOf(rights))

function many(count: number, chars: number): string[] {
  return Array.from({ length: count }, (_, i) => `${i}`.padStart(chars, 'g'))
}

describe('the user and groups of claims', () => {
  for (const { name, from, claims, is } of cases) {
    test(`${name}: ${is instanceof RegExp ? 'refused' : 'taken'}`, () => {
      const found = principalsOf(claims, from)
      if (!(is instanceof RegExp)) return assert.deepEqual(found, is)
      return assert.match('refusal' in found ? found.refusal : JSON.stringify(found), is)
    })
  }

  test('are in a token of the gateway, if they fit', () => {
    const some = { user: 'a', groups: ['dev'] }
    for (const one of [some, { user: BUILDER, groups: [] }]) {
      assert.deepEqual(ownPrincipals(ownClaimsOf(one) ?? {}), one)
    }
    assert.deepEqual(ownClaimsOf(undefined), {})
    assert.notEqual(ownClaimsOf({ user: 'a', groups: ['g'.repeat(995)] }), undefined)
    assert.equal(ownClaimsOf({ user: 'a', groups: ['g'.repeat(1000)] }), undefined)
    assert.equal(ownClaimsOf({ user: 'a', groups: ['é'.repeat(500)] }), undefined)
    for (const claims of [
      {},
      { user: 7 },
      { user: 'a', groups: 'dev' },
      { user: 'a', groups: [7] },
    ]) {
      assert.ok('refusal' in ownPrincipals(claims))
    }
  })
})

describe('a visibility by rights', () => {
  async function seen(
    principals: Principals,
    facts: { readonly rights?: typeof table } | undefined = { rights: table },
  ): Promise<readonly string[]> {
    const shard = openShard(bytes ?? assert.fail())
    shard.facts = { labels: new Map(), ...facts }
    const { namespaces } = await visibilityByRights({ ...WHOLE_SCOPE, namespaces: [] }, principals)
    return NAMESPACES.filter((one) => namespaces?.hasNamed(shard, one))
  }

  test('has what one of the user, the groups and the implied groups may see', async () => {
    assert.deepEqual(await seen({ user: 'ada', groups: [] }), ['shop', 'open'])
    assert.deepEqual(await seen({ user: 'ada', groups: ['dev'] }), ['shop', 'blog', 'open'])
    assert.deepEqual(await seen({ user: 'eve', groups: ['x'] }), ['open'])
    assert.deepEqual(await seen({ user: 'eve', groups: ['root'] }), NAMESPACES)
    assert.deepEqual(await seen({ user: BUILDER, groups: [] }), ['open', 'robots', 'ci'])
    const other = 'system:serviceaccount:shop:builder'
    assert.deepEqual(await seen({ user: other, groups: [] }), ['open', 'robots'])
  })

  test('has nothing of a cluster that publishes no rights', async () => {
    assert.deepEqual(await seen({ user: 'eve', groups: ['root'] }, {}), [])
  })

  test('has an identifier of its own for each user and each list of groups', async () => {
    const scope = { ...WHOLE_SCOPE, namespaces: [] }
    const all = [
      { user: 'a', groups: [] },
      { user: 'b', groups: [] },
      { user: 'a', groups: ['b'] },
      { user: 'a', groups: ['b', 'c'] },
      { user: 'a', groups: ['b,c'] },
    ]
    const ids = await Promise.all(all.map(async (one) => (await visibilityByRights(scope, one)).id))
    assert.equal(new Set(ids).size, all.length)
    const other = await visibilityByRights({ ...scope, clusters: ['x'] }, { user: 'a', groups: [] })
    assert.ok(!ids.includes(other.id))
  })
})
