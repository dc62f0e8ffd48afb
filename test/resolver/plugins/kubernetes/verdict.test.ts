import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseResponse } from '../../../../src/dns/wire/message.ts'
import { ReplyWriter } from '../../../../src/dns/wire/reply-writer.ts'
import { VERDICT } from '../../../../src/resolver/plugins/kubernetes/with-snapshot.ts'
import { ZoneAnswer } from '../../../../src/resolver/plugins/kubernetes/zone-answer.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { aliases } from './objects.ts'
import { queryOf, viewOf } from './view.ts'

const OBJECTS = aliases({ out: 'www.example.org' })

describe('VERDICT', () => {
  const cases: {
    name: keyof typeof VERDICT
    ask: string
    presence: NonNullable<FakeClusterOptions['presence']>
    records: number
  }[] = [
    { name: 'DATA', ask: 'web.shop.svc.cluster.local A', presence: 'here', records: 1 },
    { name: 'NODATA', ask: 'web.shop.svc.cluster.local AAAA', presence: 'here', records: 0 },
    { name: 'NXDOMAIN', ask: 'nosuch.shop.svc.cluster.local A', presence: 'here', records: 0 },
    { name: 'FOLLOW', ask: 'out.shop.svc.cluster.local A', presence: 'here', records: 0 },
    {
      name: 'UNLOADED',
      ask: 'web.shop.svc.cluster.local A',
      presence: 'shards-later',
      records: 0,
    },
  ]
  for (const { name, ask, presence, records } of cases) {
    test(`${name} leaves ${records} records written`, () => {
      const query = queryOf(ask)
      const cluster = { objects: OBJECTS, shardCount: 8, presence }
      const { zone, snapshot, home } = viewOf(query, 'kubernetes cluster.local', cluster)
      const writer = new ReplyWriter()
      const answer = new ZoneAnswer(writer)
      writer.begin(query, { bytesMax: 512 })
      assert.equal(answer.answer(query, zone, snapshot, home), VERDICT[name])
      const reply = parseResponse(writer.bytes.slice(0, writer.finish(0, 0)))
      assert.equal(reply?.answer.length, records)
      assert.equal(reply?.authority.length, 0)
    })
  }

  test('UNLOADED names the shard that is needed', () => {
    const query = queryOf('web.shop.svc.cluster.local A')
    const cluster: FakeClusterOptions = {
      objects: OBJECTS,
      shardCount: 8,
      presence: 'shards-later',
    }
    const { zone, snapshot, home } = viewOf(query, 'kubernetes cluster.local', cluster)
    const writer = new ReplyWriter()
    const answer = new ZoneAnswer(writer)
    writer.begin(query, { bytesMax: 512 })
    answer.answer(query, zone, snapshot, home)
    const size = query.nameBytes - zone.origin.bytes.length
    assert.equal(answer.missingShard, snapshot.shardOfName(query.name, size))
  })
})
