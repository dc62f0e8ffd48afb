import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY_REPLY, type Reply } from '../../../../src/dns/wire/message.ts'
import { failure, type Outcome } from '../../../../src/resolver/contract/outcome.ts'
import type { Request } from '../../../../src/resolver/contract/request.ts'
import { ownerRule, remapping } from '../../../../src/resolver/plugins/rewrite/name-rule.ts'
import { revert } from '../../../../src/resolver/plugins/rewrite/revert.ts'
import type { ResponseRule } from '../../../../src/resolver/plugins/rewrite/rule.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { recordOf } from '../../../dns/wire/messages.ts'
import { serveWith } from '../../chain/serve-with.ts'

async function request(question = 'a.org A +edns'): Promise<Request> {
  const requests: Request[] = []
  const server = serveWith({
    name: 'test',
    serve: (one) => {
      requests.push(one)
      return EMPTY_REPLY
    },
  })
  await server.ask(question)
  return requests[0] ?? assert.fail('no request')
}

const ECHOED = { code: 65_001, data: Uint8Array.of(1) }
const OTHER = { code: 15, data: Uint8Array.of(0, 3) }

async function reverted(outcome: Outcome, ...rules: ResponseRule[]): Promise<Outcome> {
  return revert(outcome, { request: await request(), hasEdns: true, rules, echoed: [ECHOED] })
}

describe('revert', () => {
  test('lets a drop be', async () => {
    assert.deepEqual(await reverted({ kind: 'drop' }), { kind: 'drop' })
  })

  const options: { name: string; outcome: Reply | ReturnType<typeof failure>; codes: number[] }[] =
    [
      { name: 'a reply of our own', outcome: EMPTY_REPLY, codes: [65_001] },
      { name: 'a failure', outcome: failure(2, 'why'), codes: [65_001] },
      { name: 'a failure with options', outcome: failure(2, 'why', [OTHER]), codes: [15] },
      { name: 'a reply with options', outcome: { ...EMPTY_REPLY, options: [OTHER] }, codes: [15] },
      { name: 'an upstream’s reply', outcome: { ...EMPTY_REPLY, origin: 'upstream' }, codes: [] },
    ]
  for (const { name, outcome, codes } of options) {
    test(`gives ${name} the options ${codes}`, async () => {
      const result = await reverted(outcome)
      assert.ok(result.kind === 'reply' || result.kind === 'failure')
      assert.deepEqual(
        result.options.map(({ code }) => code),
        codes,
      )
    })
  }

  test('keeps why a query failed', async () => {
    const result = await reverted(failure(2, 'why'), { rcode: () => 5 })
    assert.deepEqual(result, { ...failure(5, 'why'), options: [ECHOED] })
  })

  test('says that a reply has cluster data when a rule has put it there', async () => {
    const rule: ResponseRule = {
      answer: async (_, reply) => {
        await Promise.resolve()
        reply.isOfSnapshot = true
      },
    }
    const answer = [recordOf('a.org. 5 IN A 192.0.2.1')]
    const result = await reverted({ ...EMPTY_REPLY, origin: 'upstream', answer }, rule)
    assert.ok(result.kind === 'reply' && result.origin === 'snapshot')
  })

  test('answers at once when no rule takes time', async () => {
    const answer = [recordOf('a.org. 5 IN A 192.0.2.1')]
    const rules = [ownerRule(remapping('a.org.', 'b.org.'))]
    const outcome = { ...EMPTY_REPLY, answer }
    const result = revert(outcome, { request: await request(), hasEdns: true, rules, echoed: [] })
    assert.ok(!(result instanceof Promise) && result.kind === 'reply')
    assert.deepEqual(result.answer.map(formatRecord), ['b.org. 5 IN A 192.0.2.1'])
    assert.deepEqual(answer.map(formatRecord), ['a.org. 5 IN A 192.0.2.1'], 'a copy was changed')
  })

  describe('of a transfer', () => {
    const records = ['b. 5 IN NS x.b.', 'x.b. 5 IN A 192.0.2.1'].map(recordOf)

    test('changes records as they come', async () => {
      const rule = ownerRule(remapping('b.', 'a.'))
      const result = await reverted({ kind: 'transfer', records }, rule)
      assert.ok(result.kind === 'transfer')
      assert.deepEqual([...result.records].map(formatRecord), [
        'a. 5 IN NS x.b.',
        'x.a. 5 IN A 192.0.2.1',
      ])
    })

    test('ends at what is no name', async () => {
      const result = await reverted(
        { kind: 'transfer', records },
        ownerRule(() => '..'),
      )
      assert.ok(result.kind === 'transfer')
      assert.throws(() => [...result.records], /"b\." was rewritten to an invalid name/)
    })
  })
})
