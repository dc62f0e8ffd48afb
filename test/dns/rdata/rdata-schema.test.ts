import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatType, TYPE } from '../../../src/dns/names/rr-type.ts'
import { type Field, fieldBytes, rdataSchema } from '../../../src/dns/rdata/rdata-schema.ts'
import { KNOWN_TYPES } from '../wire/arbitraries.ts'

/** Fields that take all that is left, so that nothing can follow. */
const TO_THE_END: readonly Field[] = ['strings', 'rest', 'hex', 'base64', 'params', 'types']

describe('rdataSchema', () => {
  test('lets names be compressed in the types of RFC 1035 only (RFC 3597 §4)', () => {
    const { NS, MD, MF, CNAME, SOA, MB, MG, MR, PTR, MINFO, MX } = TYPE
    const pointable = KNOWN_TYPES.filter((type) => rdataSchema(type)?.includes('pointable'))
    assert.deepEqual(pointable, [NS, MD, MF, CNAME, SOA, MB, MG, MR, PTR, MINFO, MX])
  })

  test('knows no parts of types that are not data', () => {
    const { OPT, TKEY, TSIG, IXFR, AXFR, MAILB, MAILA, ANY } = TYPE
    for (const type of [OPT, TKEY, TSIG, IXFR, AXFR, MAILB, MAILA, ANY, 0, 65280]) {
      assert.equal(rdataSchema(type), undefined, formatType(type))
    }
  })

  for (const type of KNOWN_TYPES) {
    test(`${formatType(type)} ends with what goes to the end`, () => {
      const [last, ...before] = [...(rdataSchema(type) ?? [])].reverse()
      assert.ok(last !== undefined)
      assert.deepEqual(
        before.filter((field) => TO_THE_END.includes(field)),
        [],
      )
    })
  }
})

describe('fieldBytes', () => {
  const cases: { field: Field; size: number | undefined }[] = [
    { field: 'u8', size: 1 },
    { field: 'algorithm', size: 1 },
    { field: 'u16', size: 2 },
    { field: 'type', size: 2 },
    { field: 'u32', size: 4 },
    { field: 'seconds', size: 4 },
    { field: 'time', size: 4 },
    { field: 'ipv4', size: 4 },
    { field: 'certificate', size: 2 },
    { field: 'eui48', size: 6 },
    { field: 'eui64', size: 8 },
    { field: 'node', size: 8 },
    { field: 'ipv6', size: 16 },
    { field: 'name', size: undefined },
    { field: 'pointable', size: undefined },
    { field: 'string', size: undefined },
    { field: 'tag', size: undefined },
    ...TO_THE_END.map((field) => ({ field, size: undefined })),
  ]
  for (const { field, size } of cases) {
    test(`${field} has ${size ?? 'any number of'} bytes`, () => {
      assert.equal(fieldBytes(field), size)
    })
  }
})
