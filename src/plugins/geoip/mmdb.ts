/**
 * Databases of MaxMind's form: what is known of an address, found bit by bit in a binary tree
 * (https://maxmind.github.io/MaxMind-DB/, version 2.0).
 *
 * ```
 * tree: nodes of two records | 16 zero octets | data | marker | metadata, as data
 * ```
 * @module
 */
import { toLatin1 } from '../../dns/bytes.ts'

/** A value of a database. */
export type MmdbValue =
  | string
  | number
  | boolean
  | Uint8Array
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue }

/** Numbers of the types of data. */
const TYPE = {
  POINTER: 1,
  STRING: 2,
  DOUBLE: 3,
  BYTES: 4,
  UINT16: 5,
  UINT32: 6,
  MAP: 7,
  INT32: 8,
  UINT64: 9,
  UINT128: 10,
  ARRAY: 11,
  BOOLEAN: 14,
  FLOAT: 15,
} as const

const MARKER = '\xab\xcd\xefMaxMind.com'
/** The marker is within so many octets of the end. */
const METADATA_BYTES_MAX = 131_072
const SEPARATOR_BYTES = 16
/** Sizes that records of the tree may have; two make a node. */
const RECORD_BITS: readonly number[] = [24, 28, 32]
/** Octets that the numbers have which are read as such. */
const NUMBER_BYTES_MAX = 4
/** Values within values. */
const DEPTH_MAX = 16
/** Values that one record may have, those that pointers lead to included. */
const VALUES_MAX = 4096
/** Bits before an IPv4 address in a tree of IPv6 addresses, all 0. */
const IPV4_PREFIX_BITS = 96

/** A database in memory. */
export class Mmdb {
  /** What it calls its schema, such as `GeoLite2-City`. */
  readonly type: string
  private readonly bytes: Uint8Array
  private readonly nodeCount: number
  private readonly recordBits: number
  private readonly dataStart: number
  private readonly isIPv6: boolean

  /** @throws {RangeError} when it is no database of version 2 */
  constructor(bytes: Uint8Array) {
    const metadata = findMetadata(bytes)
    const number = (key: string): number => numberOf(memberOf(metadata, key))
    this.bytes = bytes
    this.type = textOf(memberOf(metadata, 'database_type'))
    this.nodeCount = number('node_count')
    this.recordBits = number('record_size')
    this.isIPv6 = number('ip_version') === 6
    this.dataStart = (this.nodeCount * this.recordBits) / 4 + SEPARATOR_BYTES
    const isKnown =
      number('binary_format_major_version') === 2 && RECORD_BITS.includes(this.recordBits)
    if (!isKnown) throw new RangeError('it is not of version 2')
    const isWhole = 0 <= this.nodeCount && this.dataStart <= bytes.length
    if (!isWhole) throw new RangeError('its tree is cut off')
  }

  /**
   * Finds what is known of an address of 4 or 16 octets. `undefined` when that is nothing, or is
   * damaged.
   */
  find(address: Uint8Array): MmdbValue | undefined {
    const record = this.findRecord(address)
    if (record <= this.nodeCount) return undefined
    const start = this.dataStart + record - this.nodeCount - SEPARATOR_BYTES
    return new DataReader(this.bytes, this.dataStart).read(start)
  }

  /** Walks down from the root. A number up to that of all nodes means that there is nothing. */
  private findRecord(address: Uint8Array): number {
    if (address.length === 16 && !this.isIPv6) return this.nodeCount
    let node = 0
    if (address.length === 4 && this.isIPv6) {
      for (let i = 0; i < IPV4_PREFIX_BITS && node < this.nodeCount; i++) node = this.child(node, 0)
    }
    for (let i = 0; i < 8 * address.length && node < this.nodeCount; i++) {
      node = this.child(node, ((address[i >>> 3] ?? 0) >>> (7 - (i & 7))) & 1)
    }
    return node
  }

  /** Reads a record; with 28 bits, four of each are in the octet between both. */
  private child(node: number, bit: number): number {
    const { bytes, recordBits } = this
    const at = (node * recordBits) / 4 + (bit * (recordBits & ~7)) / 8
    const octetAt = (offset: number): number => bytes[at + offset] ?? 0
    const low = (octetAt(0) << 16) | (octetAt(1) << 8) | octetAt(2)
    if (recordBits === 24) return low
    if (recordBits === 32) return ((low << 8) | octetAt(3)) >>> 0
    if (bit === 0) return ((octetAt(3) >>> 4) << 24) | low
    return ((octetAt(0) & 15) << 24) | (octetAt(1) << 16) | (octetAt(2) << 8) | octetAt(3)
  }
}

