import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { additionalAddresses, glueOf } from '../../../../src/resolver/plugins/file/sections.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { parseRecord } from '../../../parse-record.ts'
import { zoneOf } from './zones.ts'

const zone = zoneOf([
  'web A 192.0.2.1',
  'web AAAA 2001:db8::1',
  'web TXT "not an address"',
  'web RRSIG A 13 3 3600 2 1 1 @ AQPS',
  'alias CNAME web',
  'ns.sub A 192.0.2.2',
])
const A = 'web.example.org. 3600 IN A 192.0.2.1'
const AAAA = 'web.example.org. 3600 IN AAAA 2001:db8::1'
const RRSIG =
  'web.example.org. 3600 IN RRSIG A 13 3 3600 19700101000002 19700101000001 1 example.org. AQPS'

function records(lines: readonly string[]): Parameters<typeof glueOf>[1] {
  return lines.flatMap((line) => parseRecord(line, nameOf('example.org')) ?? [])
}

describe('addresses that go along', () => {
  const cases: { name: string; lines: string[]; dnssec?: boolean; is: string[] }[] = [
    { name: 'are those of SRV targets', lines: ['x SRV 1 2 3 web'], is: [A, AAAA] },
    { name: 'are those of mail servers', lines: ['x MX 1 web'], is: [A, AAAA] },
    {
      name: 'are those of service bindings',
      lines: ['x HTTPS 1 web port=1', 'x SVCB 1 web'],
      is: [A, AAAA],
    },
    { name: 'come once for each host', lines: ['x MX 1 web', 'x MX 2 WEB'], is: [A, AAAA] },
    {
      name: 'come with signatures when these are wanted',
      lines: ['x MX 1 web'],
      dnssec: true,
      is: [A, RRSIG, AAAA],
    },
    { name: 'are none of hosts outside of the zone', lines: ['x MX 1 web.example.net.'], is: [] },
    { name: 'are none of CNAMEs', lines: ['x MX 1 alias'], is: [] },
    { name: 'are none of hosts that are missing', lines: ['x MX 1 nosuch'], is: [] },
    { name: 'are none for other types', lines: ['x NS web', 'x PTR web', 'x CNAME web'], is: [] },
  ]
  for (const { name, lines, dnssec = false, is } of cases) {
    test(name, () => {
      assert.deepEqual(additionalAddresses(zone, records(lines), dnssec).map(formatRecord), is)
    })
  }
})

describe('glue', () => {
  const cases: { name: string; lines: string[]; is: string[] }[] = [
    {
      name: 'is for servers below the zone they serve',
      lines: ['sub NS ns.sub'],
      is: ['ns.sub.example.org. 3600 IN A 192.0.2.2'],
    },
    {
      name: 'is for a server that is named as the zone it serves',
      lines: ['web NS web'],
      is: [A, AAAA],
    },
    { name: 'is not for servers elsewhere', lines: ['sub NS web'], is: [] },
    { name: 'is only for NS records', lines: ['web PTR web'], is: [] },
  ]
  for (const { name, lines, is } of cases) {
    test(name, () => {
      assert.deepEqual(glueOf(zone, records(lines), false).map(formatRecord), is)
    })
  }
})
