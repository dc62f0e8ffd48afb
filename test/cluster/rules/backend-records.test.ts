import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type Backend,
  backendRecords,
  backendsOf,
  cnameRdata,
} from '../../../src/cluster/rules/backend-records.ts'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { formatName, parseRelativeName } from '../../../src/dns/names/name.ts'
import { formatEntries, linesOf } from '../naming.ts'

/** Reads `<host> <target> [<port>/<name>]`. */
function backend(text: string): Backend {
  const [host = '', target = '', port] = text.split(' ')
  const [number, name = ''] = port?.split('/') ?? []
  const ports = number === undefined ? [] : [{ name, protocol: 'TCP', port: Number(number) }]
  const [only] = backendsOf(host, parseRelativeName(target) ?? EMPTY, ports)
  if (only === undefined) throw new TypeError('No backend')
  return only
}

const place = { owner: parseRelativeName('x') ?? EMPTY, namespace: 'shop', ttlSeconds: 7 }

describe('backendRecords', () => {
  const cases: { name: string; backends: string[]; lines: string }[] = [
    { name: 'returns nothing for no backends', backends: [], lines: '' },
    {
      name: 'makes a set of each family',
      backends: ['192.0.2.1 a', '2001:db8::1 a', '192.0.2.2 b'],
      lines: `
        x 7 A 192.0.2.1
        x 7 A 192.0.2.2
        x 7 AAAA 2001:db8::1`,
    },
    {
      name: 'has each address once, whatever ports it has',
      backends: ['192.0.2.1 a 80/http', '192.0.2.1 a 443/https'],
      lines: `
        x 7 A 192.0.2.1
        x 7 SRV 0 50 80 a
        x 7 SRV 0 50 443 a`,
    },
    {
      name: 'has each target and port once, and counts all for the weight',
      backends: [
        '192.0.2.1 a 80/http',
        '192.0.2.2 a 80/http',
        '192.0.2.3 b 80/http',
        '192.0.2.4 c 80/http',
        '192.0.2.5 d 80/http',
        '2001:db8::1 d 80/http',
      ],
      lines: `
        x 7 A 192.0.2.1
        x 7 A 192.0.2.2
        x 7 A 192.0.2.3
        x 7 A 192.0.2.4
        x 7 A 192.0.2.5
        x 7 AAAA 2001:db8::1
        x 7 SRV 0 16 80 a
        x 7 SRV 0 16 80 b
        x 7 SRV 0 16 80 c
        x 7 SRV 0 16 80 d`,
    },
    {
      name: 'has one SRV record for two names of one port',
      backends: ['192.0.2.1 a 53/dns', '192.0.2.1 a 53/dns-tcp'],
      lines: `
        x 7 A 192.0.2.1
        x 7 SRV 0 50 53 a`,
    },
    {
      name: 'has SRV records for ports without a name',
      backends: ['192.0.2.1 a 80/'],
      lines: `
        x 7 A 192.0.2.1
        x 7 SRV 0 100 80 a`,
    },
    {
      name: 'has no SRV record for a backend without a port, which counts for the weight',
      backends: ['192.0.2.1 a', '192.0.2.2 b 80/http'],
      lines: `
        x 7 A 192.0.2.1
        x 7 A 192.0.2.2
        x 7 SRV 0 50 80 b`,
    },
    {
      name: 'is a CNAME of a hostname, without SRV',
      backends: ['db.example.org a 80/http'],
      lines: 'x 7 CNAME db.example.org.',
    },
    {
      name: 'leaves out what is neither an address nor a name',
      backends: ['a..b a 80/http', '192.0.2.1 b 80/http'],
      lines: `
        x 7 A 192.0.2.1
        x 7 SRV 0 100 80 b`,
    },
  ]
  for (const { name, backends, lines } of cases) {
    test(name, () => {
      assert.deepEqual(formatEntries(backendRecords(place, backends.map(backend))), linesOf(lines))
    })
  }

  test('keeps backends in their order', () => {
    const sets = backendRecords(place, ['192.0.2.9 b 2/x', '192.0.2.1 a 1/x'].map(backend))
    const targets = sets.flatMap(({ rdata }) => rdata.map(({ bytes }) => bytes.at(-1)))
    assert.deepEqual(targets, [9, 1, 2, 1])
  })

  test('passes the namespace on', () => {
    const sets = backendRecords(place, [backend('192.0.2.1 a 80/http')])
    assert.deepEqual(new Set(sets.map(({ namespace }) => namespace)), new Set(['shop']))
  })

  test('splits 100 over the backends, at least 1 for each', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (count) => {
        const backends = Array.from({ length: count }, (_, i) =>
          backend(`198.51.100.${i % 256} n${i} 80/http`),
        )
        const services = formatEntries(backendRecords(place, backends)).filter((line) =>
          line.includes('SRV'),
        )
        const weights = services.map((line) => Number(line.split(' ')[4]))
        assert.equal(services.length, count)
        const [weight = 0] = weights
        assert.deepEqual(new Set(weights), new Set([weight]))
        assert.ok(weight === 1 || (weight * count <= 100 && (weight + 1) * count > 100))
        assert.ok(weight >= 1)
      }),
      { numRuns: 30 },
    )
  })
})

describe('cnameRdata', () => {
  const cases: { name: string; host: string; target: string | undefined }[] = [
    { name: 'takes a hostname', host: 'www.example.org', target: 'www.example.org.' },
    {
      name: 'takes labels that begin with an underscore',
      host: '_a.example',
      target: '_a.example.',
    },
    { name: 'refuses an IPv4 address', host: '192.0.2.1', target: undefined },
    { name: 'refuses an IPv6 address', host: '2001:db8::1', target: undefined },
    { name: 'refuses what is not a name', host: 'a..b', target: undefined },
  ]
  for (const { name, host, target } of cases) {
    test(name, () => {
      const rdata = cnameRdata(host)
      assert.equal(rdata && formatName(rdata.bytes), target)
    })
  }

  test('names no target below the zone', () => {
    assert.equal(cnameRdata('www.example.org')?.target, undefined)
  })
})
