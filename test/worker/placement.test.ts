import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type PlacementVariables, placed } from '../../worker/placement.ts'

/** A namespace whose objects are texts that say where they are: workerd has no jurisdictions. */
function namespace(place = 'anywhere'): Parameters<typeof placed<string>>[0] {
  return {
    getByName: (name, { locationHint }) => [name, place, locationHint ?? 'near'].join(' '),
    jurisdiction: (jurisdiction) => namespace(jurisdiction),
  }
}

describe('an object is', () => {
  const cases: { variables: PlacementVariables; object: string }[] = [
    { variables: {}, object: 'prod anywhere near' },
    { variables: { CLUSTER_LOCATION: '', JURISDICTION: '' }, object: 'prod anywhere near' },
    { variables: { CLUSTER_LOCATION: 'weur' }, object: 'prod anywhere weur' },
    { variables: { JURISDICTION: 'eu' }, object: 'prod eu near' },
    { variables: { CLUSTER_LOCATION: 'enam', JURISDICTION: 'us' }, object: 'prod us enam' },
  ]
  for (const { variables, object } of cases) {
    test(`${object} with ${JSON.stringify(variables)}`, () => {
      assert.equal(placed(namespace(), variables).getByName('prod'), object)
    })
  }
})

test('no object elsewhere stands in where the platform has no jurisdictions', () => {
  const without = {
    ...namespace(),
    jurisdiction: () => {
      throw new Error('not implemented')
    },
  }
  assert.throws(() => placed(without, { JURISDICTION: 'eu' }), {
    name: 'GatewayConfigError',
    message: 'JURISDICTION "eu" cannot be used: not implemented',
  })
})
