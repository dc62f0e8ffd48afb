/**
 * Databases in MaxMind's format (https://maxmind.github.io/MaxMind-DB/, version 2.0). The package
 * mmdb-lib reads them with few checks: this file bounds the pointers of a lookup and treats an
 * error in a damaged database as "no record".
 * @module
 */
import { Reader } from 'mmdb-lib'
import { textOf } from '../../../dns/bytes/unknown.ts'

/** A value of a database. */
export type MmdbValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue }

/** Pointers that one lookup may follow, including the one to the record. */
const POINTERS_MAX = 4096

/** A database in memory. */
export class Mmdb {
  /** Its schema, such as `GeoLite2-City`. */
  readonly type: string
  private readonly reader: Reader<object>
  private readonly followed = new FollowedPointers()
  private readonly isIPv6: boolean

  /** @throws {RangeError} unless the bytes are a database of version 2 */
  constructor(bytes: Uint8Array) {
    this.reader = openReader(bytes, this.followed)
    const { metadata } = this.reader
    const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = metadata
    if (binaryFormatMajorVersion !== 2) throw new RangeError('its format version is not 2')
    const isComplete = nodeCount >= 0 && searchTreeSize <= bytes.length
    if (!isComplete) throw new RangeError('its search tree is truncated')
    this.type = textOf(metadata.databaseType)
    this.isIPv6 = ipVersion === 6
  }

  /** Finds the record of an address; `undefined` when there is none or it is damaged. */
  find(address: Uint8Array): MmdbValue | undefined {
    if (address.length === 16 && !this.isIPv6) return undefined
    this.followed.clear()
    try {
      const found: unknown = this.reader.get(addressText(address))
      return isValue(found) ? found : undefined
    } catch {
      return undefined
    }
  }
}

/** The targets of one lookup's pointers, each read once, so that pointers do not multiply. */
class FollowedPointers extends Map<string | number, unknown> {
  override set(offset: string | number, value: unknown): this {
    if (this.size >= POINTERS_MAX) throw new RangeError('it has too many pointers')
    return super.set(offset, value)
  }
}

/** Returns the member of a map; `undefined` for anything else. */
export function memberOf(value: MmdbValue | undefined, key: string): MmdbValue | undefined {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function openReader(bytes: Uint8Array, cache: FollowedPointers): Reader<object> {
  const { buffer, byteOffset, length } = bytes
  try {
    return new Reader<object>(Buffer.from(buffer, byteOffset, length), { cache })
  } catch {
    throw new RangeError('its metadata is unreadable')
  }
}

/** Formats an address for mmdb-lib, with all groups of IPv6, which spares it expanding "::". */
function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => {
    return (((address[2 * i] ?? 0) << 8) | (address[2 * i + 1] ?? 0)).toString(16)
  })
  return groups.join(':')
}

function isValue(value: unknown): value is MmdbValue {
  return value !== null && value !== undefined
}

function isMap(value: MmdbValue | undefined): value is { readonly [key: string]: MmdbValue } {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array)
}
