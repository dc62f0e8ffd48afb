import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { failure, type Outcome } from '../../../src/resolver/contract/outcome.ts'
import { denialOf } from '../../../src/resolver/plugin-kit/denial.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { parseQuestion, writeReplyText } from '../../message-text.ts'

const SOA = 'authority: b.test. 60 IN SOA ns.b.test. a.b.test. 1 2 3 4 5'
const NSEC = 'authority: b.test. 60 IN NSEC c.b.test. A'
const CNAME = 'a.test. 60 IN CNAME b.test.'

function replyOf(...lines: readonly string[]): Outcome {
  const reply = parseResponse(writeReplyText(lines, parseQuestion('a.test A').message))
  return reply ?? assert.fail('no reply')
}

describe('denialOf', () => {
  const cases: { name: string; end: Outcome; is: string[] | undefined }[] = [
    { name: 'NXDOMAIN', end: replyOf('NXDOMAIN', SOA), is: ['NXDOMAIN', SOA] },
    {
      name: 'NXDOMAIN with proofs',
      end: replyOf('NXDOMAIN', SOA, NSEC),
      is: ['NXDOMAIN', SOA, NSEC],
    },
    { name: 'NXDOMAIN without SOA', end: replyOf('NXDOMAIN'), is: ['NXDOMAIN'] },
    { name: 'a failure with NXDOMAIN', end: failure(RCODE.NXDOMAIN), is: ['NXDOMAIN'] },
    { name: 'NODATA', end: replyOf('NOERROR', SOA), is: ['NOERROR', SOA] },
    { name: 'NODATA after a CNAME', end: replyOf('NOERROR', CNAME, SOA), is: ['NOERROR', SOA] },
    { name: 'records', end: replyOf('NOERROR', 'a.test. 60 IN A 192.0.2.1', SOA), is: undefined },
    {
      name: 'a referral',
      end: replyOf('NOERROR', 'authority: b.test. 60 IN NS c.'),
      is: undefined,
    },
    { name: 'an empty response', end: replyOf('NOERROR'), is: undefined },
    { name: 'SERVFAIL', end: replyOf('SERVFAIL', SOA), is: undefined },
    { name: 'a failure', end: failure(RCODE.REFUSED), is: undefined },
    { name: 'no response', end: { kind: 'drop' }, is: undefined },
  ]
  for (const { name, end, is } of cases) {
    test(`of ${name}`, () => {
      const denial = denialOf(end, TYPE.A)
      const code = denial?.rcode === RCODE.NXDOMAIN ? 'NXDOMAIN' : 'NOERROR'
      const lines = denial?.authority.map((record) => `authority: ${formatRecord(record)}`) ?? []
      assert.deepEqual(denial && [code, ...lines], is)
    })
  }
})
