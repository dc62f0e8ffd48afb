import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import {
  equalSecrets,
  hasHash,
  hashToken,
  isAlive,
  namespaceMatcherOf,
  newSecret,
  newTokenId,
  tokenId,
  usesLabels,
  visibilityOf,
} from '../../../src/gateway/access/token.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const TOKEN = 'kd_Zm9v-YmFy'
const sha256 = await hashToken(TOKEN)

describe('hasHash', () => {
  test('holds for the token only', async () => {
    assert.equal(await hasHash(TOKEN, sha256), true)
    assert.equal(await hasHash(`${TOKEN}x`, sha256), false)
    assert.equal(await hasHash('', sha256), false)
  })

  test('holds for no other hash, wherever it differs', async () => {
    for (const at of [0, 31, 63]) {
      const other = `${sha256.slice(0, at)}${sha256[at] === '0' ? '1' : '0'}${sha256.slice(at + 1)}`
      assert.equal(await hasHash(TOKEN, other), false)
    }
    assert.equal(await hasHash(TOKEN, sha256.slice(1)), false)
  })
})

describe('a new token', () => {
  test('has its identifier in it, and a hash', async () => {
    const id = newTokenId(randomBytes)
    const { token, sha256: hash } = await newSecret(id, randomBytes)
    assert.equal(tokenId(token), id)
    assert.equal(hash, await hashToken(token))
  })

  test('is another one each time', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => newSecret(newTokenId(randomBytes), randomBytes)),
    )
    assert.equal(new Set(tokens.map(({ token }) => token)).size, 20)
  })

  for (const text of ['', 'kdt_', TOKEN, 'kdt_0123456789ab_short', `x${TOKEN}`, 'kdt_ABC']) {
    test(`has no other form: "${text}"`, () => {
      assert.equal(tokenId(text), undefined)
    })
  }
})

describe('namespaceMatcherOf', () => {
  const SHOP = ['kubernetes.io/metadata.name=shop', 'team=shop', 'tier=gold']
  const cases: { patterns: string[]; labels?: string[]; sees: boolean }[] = [
    { patterns: ['shop'], sees: true },
    { patterns: ['team=shop'], sees: true },
    { patterns: ['team=sh*'], sees: true },
    { patterns: ['team=*'], sees: true },
    { patterns: ['*/metadata.name=shop'], sees: true },
    { patterns: ['blog', 'tier=gold'], sees: true },
    { patterns: ['team=shop&tier=gold'], sees: true },
    { patterns: ['sh*&tier=gold'], sees: true },
    { patterns: ['team=shop&tier=tin'], sees: false },
    { patterns: ['blog&tier=gold'], sees: false },
    { patterns: ['team=Shop'], sees: false },
    { patterns: ['team'], sees: false },
    { patterns: ['team='], sees: false },
    { patterns: ['shop=*'], sees: false },
    { patterns: ['team=shop'], labels: [], sees: false },
    { patterns: [], sees: false },
  ]
  for (const { patterns, labels = SHOP, sees } of cases) {
    test(`${patterns.join(' ') || 'nothing'} ${sees ? 'sees' : 'hides'} ${labels.length}`, () => {
      assert.equal(namespaceMatcherOf(patterns)('shop', labels), sees)
    })
  }

  test('needs labels where a pattern is of one', () => {
    const scope = { clusters: ['*'], origins: ['*'], recurse: false }
    assert.equal(usesLabels({ ...scope, namespaces: ['shop', 'a=b'] }), true)
    assert.equal(usesLabels({ ...scope, namespaces: ['shop', 'team-*'] }), false)
    assert.equal(usesLabels({ ...scope, namespaces: ['*', 'a=b'] }), false)
  })
})

test('a token is valid until it ends', () => {
  assert.equal(isAlive({ expiresMs: undefined }, 1e15), true)
  assert.equal(isAlive({ expiresMs: 1000 }, 999), true)
  assert.equal(isAlive({ expiresMs: 1000 }, 1000), false)
})

test('secrets are equal when all of them is', () => {
  assert.equal(equalSecrets('abc', 'abc'), true)
  for (const other of ['abd', 'ab', 'abcd', '']) assert.equal(equalSecrets('abc', other), false)
})

const PROD = nameOf('prod.example.org')
const LAB = nameOf('lab.example.net')

describe("the visibility of a token's grants", () => {
  test('has clusters below origins, if the token grants both', () => {
    const view = visibilityOf({ ...WHOLE_SCOPE, clusters: ['p*'], origins: ['prod.example.org.'] })
    assert.equal(view.seesOrigin('prod', PROD), true)
    assert.equal(view.seesOrigin('prod', LAB), false)
    assert.equal(visibilityOf(WHOLE_SCOPE).seesOrigin(undefined, LAB), true)
    assert.equal(visibilityOf({ ...WHOLE_SCOPE, clusters: ['x'] }).seesOrigin('prod', PROD), false)
    assert.equal(
      visibilityOf({ ...WHOLE_SCOPE, clusters: ['x'] }).seesOrigin(undefined, PROD),
      true,
    )
  })

  test('remembers nothing of one cluster for another below the same origin', () => {
    const view = visibilityOf({ ...WHOLE_SCOPE, clusters: ['prod'] })
    assert.equal(view.seesOrigin('prod', PROD), true)
    assert.equal(view.seesOrigin('stage', PROD), false)
  })

  test('looks at no namespace when it has all', () => {
    assert.equal(visibilityOf(WHOLE_SCOPE).namespaces, undefined)
    assert.notEqual(visibilityOf({ ...WHOLE_SCOPE, namespaces: ['shop'] }).namespaces, undefined)
  })

  test('may recurse if the token grants it', () => {
    for (const recurse of [true, false]) {
      assert.equal(visibilityOf({ ...WHOLE_SCOPE, recurse }).mayRecurse, recurse)
    }
  })

  test('is cached by its grants', () => {
    const [one, other] = [
      visibilityOf(WHOLE_SCOPE),
      visibilityOf({ ...WHOLE_SCOPE, recurse: false }),
    ]
    assert.equal(one.id, visibilityOf({ ...WHOLE_SCOPE }).id)
    assert.notEqual(one.id, other.id)
  })
})
