import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { RCODE } from '../../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply } from '../../../../src/dns/wire/message.ts'
import { failure } from '../../../../src/resolver/contract/outcome.ts'
import { denialOutside } from '../../../../src/resolver/plugins/kubernetes/cname-end.ts'
import { recordOf } from '../../../dns/wire/messages.ts'

const SOA = recordOf('b.test. 60 IN SOA ns.b.test. a.b.test. 1 2 3 4 5')

function negative(rcode: number, origin: Reply['origin']): Reply {
  return { ...EMPTY_REPLY, rcode, origin, authority: [SOA] }
}

describe('denialOutside', () => {
  const { NXDOMAIN, NOERROR, SERVFAIL } = RCODE
  for (const { rcode, origin, coredns, rfc } of [
    { rcode: NXDOMAIN, origin: 'upstream', coredns: true, rfc: true },
    { rcode: NOERROR, origin: 'upstream', coredns: true, rfc: true },
    { rcode: NXDOMAIN, origin: 'snapshot', coredns: true, rfc: true },
    { rcode: NOERROR, origin: 'snapshot', coredns: false, rfc: true },
    { rcode: SERVFAIL, origin: 'upstream', coredns: false, rfc: false },
  ] as const) {
    test(`of code ${rcode} from ${origin}: ${coredns} as CoreDNS, ${rfc} by the RFCs`, () => {
      const end = negative(rcode, origin)
      for (const [rules, has] of [['coredns', coredns] as const, ['rfc', rfc] as const]) {
        const denial = denialOutside(end, TYPE.A, { rules })
        assert.deepEqual(denial, has ? { rcode, authority: [SOA] } : undefined)
      }
    })
  }

  test('of a failure with NXDOMAIN has no SOA record', () => {
    const denial = denialOutside(failure(NXDOMAIN), TYPE.A, { rules: 'coredns' })
    assert.deepEqual(denial, { rcode: NXDOMAIN, authority: [] })
  })
})
