import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Mmdb, type MmdbValue } from '../../../../src/resolver/plugins/geoip/mmdb.ts'
import { hasLabel, readLabel, schemaOf } from '../../../../src/resolver/plugins/geoip/setup.ts'
import { writeMmdb } from './write-mmdb.ts'

const CITY: MmdbValue = {
  city: { names: { de: 'Köln', en: 'Cologne' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'DE', names: { en: 'Germany' }, is_in_european_union: true },
  location: { latitude: 50.9333, longitude: -1e-7, time_zone: 'Europe/Berlin' },
  postal: { code: '50667' },
  subdivisions: [{ iso_code: 'NW' }, {}],
}
const ASN: MmdbValue = {
  autonomous_system_number: 64496,
  autonomous_system_organization: 'Example',
}

describe('labels of cities', () => {
  const cases: { label: string; value: string; none: string }[] = [
    { label: 'geoip/city/name', value: 'Cologne', none: '' },
    { label: 'geoip/country/code', value: 'DE', none: '' },
    { label: 'geoip/country/name', value: 'Germany', none: '' },
    { label: 'geoip/country/is_in_european_union', value: 'true', none: 'false' },
    { label: 'geoip/continent/code', value: 'EU', none: '' },
    { label: 'geoip/continent/name', value: 'Europe', none: '' },
    { label: 'geoip/subdivisions/code', value: 'NW,', none: '' },
    { label: 'geoip/latitude', value: '50.9333', none: '' },
    { label: 'geoip/longitude', value: '-0.0000001', none: '' },
    { label: 'geoip/timezone', value: 'Europe/Berlin', none: '' },
    { label: 'geoip/postalcode', value: '50667', none: '' },
  ]
  for (const { label, value, none } of cases) {
    test(label, () => {
      assert.deepEqual([hasLabel('city', label), hasLabel('asn', label)], [true, false])
      assert.equal(readLabel('city', label, CITY), value)
      assert.equal(readLabel('city', label, undefined), none)
      assert.equal(readLabel('city', label, { city: 'x', location: [], subdivisions: 7 }), none)
    })
  }
})

test('labels of autonomous systems', () => {
  const labels = ['geoip/asn/number', 'geoip/asn/org']
  const read = (record: MmdbValue | undefined): string[] =>
    labels.map((label) => readLabel('asn', label, record))
  assert.deepEqual(read(ASN), ['64496', 'Example'])
  assert.deepEqual(read(undefined), ['0', ''])
  assert.ok(labels.every((label) => hasLabel('asn', label) && !hasLabel('city', label)))
})

test('no labels but these', () => {
  for (const label of ['geoip/city', 'constructor', '']) {
    assert.equal(hasLabel('city', label), false)
    assert.equal(readLabel('city', label, CITY), '')
  }
})

describe('databases', () => {
  const cases = [
    { type: 'GeoLite2-City', schema: 'city' },
    { type: 'GeoIP2-Enterprise', schema: 'city' },
    { type: 'DBIP-Country-Lite', schema: 'city' },
    { type: 'GeoLite2-ASN', schema: 'asn' },
    { type: 'GeoIP2-ISP', schema: 'asn' },
    { type: 'GeoIP2-Anonymous-IP', schema: undefined },
    { type: '', schema: undefined },
  ]
  for (const { type, schema } of cases) {
    test(`of type "${type}" give ${schema ?? 'nothing'}`, () => {
      const bytes = writeMmdb({ type, recordBits: 24, ipVersion: 4 }, { '0.0.0.0/1': '' })
      assert.equal(schemaOf(new Mmdb(bytes)), schema)
    })
  }
})
