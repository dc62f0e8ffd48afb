import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { countEntries, MARKER, mergeHosts } from '../../../src/operators/node-local/hosts-file.ts'

const DOMAIN = 'cluster.local'
const OURS = `192.0.2.1 a.b.svc a.b.svc.${DOMAIN} ${MARKER}\n`
const OTHER = `192.0.2.2 a.b.svc a.b.svc.${DOMAIN} ${MARKER}\n`

describe('mergeHosts', () => {
  const cases: readonly {
    readonly name: string
    readonly text: string
    readonly services: Readonly<Record<string, readonly string[] | undefined>>
    readonly expected: string
  }[] = [
    { name: 'an empty file', text: '', services: { 'a.b.svc': ['192.0.2.1'] }, expected: OURS },
    {
      name: 'no Service',
      text: '127.0.0.1 localhost',
      services: {},
      expected: '127.0.0.1 localhost',
    },
    {
      name: 'a last line without an end',
      text: '127.0.0.1 localhost',
      services: { 'a.b.svc': ['192.0.2.1'] },
      expected: `127.0.0.1 localhost\n${OURS}`,
    },
    {
      name: 'a changed address',
      text: `\r\n # x\r\n${OURS}\t::1 me\n`,
      services: { 'a.b.svc': ['192.0.2.2'] },
      expected: `\r\n # x\r\n\t::1 me\n${OTHER}`,
    },
    {
      name: 'several addresses',
      text: OURS,
      services: { 'a.b.svc': ['192.0.2.1', '192.0.2.2'] },
      expected: OURS + OTHER,
    },
    {
      name: 'a Service that is gone',
      text: `x\n${OURS}`,
      services: { 'a.b.svc': [] },
      expected: 'x\n',
    },
    { name: 'an outage', text: OURS, services: { 'a.b.svc': undefined }, expected: OURS },
    {
      name: 'an outage, and a last line without an end',
      text: OURS.trimEnd(),
      services: { 'a.b.svc': undefined },
      expected: OURS,
    },
    { name: 'a Service that is not configured any more', text: OURS, services: {}, expected: '' },
    {
      name: 'an outage of another Service',
      text: OURS,
      services: { 'c.d.svc': undefined, 'a.b.svc': ['192.0.2.2'] },
      expected: OTHER,
    },
    {
      name: 'the name of a Service in a foreign line',
      text: '192.0.2.9 a.b.svc # mine\n',
      services: { 'a.b.svc': [] },
      expected: '192.0.2.9 a.b.svc # mine\n',
    },
  ]
  for (const { name, text, services, expected } of cases) {
    test(`merges ${name}`, () => {
      assert.equal(mergeHosts(text, new Map(Object.entries(services)), DOMAIN), expected)
    })
  }

  test('keeps foreign lines byte for byte, and changes nothing when applied again', () => {
    const bytes = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((n) => String.fromCharCode(n)),
    })
    const line = fc.oneof(
      bytes,
      fc.constantFrom(OURS, OTHER.trimEnd(), '\n', '\r\n', `# ${MARKER}x`),
    )
    const addresses = fc.option(fc.uniqueArray(fc.constantFrom('192.0.2.1', '2001:db8::1')), {
      nil: undefined,
    })
    const services = fc.dictionary(fc.constantFrom('a.b.svc', 'c.d.svc'), addresses)
    fc.assert(
      fc.property(
        fc.array(line).map((lines) => lines.join('')),
        services,
        (text, given) => {
          const wanted = new Map(Object.entries(given))
          const merged = mergeHosts(text, wanted, DOMAIN)
          const foreign = text
            .split(/(?<=\n)/)
            .filter((one) => countEntries(one) === 0)
            .join('')
          assert.ok(merged.startsWith(foreign))
          const rest = merged.slice(foreign.length)
          assert.ok(
            rest.split(/(?<=\n)/).every((one) => countEntries(one) === 1 || one.trim() === ''),
          )
          assert.equal(mergeHosts(merged, wanted, DOMAIN), merged)
        },
      ),
    )
  })
})

test('countEntries counts our lines only', () => {
  assert.equal(countEntries(`127.0.0.1 localhost\n${OURS}${OTHER}# ${MARKER} not\n`), 2)
})
