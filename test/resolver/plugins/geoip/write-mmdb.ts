/**
 * Writes databases of MaxMind's form, for tests:
 * `node test/resolver/plugins/geoip/write-mmdb.ts FILE` writes the one of
 * `test/differential/places/geoip`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { parseAddress } from '../../../../src/dns/names/address.ts'
import type { MmdbValue } from '../../../../src/resolver/plugins/geoip/mmdb.ts'

/** A number with its type, where JavaScript has one type for all. */
export class Typed {
  readonly type: 'double' | 'float' | 'int32' | 'uint64'
  readonly value: number

  constructor(type: Typed['type'], value: number) {
    this.type = type
    this.value = value
  }
}

/** A value to write. Whole numbers are unsigned, of 32 bits. */
export type Written = MmdbValue | Typed | readonly Written[] | { readonly [key: string]: Written }

/** What a database is to be like. */
export type MmdbOptions = {
  readonly type: string
  readonly recordBits: 24 | 28 | 32
  readonly ipVersion: 4 | 6
}

type Node = [Node | number | undefined, Node | number | undefined]

const encoder = new TextEncoder()

/** Writes a database that knows something of networks (`192.0.2.0/24`). */
export function writeMmdb(
  { type, recordBits, ipVersion }: MmdbOptions,
  networks: Readonly<Record<string, Written>>,
): Uint8Array {
  const root: Node = [undefined, undefined]
  const data: Uint8Array[] = []
  let dataBytes = 0
  for (const [network, value] of Object.entries(networks)) {
    insert(root, bitsOf(network, ipVersion), dataBytes)
    const bytes = writeValue(value)
    data.push(bytes)
    dataBytes += bytes.length
  }
  const nodes: Node[] = []
  number(root, nodes)
  const tree = nodes.map((node) => writeNode(node, nodes, recordBits))
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: new Typed('uint64', 1_700_000_000),
    database_type: type,
    description: {},
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: recordBits,
  }
  const marker = Uint8Array.from('\xab\xcd\xefMaxMind.com', (char) => char.charCodeAt(0))
  return concatBytes(...tree, new Uint8Array(16), ...data, marker, writeValue(metadata))
}

/** Writes one value. */
export function writeValue(value: Written): Uint8Array {
  if (value instanceof Typed) return writeTyped(value)
  if (typeof value === 'string') return withControl(2, encoder.encode(value))
  if (typeof value === 'boolean') return control(14, value ? 1 : 0)
  if (value instanceof Uint8Array) return withControl(4, value)
  if (typeof value === 'number') return withControl(6, bigEndian(value))
  if (Array.isArray(value)) return concatBytes(control(11, value.length), ...value.map(writeValue))
  const entries = Object.entries(value)
  const parts = entries.flatMap(([key, member]) => [writeValue(key), writeValue(member)])
  return concatBytes(control(7, entries.length), ...parts)
}

function writeTyped({ type, value }: Typed): Uint8Array {
  if (type === 'uint64') return withControl(9, bigEndian(value))
  const view = new DataView(new ArrayBuffer(type === 'double' ? 8 : 4))
  if (type === 'double') view.setFloat64(0, value)
  else if (type === 'float') view.setFloat32(0, value)
  else view.setInt32(0, value)
  const number = { double: 3, float: 15, int32: 8 }[type]
  return withControl(number, new Uint8Array(view.buffer))
}

function bigEndian(value: number): Uint8Array {
  const octets: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return Uint8Array.from(octets)
}

function withControl(type: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(control(type, bytes.length), bytes)
}

function control(type: number, size: number): Uint8Array {
  const code = size < 29 ? size : size < 285 ? 29 : size < 65_821 ? 30 : 31
  const first = type < 8 ? [(type << 5) | code] : [code, type - 7]
  const rest = size - ([0, 29, 285, 65_821][Math.max(0, code - 28)] ?? 0)
  const more = Array.from({ length: Math.max(0, code - 28) }, (_, i) => {
    const shift = 8 * (code - 29 - i)
    return (rest >>> shift) & 255
  })
  return Uint8Array.from([...first, ...more])
}

function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [text = '', length = ''] = network.split('/')
  const address = parseAddress(text)
  if (address === undefined) throw new TypeError(network)
  const bits = Array.from(
    { length: Number(length) },
    (_, i) => ((address[i >> 3] ?? 0) >> (7 - (i & 7))) & 1,
  )
  const isEmbedded = address.length === 4 && ipVersion === 6
  return isEmbedded ? [...Array.from({ length: 96 }, () => 0), ...bits] : bits
}

function insert(root: Node, bits: readonly number[], data: number): void {
  let node = root
  for (const [i, bit] of bits.entries()) {
    if (i === bits.length - 1) {
      node[bit === 0 ? 0 : 1] = data
      return
    }
    const next = node[bit === 0 ? 0 : 1]
    const child: Node = Array.isArray(next) ? next : [undefined, undefined]
    node[bit === 0 ? 0 : 1] = child
    node = child
  }
}

function number(node: Node, nodes: Node[]): void {
  nodes.push(node)
  for (const child of node) if (Array.isArray(child)) number(child, nodes)
}

function writeNode(node: Node, nodes: readonly Node[], recordBits: number): Uint8Array {
  const [left = 0, right = 0] = node.map((child) => {
    if (Array.isArray(child)) return nodes.indexOf(child)
    return child === undefined ? nodes.length : nodes.length + 16 + child
  })
  const octets = (value: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256)
  if (recordBits !== 28) {
    return Uint8Array.from([...octets(left, recordBits / 8), ...octets(right, recordBits / 8)])
  }
  const middle = (Math.floor(left / 2 ** 24) << 4) | Math.floor(right / 2 ** 24)
  return Uint8Array.from([...octets(left, 3), middle, ...octets(right, 3)])
}

/** The database of `test/differential/places/geoip`, which has what that place's clients have. */
export function differentialDatabase(): Uint8Array {
  const names = (en: string): { names: Written } => ({ names: { de: `${en} auf Deutsch`, en } })
  const place = (city: string, latitude: number): Written => ({
    city: names(city),
    continent: { ...names('Europe'), code: 'EU' },
    country: { ...names('Examplia'), iso_code: 'EX', is_in_european_union: true },
    location: {
      latitude: new Typed('double', latitude),
      longitude: new Typed('double', -0.1431),
      time_zone: 'Europe/Exampleton',
    },
    postal: { code: 'EX1 2PL' },
    subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'EXS' }],
  })
  const options = { type: 'GeoLite2-City', recordBits: 28, ipVersion: 6 } as const
  return writeMmdb(options, {
    '127.0.0.9/32': place('Exampleton', 52.2242),
    '127.0.4.0/24': place('Farville', -7),
    '127.1.0.0/16': { country: { iso_code: 'NO' } },
    '::1/128': place('Sixford', 1),
  })
}

const [, script, path] = process.argv
if (script === import.meta.filename && path !== undefined) {
  writeFileSync(path, differentialDatabase())
}
