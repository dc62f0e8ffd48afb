import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { readZoneFile, zoneFileSteps } from '../../../src/snapshot/records/zone-file.ts'
import { ZoneFileError } from '../../../src/snapshot/records/zone-scanner.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'

/** Reads `zones/db` below example.org and formats its records; an error ends them. */
function read(text: string, files: Readonly<Record<string, string>> = {}): string[] {
  const found: string[] = []
  try {
    const zone = { file: 'zones/db', text, origin: nameOf('example.org') }
    const steps = zoneFileSteps(zone)
    for (let next = steps.next(); next.done !== true; ) {
      const { value } = next
      if ('include' in value) next = steps.next(files[value.include])
      else {
        found.push(formatRecord(value))
        next = steps.next()
      }
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    found.push(error.message)
  }
  return found
}

const A = 'IN A 192.0.2.1'

describe('a zone file', () => {
  const cases: {
    name: string
    text: string[]
    files?: Readonly<Record<string, string>>
    is: string[]
  }[] = [
    { name: 'may be empty', text: ['; nothing'], is: [] },
    {
      name: 'has a TTL for records that name none',
      text: [
        '$TTL 1h',
        'a A 192.0.2.1',
        'b 5 A 192.0.2.1',
        'c A 192.0.2.1',
        '$ttl 2',
        'd A 192.0.2.1',
      ],
      is: [
        `a.example.org. 3600 ${A}`,
        `b.example.org. 5 ${A}`,
        `c.example.org. 3600 ${A}`,
        `d.example.org. 2 ${A}`,
      ],
    },
    {
      name: 'has origins, each below the one before unless it is absolute',
      text: [
        '$ORIGIN sub',
        '@ 1 A 192.0.2.1',
        'a A 192.0.2.1',
        '$ORIGIN example.net.',
        'b CNAME c',
      ],
      is: [
        `sub.example.org. 1 ${A}`,
        `a.sub.example.org. 1 ${A}`,
        'b.example.net. 1 IN CNAME c.example.net.',
      ],
    },
    {
      name: 'includes files beside it, without lasting effect',
      text: ['$TTL 1', 'a A 192.0.2.1', '$INCLUDE more.db', ' AAAA ::1', 'b A 192.0.2.1'],
      files: { 'zones/more.db': '$TTL 2\n$ORIGIN x\nc A 192.0.2.1' },
      is: [
        `a.example.org. 1 ${A}`,
        `c.x.example.org. 2 ${A}`,
        'a.example.org. 1 IN AAAA ::1',
        `b.example.org. 1 ${A}`,
      ],
    },
    {
      name: 'includes files below another origin, and by absolute paths',
      text: ['$TTL 1', '$INCLUDE "/etc/more db" sub'],
      files: {
        '/etc/more db': 'a A 192.0.2.1\n A 192.0.2.1\n$INCLUDE other',
        '/etc/other': ' A 192.0.2.1',
      },
      is: [`a.sub.example.org. 1 ${A}`, `a.sub.example.org. 1 ${A}`, `sub.example.org. 1 ${A}`],
    },
    {
      name: 'says in which included file something is wrong',
      text: ['$INCLUDE more.db'],
      files: { 'zones/more.db': '\n x' },
      is: ['zones/more.db:2:2: "x" is no type, no class and no TTL of a record'],
    },
    {
      name: 'refuses a missing file',
      text: ['$TTL 1', '$INCLUDE more.db'],
      is: ['zones/db:2:10: cannot read "zones/more.db"'],
    },
    {
      name: 'refuses a file that includes itself',
      text: ['$INCLUDE db'],
      files: { 'zones/db': '$INCLUDE db' },
      is: ['zones/db:1:10: too many files are included, at most 7 deep and 1000 in all may be'],
    },
    {
      name: 'refuses more than a thousand files',
      text: ['$TTL 1', ...Array.from({ length: 1001 }, () => '$INCLUDE none.db')],
      files: { 'zones/none.db': '' },
      is: ['zones/db:1002:10: too many files are included, at most 7 deep and 1000 in all may be'],
    },
    {
      name: 'generates records, with a TTL of an hour when they name none',
      text: ['$TTL 1', '$GENERATE 1-3/2 h$ A 192.0.2.$', '$GENERATE 7-7 $ 5 TXT "a b $"'],
      is: [
        'h1.example.org. 3600 IN A 192.0.2.1',
        'h3.example.org. 3600 IN A 192.0.2.3',
        '7.example.org. 5 IN TXT "a b 7"',
      ],
    },
    {
      name: 'refuses an invalid range',
      text: ['$GENERATE 3-1 h$ A 192.0.2.$'],
      is: ['zones/db:1:11: "3-1" is not a range such as 1-10 or 0-64/2'],
    },
    {
      name: 'refuses to generate what is no record',
      text: ['$GENERATE 255-257 h A 192.0.2.$'],
      is: [
        'h.example.org. 3600 IN A 192.0.2.255',
        'zones/db:1:1: the address of a A record is "192.0.2.256", expected an IPv4 address',
      ],
    },
    {
      name: 'refuses to generate from an invalid number',
      text: ['', '$GENERATE 1-2 h\u0024{x} A 192.0.2.1'],
      is: ['zones/db:2:11: $GENERATE makes no record of "h\u0024{x} A 192.0.2.1" and 1'],
    },
    {
      name: 'refuses to generate from nothing',
      text: ['$GENERATE 1-2'],
      is: ['zones/db:1:11: $GENERATE makes no record of "" and 1'],
    },
    { name: 'refuses $TTL alone', text: ['$TTL'], is: ['zones/db:1:1: "$TTL" needs an argument'] },
    {
      name: 'refuses an invalid TTL',
      text: ['$TTL x'],
      is: ['zones/db:1:6: "x" is not a TTL from 0 to 2147483647'],
    },
    {
      name: 'refuses a word after a directive',
      text: ['$ORIGIN a. b.'],
      is: ['zones/db:1:12: "$ORIGIN" takes no "b."'],
    },
    {
      name: 'refuses an origin that is not a name',
      text: ['$ORIGIN a..b'],
      is: ['zones/db:1:9: "a..b" is not a domain name'],
    },
    {
      name: 'takes a directive for an owner when it is escaped',
      text: ['\\$TTL 1 A 192.0.2.1'],
      is: [`$TTL.example.org. 1 ${A}`],
    },
  ]
  for (const { name, text, files, is } of cases) {
    test(name, () => {
      assert.deepEqual(read(text.join('\n'), files), is)
    })
  }

  test('refuses strings beyond what rdata holds', () => {
    const [problem = ''] = read(`$TTL 1\na TXT ${'a '.repeat(1_000_000)}`)
    assert.match(problem, /^zones\/db:2:7: a TXT record cannot have "a a a/)
  })

  test('refuses more characters than $GENERATE may make', () => {
    const template = `h$ TXT ${`"${'a'.repeat(255)}" `.repeat(200)}`
    const lines = readZoneFile({
      file: 'zones/db',
      text: `$TTL 1\n$GENERATE 1-65536 ${template}`,
      origin: nameOf('example.org'),
    })
    assert.throws(() => Array.from(lines).length, {
      message: 'zones/db:2:11: $GENERATE makes over 33554432 characters in all',
    })
  })

  test('has records, or is refused with a place, whatever the text', () => {
    const word = fc.constantFrom(
      ...[
        '$TTL',
        '$ORIGIN',
        '$GENERATE',
        '$INCLUDE',
        '1-3',
        'a',
        '@',
        '1h',
        'IN',
        'A',
        'TXT',
        'MX',
      ],
      ...['192.0.2.1', '"x y"', '(', ')', ';', '\n', '\n', '\\#', '4', 'c0000201', '$', '\\'],
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (words) => {
        const files = { 'zones/a': words.join(' ') }
        assert.ok(read(words.join(' '), files).every((line) => line.length > 0))
      }),
      { numRuns: 1000 },
    )
  })
})
