/**
 * The `geoip` plugin: publishes the MaxMind database record of the client's address as metadata,
 * for `view` and other plugins.
 * @module
 */

import {
  checkArgs,
  flag,
  type OptionReaders,
  onlyDirective,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { byteAt, readUint16 } from '../../../dns/bytes/bytes.ts'
import { textOf } from '../../../dns/bytes/unknown.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { OPTION, parseOptions } from '../../../dns/wire/edns.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { ClientQuery } from '../../contract/request.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { Mmdb, type MmdbValue, memberOf } from './mmdb.ts'

/** The address family numbers of a subnet option (RFC 7871 §6). */
const FAMILY_IPV6 = 2
const PREFIX_OFFSET = 4

/** Configures `geoip DATABASE { edns-subnet }`. */
export const geoipPlugin: PluginEntry = {
  name: 'geoip',
  gateways: {
    at: 'worker',
    is: 'refused',
    because: 'no database fits into a Worker; remove it, or run "kubedoh gateway"',
  },
  setup: (directives, context) => {
    const directive = onlyDirective(directives)
    const [word] = checkArgs(directive, 1)
    if (word === undefined) throw configError(directive, '"geoip" needs the path of a database')
    const { usesSubnet } = readOptions(directive, OPTIONS, { usesSubnet: false })
    const { database, schema } = openDatabase(word, context)
    return {
      plugin: {
        name: 'geoip',
        metadata: (label, clientQuery) => {
          if (!hasLabel(schema, label)) return undefined
          const address = addressOf(clientQuery, usesSubnet)
          return address && readLabel(schema, label, database.find(address))
        },
      },
    }
  },
}

const OPTIONS: OptionReaders<{ usesSubnet: boolean }> = {
  'edns-subnet': (option) => ({ usesSubnet: flag(option) }),
}

function openDatabase(
  word: Word,
  { host, pathOf }: SetupContext,
): { readonly database: Mmdb; readonly schema: Schema } {
  const bytes = host.readBytes?.(pathOf(word.text))
  if (bytes === undefined) throw configError(word, `cannot read "${word.text}"`)
  const database = parseDatabase(word, bytes)
  const schema = schemaOf(database)
  if (schema !== undefined) return { database, schema }
  throw configError(word, `"${word.text}" is a "${database.type}"; use a city or ASN database`)
}

function parseDatabase(word: Word, bytes: Uint8Array): Mmdb {
  try {
    return new Mmdb(bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw configError(word, `"${word.text}" is not a MaxMind database: ${error.message}`)
  }
}

/** Returns the address in the subnet option if `edns-subnet` is on, else the client's. */
function addressOf({ query, client }: ClientQuery, usesSubnet: boolean): Uint8Array | undefined {
  const subnet = usesSubnet && query.hasEdns ? subnetOf(query) : undefined
  return subnet ?? parseAddress(client.address.replace(/%.*$/, ''))
}

/** Returns the address in the subnet option, with zeros for omitted bytes. */
function subnetOf({
  bytes,
  optionsStart,
  optionsBytes,
}: ClientQuery['query']): Uint8Array | undefined {
  const option = parseOptions(bytes, optionsStart, optionsBytes).find(
    ({ code }) => code === OPTION.CLIENT_SUBNET,
  )
  if (option === undefined || option.data.length < PREFIX_OFFSET) return undefined
  const address = new Uint8Array(readUint16(option.data, 0) === FAMILY_IPV6 ? 16 : 4)
  const size = Math.min(address.length, option.data.length - PREFIX_OFFSET)
  for (let i = 0; i < size; i++) address[i] = byteAt(option.data, PREFIX_OFFSET + i)
  return address
}

/** The kind of records in a database. */
type Schema = 'city' | 'asn'

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
