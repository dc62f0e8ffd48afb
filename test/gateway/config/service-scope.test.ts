import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readServiceScope } from '../../../src/gateway/config/service-scope.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

describe('SERVICE_SCOPE', () => {
  const cases: { text: unknown; namespaces: readonly string[] | undefined }[] = [
    { text: undefined, namespaces: undefined },
    { text: '', namespaces: undefined },
    { text: '*', namespaces: ['*'] },
    { text: 'shop,dev-*', namespaces: ['dev-*', 'shop'] },
    { text: ' shop , team=a&tier=* ', namespaces: ['shop', 'team=a&tier=*'] },
  ]
  for (const { text, namespaces } of cases) {
    test(`${JSON.stringify(text)} has ${String(namespaces)}`, () => {
      const scope = namespaces && { ...WHOLE_SCOPE, namespaces, recurse: false }
      assert.deepEqual(readServiceScope(text), scope)
    })
  }

  for (const text of [' ', 'shop,', 'Shop', 'a b', '=a', 'a&', `${'a,'.repeat(100)}b`, 7.5]) {
    test(`cannot be ${JSON.stringify(text).slice(0, 20)}`, () => {
      const message = /^SERVICE_SCOPE: "namespaces" /
      assert.throws(() => readServiceScope(text), { name: 'GatewayConfigError', message })
    })
  }
})
