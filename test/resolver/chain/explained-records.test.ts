import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../src/dns/names/name.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { parseQuery, Query } from '../../../src/dns/wire/query.ts'
import { explainRecords } from '../../../src/resolver/chain/explained-records.ts'
import type { Fact, NodeFact } from '../../../src/resolver/contract/fact.ts'
import { parseQuestion, writeReplyText } from '../../message-text.ts'

const CLIENT = { address: '192.0.2.1', port: 1, transport: 'udp' } as const

function factOf(name: string, node: Partial<NodeFact> | null): Fact {
  const own = { namespace: 'shop', object: null, rule: 'service', types: [], isImplied: false }
  return {
    plugin: 'kubernetes',
    name,
    zone: 'a.test.',
    tree: 'cluster',
    freshness: 'fresh',
    generation: 7,
    time: null,
    node: node && { ...own, ...node },
  }
}

async function explained(
  question: string,
  lines: readonly string[],
  facts: readonly Fact[],
): Promise<{ objects: (string | null)[]; asked: string[] }> {
  const { message } = parseQuestion(question)
  const query = parseQuery(message, new Query())
  const response = parseResponse(writeReplyText(lines, message))
  assert.ok(query.kind === 'query' && response !== undefined)
  const asked: string[] = []
  const plugin = {
    name: 'kubernetes',
    explain: ({ name }: Query): readonly Fact[] => {
      asked.push(formatName(name))
      return [factOf(formatName(name), { object: `Service of ${formatName(name)}` })]
    },
  }
  const given = { response, facts, explainers: [plugin], client: CLIENT, answeredBy: 'forward' }
  const records = await explainRecords(query, given)
  return { objects: records.map(({ object }) => object), asked }
}

describe('explainRecords', () => {
  test('takes the object of the query name from the facts, and looks other names up once', async () => {
    const lines = [
      'NOERROR',
      'web.a.test. 5 IN SRV 0 50 80 x.a.test.',
      'web.a.test. 5 IN SRV 0 50 81 x.a.test.',
      'additional: x.a.test. 5 IN A 192.0.2.1',
      'additional: x.a.test. 5 IN A 192.0.2.2',
    ]
    const facts = [factOf('web.a.test.', { object: 'Service shop/web' })]
    assert.deepEqual(await explained('web.a.test SRV', lines, facts), {
      objects: [
        'Service shop/web',
        'Service shop/web',
        'Service of x.a.test.',
        'Service of x.a.test.',
      ],
      asked: ['x.a.test.'],
    })
  })

  test('takes the fact of a rewritten name for the query name', async () => {
    const facts = [factOf('web.a.test.', { object: 'Service shop/web' })]
    const lines = ['NOERROR', 'old.test. 5 IN A 192.0.2.1']
    const { objects, asked } = await explained('old.test A', lines, facts)
    assert.deepEqual([objects, asked], [['Service shop/web'], []])
  })

  test('names the object of each target of a reverse name', async () => {
    const targets = [
      { name: 'a.test.', object: 'Service shop/a' },
      { name: 'b.test.', object: 'Service shop/b' },
    ]
    const name = '1.2.0.192.in-addr.arpa.'
    const lines = ['NOERROR', `${name} 5 IN PTR b.test.`, `${name} 5 IN PTR a.test.`]
    const { objects } = await explained(`${name} PTR`, lines, [factOf(name, { targets })])
    assert.deepEqual(objects, ['Service shop/b', 'Service shop/a'])
  })

  test('looks up 64 names at most', async () => {
    const records = Array.from({ length: 70 }, (_, i) => `additional: n${i}.test. 5 IN A 192.0.2.1`)
    const { objects, asked } = await explained('web.a.test A', ['NOERROR', ...records], [])
    assert.equal(asked.length, 64)
    assert.equal(objects.filter((object) => object === null).length, 6)
  })
})
