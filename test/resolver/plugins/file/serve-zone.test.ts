import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { wildcardOf } from '../../../../src/resolver/plugins/file/serve-zone.ts'
import { directive } from '../../../ask.ts'
import { expectedFor, NEXT, nextUpstream } from '../../../next-upstream.ts'
import { SOA, serveZoneText, zoneOf } from './zones.ts'

const LINES = ['www A 192.0.2.1', 'a.ent A 192.0.2.1']
const FORWARD = 'forward . 192.0.2.53'

describe('what a zone does not have', () => {
  const through = directive('file db example.org', 'fallthrough')
  const cases: {
    name: string
    head?: string
    more?: string[]
    ask: string
    replies: readonly string[]
  }[] = [
    { name: 'does not exist', ask: 'nosuch.example.org A', replies: ['NXDOMAIN aa rd', SOA] },
    {
      name: 'continues with fallthrough',
      head: through,
      ask: 'nosuch.example.org A',
      replies: NEXT,
    },
    {
      name: 'continues with fallthrough where only names below it exist',
      head: through,
      ask: 'ent.example.org A',
      replies: NEXT,
    },
    {
      name: 'continues with fallthrough at an apex of SOA and NS records',
      head: through,
      ask: 'example.org A',
      replies: NEXT,
    },
    {
      name: 'ends here when the name has other records',
      head: through,
      ask: 'www.example.org TXT',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'continues within the zones of fallthrough',
      head: directive('file db example.org', 'fallthrough a.org ent.example.org'),
      ask: 'ent.example.org A',
      replies: NEXT,
    },
    {
      name: 'ends here outside of them',
      head: directive('file db example.org', 'fallthrough ent.example.org'),
      ask: 'nosuch.example.org A',
      replies: ['NXDOMAIN aa rd', SOA],
    },
    { name: 'continues outside of the zone', ask: 'www.example.net A', replies: NEXT },
    {
      name: 'is refused outside of the zone when no plugin comes after',
      more: [],
      ask: 'www.example.net A',
      replies: ['REFUSED rd'],
    },
  ]
  for (const { name, head = 'file db example.org', more = [FORWARD], ask, replies } of cases) {
    test(name, async () => {
      const server = serveZoneText(LINES, { head, more, upstream: nextUpstream })
      assert.deepEqual(await server.ask(ask), expectedFor(ask, replies))
    })
  }
})

describe('a zone that could not be read', () => {
  test('has no answers', async () => {
    const server = serveZoneText([], { head: 'file none example.org' })
    assert.deepEqual(await server.ask('www.example.org A'), ['SERVFAIL rd'])
    assert.deepEqual(await server.ask('example.org AXFR +tcp'), ['REFUSED rd'])
  })
})

describe('wildcardOf', () => {
  const zone = zoneOf(['*.wild A 192.0.2.1', 'www A 192.0.2.1'])
  const cases: { name: string; is: string | undefined }[] = [
    { name: 'x.wild.example.org', is: '*.wild.example.org.' },
    { name: '*.wild.example.org', is: undefined },
    { name: 'www.example.org', is: undefined },
    { name: 'nosuch.example.org', is: undefined },
  ]
  for (const { name, is } of cases) {
    test(`${name} is made from ${is ?? 'none'}`, () => {
      assert.equal(wildcardOf(zone, { lowerName: nameOf(name), type: TYPE.A }), is)
    })
  }
})
