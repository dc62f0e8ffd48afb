import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, type Query } from '../../../../src/dns/wire/query.ts'
import type { ClientVisibility } from '../../../../src/resolver/contract/client.ts'
import { SeenZones } from '../../../../src/resolver/plugins/kubernetes/seen-zones.ts'
import { parseQuestion } from '../../../message-text.ts'

const zones = new SeenZones(['a.test', 'b.a.test', '.'].map(nameOf), 'shop')

function queryOf(name: string): Query {
  const query = parseQuery(parseQuestion(`${name} A`).message)
  assert.ok(query.kind === 'query')
  return query
}

/** Sees the zones of cluster `shop` that are listed. */
function seeing(...origins: readonly string[]): ClientVisibility {
  return {
    id: '',
    seesOrigin: (cluster, origin) => cluster === 'shop' && origins.includes(formatName(origin)),
    seesName: () => true,
    namespaces: undefined,
    mayRecurse: false,
  }
}

describe('SeenZones', () => {
  const cases: { name: string; visibility?: ClientVisibility; closest: string | undefined }[] = [
    { name: 'x.b.a.test', closest: 'b.a.test.' },
    { name: 'X.A.TEST', closest: 'a.test.' },
    { name: 'test', closest: '.' },
    { name: 'x.b.a.test', visibility: seeing('a.test.'), closest: 'a.test.' },
    { name: 'x.b.a.test', visibility: seeing(), closest: undefined },
  ]
  for (const { name, visibility, closest } of cases) {
    test(`finds ${closest} for ${name}`, () => {
      const zone = zones.closest(queryOf(name), visibility)
      assert.equal(zone && formatName(zone), closest)
    })
  }

  test('hides a block within a zone that the client does not see', () => {
    const blind = seeing()
    const one = new SeenZones([nameOf('a.test')], 'shop')
    assert.equal(one.hides(blind, queryOf('x.a.test'), nameOf('a.test')), true)
    assert.equal(one.hides(blind, queryOf('x.a.test'), nameOf('.')), false)
    assert.equal(one.hides(blind, queryOf('x.test'), nameOf('a.test')), false)
    assert.equal(one.hides(seeing('a.test.'), queryOf('x.a.test'), nameOf('a.test')), false)
  })
})