/** The member of a map; `undefined` of all else. */
export function memberOf(value: MmdbValue | undefined, key: string): MmdbValue | undefined {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** A value as text; '' for what is none. */
export function textOf(value: MmdbValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function isMap(value: MmdbValue | undefined): value is { readonly [key: string]: MmdbValue } {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array)
}

function numberOf(value: MmdbValue | undefined): number {
  return typeof value === 'number' ? value : -1
}

function findMetadata(bytes: Uint8Array): MmdbValue | undefined {
  const from = Math.max(0, bytes.length - METADATA_BYTES_MAX)
  const marker = toLatin1(bytes.subarray(from)).lastIndexOf(MARKER)
  if (marker < 0) throw new RangeError('it has no metadata')
  const start = from + marker + MARKER.length
  return new DataReader(bytes, start).read(start)
}

const decoder = new TextDecoder()

/** Reads one record. */
class DataReader {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  /** What pointers count from. */
  private readonly start: number
  private at = 0
  private values = 0
  private isBroken = false

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.start = start
  }

  /** Reads the value at an offset; `undefined` when it is damaged. */
  read(at: number): MmdbValue | undefined {
    this.at = at
    const value = this.value(0)
    return this.isBroken ? undefined : value
  }

  private value(depth: number): MmdbValue {
    if (depth > DEPTH_MAX || ++this.values > VALUES_MAX) return this.fail()
    const control = this.number(1)
    const type = control >>> 5 === 0 ? this.number(1) + 7 : control >>> 5
    if (type === TYPE.POINTER) return this.follow(control, depth)
    const size = this.size(control & 31)
    if (this.isBroken) return ''
    switch (type) {
      case TYPE.MAP:
        return this.map(size, depth)
      case TYPE.ARRAY:
        return this.array(size, depth)
      case TYPE.BOOLEAN:
        return size !== 0
      default:
        return this.scalar(type, size)
    }
  }

  private scalar(type: number, size: number): MmdbValue {
    const { at } = this
    if (at + size > this.bytes.length) return this.fail()
    if (type === TYPE.UINT16 || type === TYPE.UINT32) {
      return size <= NUMBER_BYTES_MAX ? this.number(size) : this.fail()
    }
    this.at += size
    const octets = this.bytes.subarray(at, at + size)
    switch (type) {
      case TYPE.STRING:
        return decoder.decode(octets)
      case TYPE.DOUBLE:
        return size === 8 ? this.view.getFloat64(at) : this.fail()
      case TYPE.FLOAT:
        return size === 4 ? this.view.getFloat32(at) : this.fail()
      case TYPE.INT32:
        return octets.reduce((value, octet) => (value << 8) | octet, 0)
      case TYPE.BYTES:
      case TYPE.UINT64:
      case TYPE.UINT128:
        return octets
      default:
        return this.fail()
    }
  }

  /** Sizes from 29 on say how many octets tell the rest. */
  private size(code: number): number {
    if (code < 29) return code
    if (code === 29) return 29 + this.number(1)
    return code === 30 ? 285 + this.number(2) : 65_821 + this.number(3)
  }

  /** A pointer leads to a value that is none itself; behind it goes on what was read. */
  private follow(control: number, depth: number): MmdbValue {
    const size = (control >>> 3) & 3
    const high = size === 3 ? 0 : (control & 7) * 2 ** (8 * (size + 1))
    const base = [0, 2048, 526_336, 0][size] ?? 0
    const target = this.start + base + high + this.number(size + 1)
    const { at } = this
    this.at = target
    const value = this.value(depth + 1)
    this.at = at
    return value
  }

  private map(size: number, depth: number): MmdbValue {
    const entries: [string, MmdbValue][] = []
    for (let i = 0; i < size && !this.isBroken; i++) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string') return this.fail()
      entries.push([key, this.value(depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  private array(size: number, depth: number): MmdbValue {
    const values: MmdbValue[] = []
    for (let i = 0; i < size && !this.isBroken; i++) values.push(this.value(depth + 1))
    return values
  }

  /** Reads a number of some octets, the highest first. */
  private number(size: number): number {
    let value = 0
    for (let i = 0; i < size; i++) {
      const octet = this.bytes[this.at++]
      if (octet === undefined) this.isBroken = true
      value = value * 256 + (octet ?? 0)
    }
    return value
  }

  private fail(): MmdbValue {
    this.isBroken = true
    return ''
  }
}
