import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { ixfrSerial } from '../../../../src/resolver/plugins/transfer/setup.ts'
import { hex } from '../../../dns/wire/messages.ts'

const SOA =
  'c00c 0006 0001 00000000 0018 00 c00c 00000007 00000001 00000001 00000001 00000001'.replace(
    '0018',
    '0017',
  )
const A = 'c00c 0001 0001 00000000 0004 c0000201'

/** A query for changes with records in its answer and authority sections. */
function serialOf(answers: string[], authority: string[]): number | undefined {
  const question = writeQuery({ name: nameOf('example.org'), type: TYPE.IXFR })
  const message = concatBytes(question, ...[...answers, ...authority].map(hex))
  writeUint16(message, 6, answers.length)
  writeUint16(message, 8, authority.length)
  const query = parseQuery(message)
  assert.equal(query.kind, 'query')
  return query.kind === 'query' ? ixfrSerial(query) : undefined
}

describe('ixfrSerial', () => {
  const cases: { name: string; answers?: string[]; authority: string[]; is: number | undefined }[] =
    [
      { name: 'reads the serial of the SOA record', authority: [SOA], is: 7 },
      { name: 'finds none without a record', authority: [], is: undefined },
      { name: 'finds none in another record', authority: [A], is: undefined },
      { name: 'finds none after an answer', answers: [A], authority: [SOA], is: undefined },
      {
        name: 'finds none in an SOA record that is cut',
        authority: [SOA.replace('0017', '0013').slice(0, -9)],
        is: undefined,
      },
    ]
  for (const { name, answers = [], authority, is } of cases) {
    test(name, () => {
      assert.equal(serialOf(answers, authority), is)
    })
  }
})
