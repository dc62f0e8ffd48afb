import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { IssuersError, readIssuers } from '../../../src/gateway/config/issuers.ts'

const RULE = { when: { sub: 'a' }, namespaces: ['shop'] }
const ISSUER = { issuer: 'https://ci.test', audiences: ['kubedoh'], rules: [RULE] }

const BY_RBAC = { when: { sub: 'a' }, clusters: ['prod'], namespaces: 'rbac' }
const IN_CLUSTER = { ...ISSUER, keys: 'cluster:prod' }

function byRbac(kubernetes: unknown, more: object = {}): object {
  return { ...ISSUER, kubernetes, rules: [{ ...BY_RBAC, ...more }] }
}

const RBAC_CASES: { value: unknown; message: string }[] = [
  {
    value: [byRbac(undefined)],
    message: 'ISSUERS[0].rules[0] has "rbac", which needs "kubernetes" of its issuer',
  },
  {
    value: [byRbac({}, { clusters: undefined })],
    message: 'ISSUERS[0].rules[0].clusters is missing: "rbac" needs those that know the users',
  },
  {
    value: [byRbac({}, { role: 'issuer' })],
    message: 'ISSUERS[0].rules[0] has "rbac", with which the role "issuer" has none to give',
  },
  {
    value: [{ ...IN_CLUSTER, kubernetes: {} }],
    message: 'ISSUERS[0].kubernetes is not for ServiceAccounts, which have a name',
  },
  ...[['prod', 'dev'], ['*'], ['dev'], ['pro*']].map((clusters) => ({
    value: [{ ...IN_CLUSTER, rules: [{ ...BY_RBAC, clusters }] }],
    message: 'ISSUERS[0].rules[0].clusters is not ["prod"], whose RBAC knows the ServiceAccounts',
  })),
  {
    value: [byRbac({ username: { claim: '' } })],
    message: 'ISSUERS[0].kubernetes.username.claim is not the name of a claim',
  },
  {
    value: [byRbac({ username: { prefix: '-' } })],
    message: 'ISSUERS[0].kubernetes.username.prefix is "-"; "" is no prefix',
  },
  {
    value: [byRbac({ groups: { claim: 'groups', prefix: 7 } })],
    message: 'ISSUERS[0].kubernetes.groups.prefix is not a text of up to 512 characters',
  },
  {
    value: [byRbac({ groups: { prefix: 'oidc:' } })],
    message: 'ISSUERS[0].kubernetes.groups.claim is not the name of a claim',
  },
  {
    value: [byRbac({ group: {} })],
    message: 'ISSUERS[0].kubernetes has "group", which is not one of username, groups',
  },
  {
    value: [{ ...ISSUER, rules: [{ ...RULE, namespaces: 'all' }] }],
    message: 'ISSUERS[0].rules[0]: "namespaces" is not a list of 1 to 100 strings',
  },
]

