/**
 * Entries for snapshots: from zone-file text, and random ones.
 * @module
 */
import fc from 'fast-check'
import { byteAt, concatBytes, formatHex, LOWER } from '../../src/dns/bytes/bytes.ts'
import { nameOf, parseRelativeName, tailOffset } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import type { ResourceRecord } from '../../src/dns/wire/message.ts'
import type {
  AddressNames,
  ExistingName,
  PodAddress,
  Pointer,
  Rdata,
  RRset,
  ZoneEntry,
} from '../../src/snapshot/records/zone-entry.ts'
import { parseRecord } from '../parse-record.ts'

/** The origin that texts are relative to. */
export const ORIGIN: Uint8Array = nameOf('cluster.local')

/** Where the name begins that ends the rdata of a type. */
const NAME_OFFSETS: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.DNAME, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
])

/** The labels of a relative name. */
export function labels(text: string): Uint8Array {
  const name = parseRelativeName(text)
  if (name === undefined) throw new TypeError(`Not a relative name: "${text}"`)
  return name
}

/** The set that lines of a zone file make up: one owner, one type, the first line's TTL. */
export function rrset(lines: string, namespace = ''): RRset {
  const records = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(recordOf)
  const [first] = records
  if (first === undefined) throw new TypeError('No records')
  return {
    kind: 'records',
    owner: first.owner.subarray(0, tailOffset(first.owner, ORIGIN)),
    namespace,
    type: first.type,
    ttlSeconds: first.ttlSeconds,
    rdata: records.map(rdataOf),
  }
}

/** A name that exists. */
export function existingName(owner: string, namespace = ''): ExistingName {
  return { kind: 'name', owner: labels(owner), namespace }
}

/** A name below which names are made from addresses. */
export function addressNames(owner: string, namespace = ''): AddressNames {
  return { kind: 'address-names', owner: labels(owner), namespace }
}

/** Where an address points back to. */
export function pointer(
  address: readonly number[],
  target: string,
  { namespace = '', ttlSeconds = 5 }: { namespace?: string; ttlSeconds?: number } = {},
): Pointer {
  return {
    kind: 'pointer',
    address: Uint8Array.from(address),
    namespace,
    ttlSeconds,
    target: labels(target),
  }
}

/** Whose an address is. */
export function podAddress(address: readonly number[], namespace: string): PodAddress {
  return { kind: 'pod-address', address: Uint8Array.from(address), namespace }
}

/** Rdata as text: hexadecimal digits, and the relative name that ends it behind a plus. */
export function rdataText({ bytes, target }: Rdata): string {
  return target === undefined ? formatHex(bytes) : `${formatHex(bytes)}+${formatHex(target)}`
}

/** The record that rdata makes at a name below the origin. */
export function joinedRecord(
  { owner, type, ttlSeconds }: Omit<RRset, 'kind' | 'namespace' | 'rdata'>,
  { bytes, target }: Rdata,
): ResourceRecord {
  const rdata = target === undefined ? bytes : concatBytes(bytes, target, ORIGIN)
  return { owner: concatBytes(owner, ORIGIN), type, class: 1, ttlSeconds, rdata }
}

/** Random relative names, many of them above or beside each other, some of any bytes. */
export function relativeName(): fc.Arbitrary<Uint8Array> {
  const word = fc.constantFrom('a', 'b', 'svc', 'web', '_tcp', 'x'.repeat(63)).map(labels)
  const any = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((octets) =>
    concatBytes(
      Uint8Array.of(octets.length),
      octets.map((value) => byteAt(LOWER, value)),
    ),
  )
  const label = fc.oneof({ weight: 9, arbitrary: word }, { weight: 1, arbitrary: any })
  return fc
    .array(label, { maxLength: 6 })
    .map((parts) => concatBytes(...parts))
    .filter((name) => name.length <= 200)
}

