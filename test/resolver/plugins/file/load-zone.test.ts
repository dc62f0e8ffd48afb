import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { loadZone } from '../../../../src/resolver/plugins/file/load-zone.ts'
import { FakeHost } from '../../../fake-host.ts'
import { APEX } from './zones.ts'

async function load(
  files: Readonly<Record<string, string>>,
  knownSerial?: number,
): Promise<string> {
  const source = { file: 'zones/db', origin: nameOf('example.org') }
  const { elapsed, nextTurn, readFile: read } = new FakeHost({ files })
  const loaded = await loadZone(source, { elapsed, nextTurn, read, knownSerial })
  switch (loaded.kind) {
    case 'zone':
      return `zone of ${loaded.zone.nodes.size} names`
    case 'wrong':
      return loaded.reason
    default:
      return loaded.kind
  }
}

describe('a zone file', () => {
  const cases: {
    name: string
    files: Readonly<Record<string, string>>
    serial?: number
    is: string
  }[] = [
    { name: 'is read', files: { 'zones/db': `${APEX}a A 192.0.2.1` }, is: 'zone of 2 names' },
    {
      name: 'may include others',
      files: { 'zones/db': `${APEX}$INCLUDE b`, 'zones/b': 'b A 192.0.2.1' },
      is: 'zone of 2 names',
    },
    { name: 'may be missing', files: {}, is: 'missing' },
    {
      name: 'is not read beyond a serial that is known',
      files: { 'zones/db': `${APEX}this is wrong` },
      serial: 7,
      is: 'unchanged',
    },
    {
      name: 'is read with another serial',
      files: { 'zones/db': APEX },
      serial: 8,
      is: 'zone of 1 names',
    },
    {
      name: 'may have the serial 0',
      files: { 'zones/db': '@ 1 SOA . . 0 1 1 1 1' },
      is: 'zone of 1 names',
    },
    {
      name: 'is refused with the place that is wrong',
      files: { 'zones/db': `${APEX}a B c` },
      is: 'zones/db:4:3: "B" is no type, no class and no TTL of a record',
    },
    {
      name: 'is refused without an SOA record',
      files: { 'zones/db': 'a 1 A 192.0.2.1' },
      is: 'zone "example.org." has no SOA record',
    },
    {
      name: 'is refused with NSEC3 records',
      files: { 'zones/db': `${APEX}@ NSEC3PARAM \\# 5 0100000000` },
      is: 'a NSEC3PARAM record at "example.org.": zones are signed with NSEC records only',
    },
  ]
  for (const { name, files, serial, is } of cases) {
    test(name, async () => {
      assert.equal(await load(files, serial), is)
    })
  }
})
