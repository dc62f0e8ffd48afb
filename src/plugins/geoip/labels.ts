/**
 * Reads database records under the labels of CoreDNS's metadata (CoreDNS, plugin/geoip/city.go and
 * asn.go).
 * @module
 */
import { type Mmdb, type MmdbValue, memberOf, textOf } from './mmdb.ts'

/** The kind of records in a database. */
export type Schema = 'city' | 'asn'

/** The database types that CoreDNS supports, by schema. */
const TYPES: Readonly<Record<Schema, ReadonlySet<string>>> = {
  city: new Set([
    'DBIP-City-Lite',
    'DBIP-Country',
    'DBIP-Country-Lite',
    'DBIP-ISP (compat=Enterprise)',
    'DBIP-Location (compat=City)',
    'DBIP-Location-ISP (compat=Enterprise)',
    'GeoIP-City-Redacted-US',
    'GeoIP-Enterprise-Redacted-US',
    'GeoIP2-City',
    'GeoIP2-City-Africa',
    'GeoIP2-City-Asia-Pacific',
    'GeoIP2-City-Europe',
    'GeoIP2-City-North-America',
    'GeoIP2-City-South-America',
    'GeoIP2-Country',
    'GeoIP2-Enterprise',
    'GeoIP2-Precision-City',
    'GeoLite2-City',
    'GeoLite2-Country',
  ]),
  asn: new Set([
    'DBIP-ASN-Lite (compat=GeoLite2-ASN)',
    'GeoIP2-ISP',
    'GeoIP2-Precision-ISP',
    'GeoLite2-ASN',
  ]),
}

const READERS: Readonly<
  Record<Schema, Readonly<Record<string, (record: MmdbValue | undefined) => string>>>
> = {
  city: {
    'geoip/city/name': textAt('city', 'names', 'en'),
    'geoip/country/code': textAt('country', 'iso_code'),
    'geoip/country/name': textAt('country', 'names', 'en'),
    'geoip/country/is_in_european_union': (record) =>
      String(valueAt(record, ['country', 'is_in_european_union']) === true),
    'geoip/continent/code': textAt('continent', 'code'),
    'geoip/continent/name': textAt('continent', 'names', 'en'),
    'geoip/subdivisions/code': (record) => {
      const list = valueAt(record, ['subdivisions'])
      return Array.isArray(list) ? list.map(textAt('iso_code')).join(',') : ''
    },
    'geoip/latitude': numberAt('', 'location', 'latitude'),
    'geoip/longitude': numberAt('', 'location', 'longitude'),
    'geoip/timezone': textAt('location', 'time_zone'),
    'geoip/postalcode': textAt('postal', 'code'),
  },
  asn: {
    'geoip/asn/number': numberAt('0', 'autonomous_system_number'),
    'geoip/asn/org': textAt('autonomous_system_organization'),
  },
}

/** Returns the schema of a database; `undefined` for a database without labels. */
export function schemaOf({ type }: Mmdb): Schema | undefined {
  if (TYPES.city.has(type)) return 'city'
  return TYPES.asn.has(type) ? 'asn' : undefined
}

/** Whether a schema has a label. */
export function hasLabel(schema: Schema, label: string): boolean {
  return Object.hasOwn(READERS[schema], label)
}

/** Returns the value of a label; the empty text or zero for a field that the record lacks. */
export function readLabel(schema: Schema, label: string, record: MmdbValue | undefined): string {
  return hasLabel(schema, label) ? (READERS[schema][label]?.(record) ?? '') : ''
}

function textAt(...keys: readonly string[]): (record: MmdbValue | undefined) => string {
  return (record) => textOf(valueAt(record, keys))
}

function numberAt(
  otherwise: string,
  ...keys: readonly string[]
): (record: MmdbValue | undefined) => string {
  return (record) => {
    const value = valueAt(record, keys)
    return typeof value === 'number' ? decimal(value) : otherwise
  }
}

/** Formats without an exponent, as Go's `FormatFloat(value, 'f', -1, 64)` does. */
function decimal(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text
}

function valueAt(record: MmdbValue | undefined, keys: readonly string[]): MmdbValue | undefined {
  return keys.reduce<MmdbValue | undefined>(memberOf, record)
}
