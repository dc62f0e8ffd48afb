import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { formatType } from '../../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { type FoundService, findService } from '../../../src/operators/node-local/find-service.ts'
import { writeReplyText } from '../../message-text.ts'

const NAME = 'web.shop.svc.cluster.local.'
const SOA =
  'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 5'
const ROOT_SOA =
  'authority: . 5 IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 86400'

/** Response lines by attempt, such as `udp A`; no entry means no response. */
type Script = Readonly<Record<string, readonly string[]>>

async function find(script: Script): Promise<{ found: FoundService; asked: string[] }> {
  const asked: string[] = []
  const found = await findService(nameOf(NAME), nameOf('cluster.local'), (type, protocol) => {
    const attempt = `${protocol} ${formatType(type)}`
    asked.push(attempt)
    const lines = script[attempt]
    if (lines === undefined) return Promise.reject(new Error('timeout'))
    const query = writeQuery({ name: nameOf(NAME), type })
    return Promise.resolve(
      lines[0] === 'garbage' ? new Uint8Array(3) : writeReplyText(lines, query),
    )
  })
  return { found, asked }
}

const known = (...addresses: readonly string[]): FoundService => ({ kind: 'known', addresses })
const unknown = (reason: string): FoundService => ({ kind: 'unknown', reason })
const a = (address: string): string => `${NAME} 5 IN A ${address}`

describe('findService', () => {
  const cases: readonly {
    readonly name: string
    readonly script: Script
    readonly found: FoundService
    readonly asked: readonly string[]
  }[] = [
    {
      name: 'sorts addresses, each once',
      script: { 'udp A': ['NOERROR aa', a('192.0.2.2'), a('192.0.2.1'), a('192.0.2.2')] },
      found: known('192.0.2.1', '192.0.2.2'),
      asked: ['udp A'],
    },
    {
      name: 'takes addresses below a CNAME, not its target',
      script: {
        'udp A': [
          'NOERROR',
          `${NAME} 5 IN CNAME x.example.org.`,
          'x.example.org. 5 IN A 192.0.2.1',
        ],
      },
      found: known('192.0.2.1'),
      asked: ['udp A'],
    },
    {
      name: 'takes addresses of the query name in any letter case',
      script: { 'udp A': ['NOERROR', `${NAME.toUpperCase()} 5 IN A 192.0.2.1`] },
      found: known('192.0.2.1'),
      asked: ['udp A'],
    },
    {
      name: 'takes no addresses of other names',
      script: { 'udp A': ['NOERROR', 'evil.test. 5 IN A 192.0.2.6', a('192.0.2.1')] },
      found: known('192.0.2.1'),
      asked: ['udp A'],
    },
    {
      name: 'takes no addresses of other names alone',
      script: { 'tcp AAAA': ['NOERROR', 'evil.test. 5 IN AAAA 2001:db8::6'] },
      found: unknown("NOERROR without the cluster zone's SOA record"),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'takes no addresses of a CNAME of another name',
      script: {
        'tcp AAAA': [
          'NOERROR',
          'evil.test. 5 IN CNAME x.example.org.',
          'x.example.org. 5 IN AAAA 2001:db8::6',
        ],
      },
      found: unknown("NOERROR without the cluster zone's SOA record"),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'takes no addresses of another class',
      script: { 'tcp AAAA': ['NOERROR', `${NAME} 5 CH AAAA 2001:db8::6`] },
      found: unknown("NOERROR without the cluster zone's SOA record"),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'does not believe NXDOMAIN with the SOA record of a zone beside the name',
      script: {
        'tcp AAAA': ['NXDOMAIN', SOA.replace('authority: ', 'authority: other.')],
      },
      found: unknown("NXDOMAIN without the cluster zone's SOA record"),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'takes AAAA if there is no A',
      script: {
        'udp A': ['NOERROR aa', SOA],
        'udp AAAA': ['NOERROR aa', `${NAME} 5 IN AAAA 2001:db8::1`],
      },
      found: known('2001:db8::1'),
      asked: ['udp A', 'udp AAAA'],
    },
    {
      name: 'falls back to TCP',
      script: { 'tcp A': ['NOERROR aa', a('192.0.2.1')] },
      found: known('192.0.2.1'),
      asked: ['udp A', 'udp AAAA', 'tcp A'],
    },
    {
      name: 'repeats a truncated response over TCP at once',
      script: { 'udp A': ['NOERROR aa tc'], 'tcp A': ['NOERROR aa', a('192.0.2.1')] },
      found: known('192.0.2.1'),
      asked: ['udp A', 'tcp A'],
    },
    {
      name: 'knows that a Service is gone',
      script: { 'udp A': ['NXDOMAIN aa', SOA] },
      found: known(),
      asked: ['udp A'],
    },
    {
      name: 'knows that a Service has no address',
      script: { 'udp A': ['NOERROR aa', SOA], 'udp AAAA': ['NOERROR aa', SOA] },
      found: known(),
      asked: ['udp A', 'udp AAAA'],
    },
    {
      name: 'does not believe NODATA for one type only',
      script: { 'udp A': ['NOERROR aa', SOA] },
      found: unknown('timeout'),
      asked: ['udp A', 'udp AAAA', 'tcp AAAA'],
    },
    {
      name: 'does not believe NXDOMAIN of another zone',
      script: { 'udp A': ['NXDOMAIN', ROOT_SOA], 'tcp AAAA': ['NXDOMAIN'] },
      found: unknown("NXDOMAIN without the cluster zone's SOA record"),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'does not believe SERVFAIL',
      script: { 'tcp AAAA': ['SERVFAIL', SOA] },
      found: unknown('SERVFAIL'),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
    {
      name: 'does not believe an invalid message',
      script: { 'tcp AAAA': ['garbage'] },
      found: unknown('invalid DNS message'),
      asked: ['udp A', 'udp AAAA', 'tcp A', 'tcp AAAA'],
    },
  ]
  for (const { name, script, found, asked } of cases) {
    test(name, async () => {
      assert.deepEqual(await find(script), { found, asked })
    })
  }

  test('has at most 64 addresses', async () => {
    const records = Array.from({ length: 100 }, (_, i) => a(`192.0.2.${i}`))
    const { found } = await find({ 'udp A': ['NOERROR aa', ...records] })
    assert.equal(found.kind === 'known' && found.addresses.length, 64)
  })
})
