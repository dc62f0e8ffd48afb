import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseRcode, RCODE } from '../../../src/dns/names/rcode.ts'
import {
  type ResponseClass,
  type ResponseKind,
  responseClass,
  responseKind,
} from '../../../src/resolver/plugin-kit/response-class.ts'

type Case = {
  readonly name: string
  readonly rcode: string
  readonly answerCount?: number
  readonly authority?: string
  readonly kind: ResponseKind
  readonly class: ResponseClass
}

describe('responseKind and responseClass', () => {
  const cases: Case[] = [
    { name: 'sort an answer', rcode: 'NOERROR', answerCount: 1, kind: 'answer', class: 'success' },
    {
      name: 'sort an answer with an SOA record beside it',
      rcode: 'NOERROR',
      answerCount: 1,
      authority: 'SOA',
      kind: 'answer',
      class: 'success',
    },
    {
      name: 'sort an answer without any record',
      rcode: 'NOERROR',
      kind: 'answer',
      class: 'success',
    },
    {
      name: 'sort NODATA',
      rcode: 'NOERROR',
      authority: 'SOA',
      kind: 'nodata',
      class: 'denial',
    },
    {
      name: 'sort NODATA that names name servers as well',
      rcode: 'NOERROR',
      authority: 'SOA NS',
      kind: 'nodata',
      class: 'denial',
    },
    {
      name: 'sort a referral',
      rcode: 'NOERROR',
      authority: 'NS',
      kind: 'delegation',
      class: 'success',
    },
    {
      name: 'sort NXDOMAIN',
      rcode: 'NXDOMAIN',
      authority: 'SOA',
      kind: 'nxdomain',
      class: 'denial',
    },
    {
      name: 'sort a negative response without proof',
      rcode: 'NXDOMAIN',
      kind: 'nxdomain',
      class: 'denial',
    },
    {
      name: 'sort a negative response at the end of a CNAME as CoreDNS does',
      rcode: 'NXDOMAIN',
      answerCount: 1,
      authority: 'SOA',
      kind: 'other-error',
      class: 'error',
    },
    { name: 'sort a server failure', rcode: 'SERVFAIL', kind: 'server-error', class: 'error' },
    {
      name: 'sort what is not implemented',
      rcode: 'NOTIMP',
      kind: 'server-error',
      class: 'error',
    },
    { name: 'sort a refusal', rcode: 'REFUSED', kind: 'other-error', class: 'error' },
    { name: 'sort a format error', rcode: 'FORMERR', kind: 'other-error', class: 'error' },
    { name: 'sort extended codes', rcode: 'BADVERS', kind: 'other-error', class: 'error' },
  ]
  for (const { name, rcode, answerCount = 0, authority = '', kind, class: wanted } of cases) {
    test(name, () => {
      const found = responseKind({
        rcode: parseRcode(rcode) ?? RCODE.NOERROR,
        answerCount,
        hasSoa: authority.includes('SOA'),
        hasNs: authority.includes('NS'),
      })
      assert.equal(found, kind)
      assert.equal(responseClass(found), wanted)
    })
  }
})