/** Any entry with rdata that its type allows. */
export function zoneEntry(): fc.Arbitrary<ZoneEntry> {
  const name = fc.record({ owner: relativeName(), namespace: namespaceName() })
  return fc.oneof(
    { weight: 8, arbitrary: anyRecordSet() },
    { weight: 1, arbitrary: name.map((fields): ZoneEntry => ({ kind: 'name', ...fields })) },
    {
      weight: 1,
      arbitrary: name.map((fields): ZoneEntry => ({ kind: 'address-names', ...fields })),
    },
    { weight: 3, arbitrary: anyPointer() },
    { weight: 1, arbitrary: anyPodAddress() },
  )
}

function namespaceName(): fc.Arbitrary<string> {
  return fc.constantFrom('', 'shop', 'shop', 'bücher')
}

function ttl(): fc.Arbitrary<number> {
  return fc.constantFrom(0, 5, 30, 0xffffff)
}

function anyRecordSet(): fc.Arbitrary<ZoneEntry> {
  const octets = (count: number): fc.Arbitrary<Rdata> =>
    fc.uint8Array({ minLength: count, maxLength: count, max: 3 }).map((bytes) => ({ bytes }))
  const targets = (count: number): fc.Arbitrary<Rdata> =>
    fc.tuple(octets(count), relativeName()).map(([{ bytes }, target]) => ({ bytes, target }))
  const absolute: fc.Arbitrary<Rdata> = fc.constant({ bytes: nameOf('www.example.org') })
  const ofType = (type: number, rdata: fc.Arbitrary<Rdata>): fc.Arbitrary<ZoneEntry> =>
    fc
      .record({
        owner: relativeName(),
        namespace: namespaceName(),
        ttlSeconds: ttl(),
        rdata: fc.array(rdata, { maxLength: 4 }),
        isGlue: fc.boolean(),
      })
      .map(({ isGlue, ...fields }) => ({
        kind: 'records',
        type,
        ...fields,
        ...(isGlue ? { isGlue } : {}),
      }))
  return fc.oneof(
    ofType(TYPE.A, octets(4)),
    ofType(TYPE.AAAA, octets(16)),
    ofType(TYPE.SRV, targets(6)),
    ofType(TYPE.MX, targets(2)),
    ofType(TYPE.CNAME, fc.oneof(targets(0), absolute)),
    ofType(TYPE.PTR, fc.oneof(targets(0), absolute)),
    ofType(
      65280,
      fc.uint8Array({ maxLength: 9 }).map((bytes) => ({ bytes })),
    ),
  )
}

function anyAddress(): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    fc.constantFrom(Uint8Array.of(192, 0, 2, 1), Uint8Array.of(192, 0, 2, 2)),
  )
}

function anyPointer(): fc.Arbitrary<ZoneEntry> {
  return fc
    .record({
      address: anyAddress(),
      namespace: namespaceName(),
      ttlSeconds: ttl(),
      target: relativeName(),
    })
    .map((fields) => ({ kind: 'pointer', ...fields }))
}

function anyPodAddress(): fc.Arbitrary<ZoneEntry> {
  return fc
    .record({ address: anyAddress(), namespace: namespaceName() })
    .map((fields) => ({ kind: 'pod-address', ...fields }))
}

/** The record that a line of a zone file is. */
export function recordOf(line: string): ResourceRecord {
  const record = parseRecord(line, ORIGIN)
  if (record === undefined) throw new TypeError(`Not a record: "${line}"`)
  return record
}

/** A name below the origin becomes the target, as the records of a cluster have it. */
function rdataOf({ type, rdata }: ResourceRecord): Rdata {
  const offset = NAME_OFFSETS.get(type)
  const size = offset === undefined ? -1 : tailOffset(rdata.subarray(offset), ORIGIN)
  if (offset === undefined || size < 0) return { bytes: rdata }
  return { bytes: rdata.slice(0, offset), target: rdata.slice(offset, offset + size) }
}
