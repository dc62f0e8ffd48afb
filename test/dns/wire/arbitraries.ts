/**
 * Random rdata and records for property tests.
 * @module
 */
import fc from 'fast-check'
import { concatBytes, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { type Field, fieldBytes, rdataSchema } from '../../../src/dns/rdata/rdata-schema.ts'
import { typeBitmap } from '../../../src/dns/rdata/type-bitmap.ts'
import type { ResourceRecord } from '../../../src/dns/wire/message.ts'
import { wireLabel, wireName } from '../../generators.ts'

/** The types whose rdata has parts. */
export const KNOWN_TYPES: readonly number[] = Object.values(TYPE).filter(
  (type) => rdataSchema(type) !== undefined,
)

/** A type without a schema, for private use (RFC 6895 §3.1). */
export const PRIVATE_TYPE = 65280

const MANDATORY_KEY = 0

/** Any valid uncompressed rdata of a type. */
export function rdataOf(type: number): fc.Arbitrary<Uint8Array> {
  const schema = rdataSchema(type)
  if (schema === undefined) return fc.uint8Array()
  return fc.tuple(...schema.map(fieldOf)).map((parts) => concatBytes(...parts))
}

/** Any record with rdata that fits its type. */
export function anyRecord(owner: fc.Arbitrary<Uint8Array>): fc.Arbitrary<ResourceRecord> {
  return fc.constantFrom(...KNOWN_TYPES, PRIVATE_TYPE).chain((type) =>
    fc.record(
      {
        owner,
        type: fc.constant(type),
        class: fc.constantFrom(1, 3),
        ttlSeconds: fc.nat(0x7fffffff),
        rdata: rdataOf(type),
      },
      { noNullPrototype: true },
    ),
  )
}

/** Names that share suffixes in many ways, and letter cases. */
export function familyName(): fc.Arbitrary<Uint8Array> {
  const label = fc.constantFrom('a', 'A', 'b', 'org', 'ORG').map((text) => Buffer.from(text))
  return fc
    .array(fc.oneof({ arbitrary: label, weight: 9 }, wireLabel()), { maxLength: 3 })
    .map((labels) => {
      const parts = labels.map((octets) => Uint8Array.of(octets.length, ...octets))
      return concatBytes(...parts, Uint8Array.of(0))
    })
}

function fieldOf(field: Field): fc.Arbitrary<Uint8Array> {
  const size = fieldBytes(field)
  if (size !== undefined) return fc.uint8Array({ minLength: size, maxLength: size })
  switch (field) {
    case 'name':
    case 'pointable':
      return fc.oneof(familyName(), wireName())
    case 'string':
      return shortString(fc.uint8Array({ maxLength: 255, size: 'max' }))
    case 'strings':
      return fc
        .array(shortString(fc.uint8Array()), { minLength: 1 })
        .map((strings) => concatBytes(...strings))
    case 'tag':
      return shortString(fc.stringMatching(/^[a-z0-9]{1,15}$/).map((text) => Buffer.from(text)))
    case 'params':
      return serviceParams()
    case 'types':
      return fc.array(fc.nat(65535), { maxLength: 9 }).map(typeBitmap)
    default:
      return fc.uint8Array()
  }
}

function shortString(octets: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return octets.map((some) => concatBytes(Uint8Array.of(some.length), some))
}

/** Keys that rise, with values that need not be what the key stands for. */
export function serviceParams(): fc.Arbitrary<Uint8Array> {
  const key = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.nat(65535))
  const param = fc.tuple(
    key.filter((value) => value !== MANDATORY_KEY),
    fc.uint8Array({ maxLength: 40 }),
  )
  return fc.uniqueArray(param, { selector: ([value]) => value, maxLength: 5 }).map((params) => {
    const sorted = [...params].sort(([a], [b]) => a - b)
    return concatBytes(
      ...sorted.map(([value, octets]) => {
        const head = new Uint8Array(4)
        writeUint16(head, 0, value)
        writeUint16(head, 2, octets.length)
        return concatBytes(head, octets)
      }),
    )
  })
}
