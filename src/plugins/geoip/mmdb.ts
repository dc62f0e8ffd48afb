/**
 * Databases in MaxMind's format (https://maxmind.github.io/MaxMind-DB/, version 2.0), read by the
 * package mmdb-lib. It checks little: this file bounds what a lookup may follow and turns whatever
 * is thrown at a damaged database into "nothing is known".
 * @module
 */
import { Reader } from 'mmdb-lib'

/** A value of a database. */
export type MmdbValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue }

/** Pointers that one lookup may follow, the one to the record included. */
const POINTERS_MAX = 4096

/** A database in memory. */
export class Mmdb {
  /** Its schema, such as `GeoLite2-City`. */
  readonly type: string
  private readonly reader: Reader<object>
  private readonly followed = new FollowedPointers()
  private readonly isIPv6: boolean

  /** @throws {RangeError} when it is no database of version 2 */
  constructor(bytes: Uint8Array) {
    this.reader = openReader(bytes, this.followed)
    const { metadata } = this.reader
    const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = metadata
    if (binaryFormatMajorVersion !== 2) throw new RangeError('it is not of version 2')
    const isWhole = nodeCount >= 0 && searchTreeSize <= bytes.length
    if (!isWhole) throw new RangeError('its tree is cut off')
    this.type = textOf(metadata.databaseType)
    this.isIPv6 = ipVersion === 6
  }

  /**
   * Finds what is known of an address of 4 or 16 bytes. Returns `undefined` when nothing is known
   * or the record is damaged. Never throws.
   */
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

/**
 * What the pointers of one lookup lead to: each target is read once, so that pointers to pointers
 * do not multiply.
 */
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

/** Returns a value that is text, '' for any other. */
export function textOf(value: MmdbValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function openReader(bytes: Uint8Array, cache: FollowedPointers): Reader<object> {
  const { buffer, byteOffset, length } = bytes
  try {
    return new Reader<object>(Buffer.from(buffer, byteOffset, length), { cache })
  } catch {
    throw new RangeError('it has no metadata that can be read')
  }
}

/** mmdb-lib takes addresses as text; IPv6 with all its groups needs no look for "::". */
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
