import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import {
  conditionsOf,
  formatConditions,
  type OperatorState,
  parseConditions,
} from '../../../src/operators/openshift/conditions.ts'

const FINE: OperatorState = {
  hasCorefile: true,
  isPending: false,
  fault: undefined,
  isManaged: true,
}

describe('conditionsOf', () => {
  it('changes the time of a condition with its status only', () => {
    const first = conditionsOf(FINE, [], 0)
    const fault = { reason: 'InvalidDNS', message: 'a zone is missing' } as const
    const second = conditionsOf({ ...FINE, fault }, first, 1000)
    const third = conditionsOf({ ...FINE, fault: { ...fault, message: 'other' } }, second, 2000)
    const times = third.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)
    assert.deepEqual(times, [
      'Available 1970-01-01T00:00:00Z',
      'Progressing 1970-01-01T00:00:00Z',
      'Degraded 1970-01-01T00:00:01Z',
      'Upgradeable 1970-01-01T00:00:00Z',
    ])
    assert.equal(third[2]?.message, 'other')
  })
})

describe('parseConditions', () => {
  it('reads what formatConditions writes', () => {
    const conditions = conditionsOf(FINE, [], 0)
    assert.deepEqual(parseConditions(formatConditions(conditions)), conditions)
  })

  for (const data of [
    undefined,
    {},
    { conditions: 7 },
    { conditions: '{' },
    { conditions: '[7]' },
  ]) {
    it(`finds none in ${JSON.stringify(data)}`, () => {
      assert.deepEqual(parseConditions(data), [])
    })
  }
})
