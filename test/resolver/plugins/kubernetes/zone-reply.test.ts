import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { RCODE } from '../../../../src/dns/names/rcode.ts'
import { negativeReply, zoneReply } from '../../../../src/resolver/plugins/kubernetes/zone-reply.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { aliases, soa } from './objects.ts'
import { queryOf, viewOf } from './view.ts'

const OBJECTS = aliases({ out: 'www.example.org' })
const LINE = 'kubernetes cluster.local'

describe('zoneReply', () => {
  const cases: {
    name: string
    ask: string
    presence?: NonNullable<FakeClusterOptions['presence']>
    ignoresAliases?: boolean
    kind: string
    loads?: number
  }[] = [
    { name: 'finds data', ask: 'web.shop.svc.cluster.local A', kind: 'found NOERROR 1' },
    { name: 'finds no data', ask: 'web.shop.svc.cluster.local TXT', kind: 'found NOERROR 0' },
    { name: 'finds no name', ask: 'x.shop.svc.cluster.local A', kind: 'absent' },
    { name: 'finds the SOA record', ask: 'cluster.local SOA', kind: 'found NOERROR 1' },
    { name: 'leaves a CNAME', ask: 'out.shop.svc.cluster.local A', kind: 'cname' },
    {
      name: 'finds no data at a CNAME on request to ignore it',
      ask: 'out.shop.svc.cluster.local A',
      ignoresAliases: true,
      kind: 'found NOERROR 0',
    },
    {
      name: 'finds the CNAME itself',
      ask: 'out.shop.svc.cluster.local CNAME',
      kind: 'found NOERROR 1',
    },
    {
      name: 'loads the shard that it needs',
      ask: 'web.shop.svc.cluster.local A',
      presence: 'shards-later',
      kind: 'found NOERROR 1',
      loads: 1,
    },
    {
      name: 'needs no shard for the SOA record',
      ask: 'cluster.local SOA',
      presence: 'shards-never',
      kind: 'found NOERROR 1',
    },
    {
      name: 'gives up when a shard is unavailable',
      ask: 'web.shop.svc.cluster.local A',
      presence: 'shards-never',
      kind: 'unavailable',
      loads: 1,
    },
    {
      name: 'gives up when loading gets it no further',
      ask: 'web.shop.svc.cluster.local A',
      presence: 'shards-lost',
      kind: 'unavailable',
      loads: 8,
    },
  ]
  for (const { name, ask, presence = 'here', ignoresAliases = false, kind, loads = 0 } of cases) {
    test(name, async () => {
      const query = queryOf(ask)
      const loaded: (number | undefined)[] = []
      const view = viewOf(query, LINE, { objects: OBJECTS, shardCount: 8, presence }, loaded)
      const result = await zoneReply(query, view, ignoresAliases)
      const found =
        result.kind === 'found'
          ? `found ${result.reply.rcode === RCODE.NOERROR ? 'NOERROR' : ''} ${result.reply.answer.length}`
          : result.kind
      assert.equal(found, kind)
      assert.equal(loaded.length, loads)
    })
  }

  test('answers at once when nothing has to be loaded', () => {
    const query = queryOf('web.shop.svc.cluster.local A')
    const result = zoneReply(query, viewOf(query, LINE, { objects: OBJECTS }), false)
    assert.ok(!(result instanceof Promise))
  })

  test('says that a reply comes from a snapshot', async () => {
    const query = queryOf('web.shop.svc.cluster.local A +do')
    const result = await zoneReply(query, viewOf(query, LINE, { objects: OBJECTS }), false)
    assert.equal(result.kind, 'found')
    if (result.kind !== 'found') return
    assert.equal(result.reply.origin, 'snapshot')
    assert.equal(result.reply.authoritative, true)
    assert.deepEqual(result.reply.options, [])
  })
})

describe('negativeReply', () => {
  test('has the code that it is given and the SOA record of the zone', () => {
    const query = queryOf('x.shop.svc.cluster.local A')
    const view = viewOf(query, LINE, { objects: OBJECTS })
    const reply = negativeReply(query, view, RCODE.NXDOMAIN)
    assert.equal(reply.rcode, RCODE.NXDOMAIN)
    assert.equal(reply.origin, 'snapshot')
    assert.deepEqual(reply.answer, [])
    assert.deepEqual(
      reply.authority.map((record) => `authority: ${formatRecord(record)}`),
      [soa()],
    )
  })

  test('has the SOA record as the answer to an SOA query', () => {
    const query = queryOf('cluster.local SOA')
    const reply = negativeReply(query, viewOf(query, LINE, { objects: OBJECTS }), RCODE.NOERROR)
    assert.equal(reply.answer.length, 1)
    assert.equal(reply.authority.length, 0)
  })
})
