import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  notifyPeers,
  ZoneMap,
  zoneHooks,
} from '../../../../src/resolver/plugins/file/serve-zone.ts'
import type { ZoneData } from '../../../../src/resolver/plugins/file/zone-data.ts'
import { zoneOf } from './zones.ts'

const zones = new ZoneMap<{ zone: ZoneData | undefined }>()
zones.set(nameOf('example.org'), { zone: zoneOf(['*.wild A 192.0.2.1']) })
zones.set(nameOf('example.net'), { zone: undefined })
const hooks = zoneHooks(zones)
const client = { address: '192.0.2.1', port: 1, transport: 'udp' } as const

describe('what is known of a query', () => {
  const cases: { label: string; name: string; is: string | undefined }[] = [
    { label: 'zone/wildcard', name: 'x.wild.example.org', is: '*.wild.example.org.' },
    { label: 'zone/wildcard', name: 'wild.example.org', is: undefined },
    { label: 'zone/wildcard', name: 'x.example.net', is: undefined },
    { label: 'zone/wildcard', name: 'x.example.com', is: undefined },
    { label: 'zone/other', name: 'x.wild.example.org', is: undefined },
  ]
  for (const { label, name, is } of cases) {
    test(`${label} of ${name} is ${is ?? 'nothing'}`, () => {
      const query = parseQuery(writeQuery({ name: nameOf(name), type: TYPE.A }))
      assert.ok(query.kind === 'query')
      assert.equal(hooks.metadata(label, { query, client }), is)
    })
  }
})

describe('a transfer', () => {
  test('is that of an existing zone, by its own name', () => {
    const counts = ['example.org', 'wild.example.org', 'example.net'].map((name) => {
      const records = hooks.transfer(nameOf(name), undefined)
      return records === undefined || records instanceof Promise ? 0 : [...records].length
    })
    assert.deepEqual(counts, [4, 0, 0])
  })
})

test('notifyPeers calls all plugins with that hook', () => {
  const notified: Uint8Array[] = []
  const peer = { name: 'a', zoneChanged: (zone: Uint8Array) => notified.push(zone) }
  notifyPeers([peer, { name: 'b' }, peer], nameOf('example.org'))
  assert.deepEqual(notified, [nameOf('example.org'), nameOf('example.org')])
})
