import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY_REPLY, type Reply } from '../../../../src/dns/wire/message.ts'
import { unionOf } from '../../../../src/resolver/plugins/kubernetes/merged-zones.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { recordOf } from '../../../snapshot/entries.ts'

function reply(answer: readonly string[], additional: readonly string[] = []): Reply {
  const [records, others] = [answer, additional].map((lines) => lines.map((one) => recordOf(one)))
  const authority = answer.length > 0 ? [] : [recordOf('all.test. 5 IN NS ns.all.test.')]
  return { ...EMPTY_REPLY, answer: records ?? [], additional: others ?? [], authority }
}

function lines({ answer, authority, additional }: Reply): string[][] {
  return [answer, authority, additional].map((records) => records.map((one) => formatRecord(one)))
}

const A = 'web.all.test. 5 IN A 192.0.2.1'
const B = 'web.all.test. 3 IN A 192.0.2.2'

describe('the union of replies', () => {
  test('has each record once, with the least TTL of its set', () => {
    const union = unionOf([reply([A]), reply([]), reply([B, A], [A])])
    assert.deepEqual(lines(union), [[A.replace(' 5 ', ' 3 '), B], [], [A]])
  })

  test('is the first where there is no data', () => {
    const [first, second] = [reply([]), reply([])]
    assert.equal(unionOf([first, second]), first)
  })

  test('is truncated when a part is', () => {
    assert.equal(unionOf([reply([A]), { ...reply([B]), truncated: true }]).truncated, true)
  })
})
