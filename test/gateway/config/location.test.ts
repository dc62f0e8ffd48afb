import assert from 'node:assert/strict'
import { test } from 'vitest'
import { GatewayConfigError } from '../../../src/gateway/config/config.ts'
import { readJurisdiction, readLocation } from '../../../src/gateway/config/location.ts'

test('a location is one of those that Cloudflare has, or none', () => {
  assert.equal(readLocation('weur'), 'weur')
  assert.equal(readLocation('apac-ne'), 'apac-ne')
  assert.equal(readLocation(''), undefined)
  assert.equal(readLocation(undefined), undefined)
  for (const text of ['WEUR', 'europe', 'weur ', 1]) {
    assert.throws(() => readLocation(text), GatewayConfigError)
  }
  assert.throws(() => readLocation('eu'), /CLUSTER_LOCATION "eu" is none of wnam, enam, sam/)
})

test('a jurisdiction is one of those that Cloudflare documents, or none', () => {
  for (const text of ['eu', 'fedramp', 'us']) assert.equal(readJurisdiction(text), text)
  for (const text of ['', undefined]) assert.equal(readJurisdiction(text), undefined)
  for (const text of ['EU', 'weur', 'eu ', 1]) {
    assert.throws(() => readJurisdiction(text), GatewayConfigError)
  }
  assert.throws(() => readJurisdiction('de'), /JURISDICTION "de" is none of eu, fedramp, us/)
})
