import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { finish } from '../../../../src/dns/bytes/steps.ts'
import { formatName } from '../../../../src/dns/names/name.ts'
import { readCatalog } from '../../../../src/resolver/plugins/secondary/catalog-zones.ts'
import { zoneOf } from '../file/zones.ts'

const VERSION = 'version TXT "2"'

function read(...lines: string[]): string {
  const catalog = finish(readCatalog(zoneOf(lines)))
  if (catalog.kind === 'wrong') return catalog.reason
  return catalog.members
    .map(({ id, zone, nextCatalog }) => {
      return `${id} ${formatName(zone)}${nextCatalog ? ` → ${formatName(nextCatalog)}` : ''}`
    })
    .join(', ')
}

describe('a catalog', () => {
  const cases: { name: string; lines: string[]; is: string }[] = [
    { name: 'may list nothing', lines: [VERSION], is: '' },
    {
      name: 'lists zones by labels of their own',
      lines: [VERSION, 'a.zones PTR Example.com.', 'B.zones PTR example.net.'],
      is: 'a example.com., b example.net.',
    },
    {
      name: 'says where a zone is to go over to',
      lines: [VERSION, 'a.zones PTR example.com.', 'coo.a.zones PTR Other.test.'],
      is: 'a example.com. → other.test.',
    },
    {
      name: 'may say more, which means nothing here',
      lines: [
        VERSION,
        'a.zones PTR a.test.',
        'group.a.zones TXT "x"',
        'x.y.z.zones PTR b.test.',
        'ext A 192.0.2.1',
      ],
      is: 'a a.test.',
    },
    { name: 'needs a version', lines: [], is: 'needs one TXT record at "version"' },
    {
      name: 'needs one version',
      lines: [VERSION, 'version TXT "1"'],
      is: 'needs one TXT record at "version"',
    },
    { name: 'needs version 2', lines: ['version TXT "1"'], is: 'has a version other than 2' },
    {
      name: 'lists one zone by one label',
      lines: [VERSION, 'a.zones PTR a.test.', 'a.zones PTR b.test.'],
      is: 'has two PTR records at "a.zones.example.org."',
    },
    {
      name: 'lists a zone once',
      lines: [VERSION, 'a.zones PTR a.test.', 'b.zones PTR A.test.'],
      is: 'lists "a.test." twice',
    },
    {
      name: 'hands a zone over to one other',
      lines: [VERSION, 'a.zones PTR a.test.', 'coo.a.zones PTR b.', 'coo.a.zones PTR c.'],
      is: 'has two PTR records at "coo.a.zones.example.org."',
    },
    {
      name: 'has no other classes',
      lines: [VERSION, 'x CH TXT "x"'],
      is: 'has records of a class other than IN',
    },
  ]
  for (const { name, lines, is } of cases) {
    test(name, () => {
      assert.equal(read(...lines), is)
    })
  }

  test('needs name servers', () => {
    const zone = { ...zoneOf([VERSION]), nameservers: [] }
    assert.deepEqual(finish(readCatalog(zone)), { kind: 'wrong', reason: 'has no NS record' })
  })
})
