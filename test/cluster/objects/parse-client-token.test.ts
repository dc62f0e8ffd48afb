import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  type ClientToken,
  KEY_PATTERN,
  NAMESPACES_PATTERN,
  ORIGINS_PATTERN,
  parseClientToken,
  SCOPE_CHARS_MAX,
  SCOPE_PATTERNS_MAX,
  SECRET_PATTERN,
} from '../../../src/cluster/objects/parse-client-token.ts'
import { readScope } from '../../../src/gateway/config/token-scope.ts'
import {
  ISSUER_CHARS_MAX,
  ISSUER_PATTERN,
  SUBJECT_CHARS_MAX,
  SUBJECT_PATTERN,
} from '../../../src/snapshot/format/client-tokens.ts'
import { INVALID_TOKENS, TOKEN_DEFINITION, VALID_TOKENS } from '../client-token-cases.ts'

function parsed(spec: unknown, rest: object = {}): ClientToken {
  const metadata = { namespace: 'shop', name: 'ci', uid: 'u', generation: 3, resourceVersion: '7' }
  return parseClientToken({ metadata, spec, ...rest }) ?? assert.fail('no object')
}

describe('a ClientToken', () => {
  for (const spec of VALID_TOKENS) {
    test(`may be ${JSON.stringify(spec).slice(0, 90)}`, () => {
      const { spec: read } = parsed(spec)
      assert.ok(!('problem' in read), JSON.stringify(read))
      // A gateway takes the same patterns.
      const { namespaces = ['shop'], origins, recurse, explain } = read
      assert.ok(readScope({ namespaces, origins, recurse, explain }))
    })
  }

  for (const { spec, message } of INVALID_TOKENS) {
    test(`cannot be ${JSON.stringify(spec)?.slice(0, 90)}`, () => {
      const { spec: read } = parsed(spec)
      assert.match('problem' in read ? read.problem : '', message)
    })
  }

  test('has its defaults, its time and its status', () => {
    const condition = {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 2,
    }
    const status = { identifier: 'ab', scope: 'shop', observedGeneration: 2 }
    const object = parsed(
      { secretRef: { name: 'dns' }, expires: '2027-01-01T00:00:00Z' },
      { status: { ...status, conditions: [condition] } },
    )
    assert.deepEqual(object.spec, {
      secret: { name: 'dns', key: 'token' },
      namespaces: undefined,
      origins: ['*'],
      recurse: false,
      explain: false,
      expiresMs: Date.UTC(2027, 0, 1),
    })
    assert.deepEqual(object.status, { ...status, lastUsed: '', conditions: [condition] })
    assert.deepEqual([object.generation, object.resourceVersion, object.uid], [3, '7', 'u'])
  })

  for (const value of [undefined, 7, {}, { metadata: { name: 'a' }, status: 7 }]) {
    test(`is not ${JSON.stringify(value)}`, () => {
      assert.equal(parseClientToken(value), undefined)
    })
  }

  test('has the patterns and bounds of the schema', () => {
    const schema = JSON.stringify(TOKEN_DEFINITION)
    const has = (pattern: string, count: number, charsMax = SCOPE_CHARS_MAX): void => {
      const part = `"maxLength":${charsMax},"pattern":${JSON.stringify(pattern)}`
      assert.equal(schema.split(part).length - 1, count, part)
    }
    for (const pattern of [SECRET_PATTERN, KEY_PATTERN]) has(pattern, 1)
    for (const pattern of [NAMESPACES_PATTERN, ORIGINS_PATTERN]) has(pattern, 1)
    has(ISSUER_PATTERN, 1, ISSUER_CHARS_MAX)
    has(SUBJECT_PATTERN, 1, SUBJECT_CHARS_MAX)
    assert.equal(schema.split(`"minItems":1,"maxItems":${SCOPE_PATTERNS_MAX}`).length - 1, 2)
  })
})