describe('ISSUERS', () => {
  test('has defaults', () => {
    assert.deepEqual(readIssuers(JSON.stringify([ISSUER])), [
      {
        issuer: 'https://ci.test',
        audiences: ['kubedoh'],
        algorithms: ['RS256', 'ES256'],
        keys: 'discovery',
        rules: [
          {
            when: { sub: ['a'] },
            scope: { clusters: ['*'], origins: ['*'], namespaces: ['shop'], recurse: false },
            lifeMs: 86_400_000,
          },
        ],
      },
    ])
    assert.deepEqual(readIssuers(' '), [])
  })

  test('may have the client of people', () => {
    const clients = [{ id: 'cli' }, { id: 'a b', scopes: 'openid groups offline_access' }]
    const read = clients.map((client) => readIssuers(JSON.stringify([{ ...ISSUER, client }])))
    assert.deepEqual(
      read.map(([one]) => one?.client),
      [{ id: 'cli', scopes: 'openid' }, clients[1]],
    )
  })

  test('may name users and groups as an API server does', () => {
    const groups = { claim: 'roles' }
    const cases = [
      { kubernetes: {}, username: { claim: 'sub', prefix: 'https://ci.test#' } },
      { kubernetes: { username: { claim: 'email' } }, username: { claim: 'email', prefix: '' } },
      { kubernetes: { username: { prefix: '' } }, username: { claim: 'sub', prefix: '' } },
      {
        kubernetes: { username: { claim: 'oid', prefix: 'aad:' }, groups },
        username: { claim: 'oid', prefix: 'aad:' },
        groups: { claim: 'roles', prefix: '' },
      },
    ]
    for (const { kubernetes, ...principals } of cases) {
      const [read] = readIssuers(JSON.stringify([byRbac(kubernetes)]))
      assert.deepEqual(read?.principals, principals)
      assert.deepEqual(read?.rules[0], {
        when: { sub: ['a'] },
        scope: { clusters: ['prod'], origins: ['*'], namespaces: [], recurse: false },
        lifeMs: 86_400_000,
        isRbac: true,
      })
    }
    const [own] = readIssuers(JSON.stringify([{ ...IN_CLUSTER, rules: [BY_RBAC] }]))
    assert.equal(own?.principals, 'service-accounts')
  })

  const rule = (more: object): object => ({ ...ISSUER, rules: [{ ...RULE, ...more }] })
  const never = (first: object, later: object): object => ({
    ...ISSUER,
    rules: [first, later].map((when) => ({ ...RULE, when })),
  })
  const cases: { value: unknown; message: string }[] = [
    { value: {}, message: 'ISSUERS is not a JSON list' },
    { value: [1], message: 'ISSUERS[0] is not an object' },
    {
      value: [{ ...ISSUER, secret: 'x' }],
      message:
        'ISSUERS[0] has "secret", which is not one of issuer, audiences, algorithms, keys, client, kubernetes, rules',
    },
    {
      value: [{ ...ISSUER, issuer: 'http://ci.test' }],
      message: 'ISSUERS[0].issuer is not an https:// URL',
    },
    {
      value: [{ ...ISSUER, issuer: 'https://u:p@ci.test' }],
      message: 'ISSUERS[0].issuer is not an https:// URL',
    },
    {
      value: [{ ...ISSUER, keys: 'file:///x' }],
      message: 'ISSUERS[0].keys is not an https:// URL',
    },
    {
      value: [{ ...ISSUER, keys: 'cluster:A_' }],
      message: 'ISSUERS[0].keys has "A_", which no cluster is called',
    },
    {
      value: [{ ...ISSUER, client: { id: '' } }],
      message: 'ISSUERS[0].client.id is not a text of 1 to 512 printable characters',
    },
    {
      value: [{ ...ISSUER, client: { id: 'a', secret: 'b' } }],
      message: 'ISSUERS[0].client has "secret", which is not one of id, scopes',
    },
    ...['email', 'openid  email', 'openid "', 'openid '.repeat(100), 1].map((scopes) => ({
      value: [{ ...ISSUER, client: { id: 'a', scopes } }],
      message: 'ISSUERS[0].client.scopes is not a text such as "openid email", with openid in it',
    })),
    {
      value: [{ ...ISSUER, audiences: [] }],
      message: 'ISSUERS[0].audiences is not a list of 1 to 64 texts',
    },
    {
      value: [{ ...ISSUER, algorithms: ['HS256'] }],
      message:
        'ISSUERS[0].algorithms has "HS256", which is not one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA',
    },
    {
      value: [{ ...ISSUER, rules: undefined }],
      message: 'ISSUERS[0].rules is not a list of up to 256 rules',
    },
    {
      value: [rule({ when: {} })],
      message: 'ISSUERS[0].rules[0].when is not an object with 1 to 64 claims',
    },
    {
      value: [rule({ when: { sub: [] } })],
      message: 'ISSUERS[0].rules[0].when.sub is not a list of 1 to 64 texts',
    },
    {
      value: [rule({ when: { a: { b: { c: { d: { e: 'x' } } } } } })],
      message: 'ISSUERS[0].rules[0].when.a.b.c.d is over 4 objects deep',
    },
    {
      value: [rule({ namespaces: undefined })],
      message: 'ISSUERS[0].rules[0].namespaces is missing; ["*"] is all',
    },
    {
      value: [rule({ namespaces: ['A_'] })],
      message: 'ISSUERS[0].rules[0]: "namespaces" has "A_", which no namespace is called',
    },
    {
      value: [rule({ role: 'admin' })],
      message: 'ISSUERS[0].rules[0].role is not one of viewer, issuer, operator, administrator',
    },
    ...['1s', '0h', '91d', 3600, '1.5h'].map((expires) => ({
      value: [rule({ expires })],
      message:
        'ISSUERS[0].rules[0].expires is not a time such as 15m, 12h or 90d, which is the longest',
    })),
    {
      value: [rule({ recurse: 'yes' })],
      message: 'ISSUERS[0].rules[0]: "recurse" is neither true nor false',
    },
    ...RBAC_CASES,
    { value: [ISSUER, ISSUER], message: 'ISSUERS has "https://ci.test" twice' },
    {
      value: [never({ sub: '*' }, { sub: 'a' })],
      message: 'ISSUERS[0].rules[1] never counts: ISSUERS[0].rules[0] fits before it',
    },
    {
      value: [never({ k: { n: ['a', 'b'] } }, { k: { n: 'b', m: 'c' } })],
      message: 'ISSUERS[0].rules[1] never counts: ISSUERS[0].rules[0] fits before it',
    },
  ]
  for (const { value, message } of cases) {
    test(message, () => {
      assert.throws(
        () => readIssuers(JSON.stringify(value)),
        (error) => error instanceof IssuersError && error.message === message,
      )
    })
  }

  test('has keys at a URL, or of clusters that call their issuers alike', () => {
    const both = ['https://ci.test/keys', 'cluster:prod', 'cluster:dev'].map((keys) => {
      return { ...ISSUER, keys }
    })
    assert.deepEqual(
      readIssuers(JSON.stringify(both)).map(({ keys }) => keys),
      [{ url: 'https://ci.test/keys' }, { cluster: 'prod' }, { cluster: 'dev' }],
    )
  })

  test('may have rules of which the later one fits more', () => {
    for (const [first, later] of [
      [{ sub: 'a' }, { sub: '*' }],
      [{ sub: 'a', ref: 'main' }, { sub: 'a' }],
      [{ k: { n: 'a' } }, { k: 'a' }],
    ]) {
      assert.equal(readIssuers(JSON.stringify([never(first ?? {}, later ?? {})])).length, 1)
    }
  })

  test('has a bound', () => {
    assert.throws(() => readIssuers(`[${' '.repeat(262_144)}]`), /over 262144 characters/)
    const many = Array.from({ length: 33 }, (_, i) => ({ ...ISSUER, issuer: `https://${i}.test` }))
    assert.throws(() => readIssuers(JSON.stringify(many)), /over 32 issuers/)
  })
})
