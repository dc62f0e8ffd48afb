import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../src/dns/name.ts'
import { visibilityOf } from '../../src/gateway/token-visibility.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

const PROD = nameOf('prod.example.org')
const LAB = nameOf('lab.example.net')

describe('the view of a scope', () => {
  test('has clusters below origins, both of which the scope has', () => {
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

  test('may recurse as the scope has it', () => {
    for (const recurse of [true, false]) {
      assert.equal(visibilityOf({ ...WHOLE_SCOPE, recurse }).mayRecurse, recurse)
    }
  })

  test('is known by its scope', () => {
    const [one, other] = [
      visibilityOf(WHOLE_SCOPE),
      visibilityOf({ ...WHOLE_SCOPE, recurse: false }),
    ]
    assert.equal(one.id, visibilityOf({ ...WHOLE_SCOPE }).id)
    assert.notEqual(one.id, other.id)
  })
})
