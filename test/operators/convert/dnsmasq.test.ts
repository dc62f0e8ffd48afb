import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { convertDnsmasq } from '../../../src/operators/convert/dnsmasq.ts'
import { outline, parse } from '../../corefile/source.ts'

function convert(...lines: readonly string[]): { blocks: string[]; notices: readonly string[] } {
  const text = ['no-resolv', 'no-hosts', 'cache-size=0', ...lines].join('\n')
  const { corefile, notices } = convertDnsmasq([{ path: 'f', text }])
  const blocks = parse(corefile).map((block) => outline(block).replace(' | errors', ''))
  return { blocks, notices }
}

describe('convertDnsmasq', () => {
  const cases: { name: string; lines: string[]; blocks: string[] }[] = [
    {
      name: 'queries all servers for everything',
      lines: ['server=192.0.2.1', 'server=192.0.2.2', 'strict-order'],
      blocks: ['.:53 | forward . 192.0.2.1 192.0.2.2 { policy sequential }'],
    },
    {
      name: 'has a block for each domain',
      lines: ['server=192.0.2.1', 'server=/a.test/192.0.2.2', 'local=/b.test/', 'port=54'],
      blocks: [
        '.:54 | forward . 192.0.2.1',
        'a.test.:54 | forward . 192.0.2.2',
        'b.test.:54 | template ANY ANY { rcode NXDOMAIN }',
      ],
    },
    {
      name: 'lets hosts go first, and be all that a domain of its own has',
      lines: ['server=192.0.2.1', 'local=/b/', 'addn-hosts=/h', 'host-record=x.b,192.0.2.3'],
      blocks: [
        '.:53 | hosts /h { 192.0.2.3 x.b ; ttl 1 ; fallthrough } | forward . 192.0.2.1',
        'b.:53 | hosts /h { 192.0.2.3 x.b ; ttl 1 }',
      ],
    },
    {
      name: 'answers names of a domain of its own from templates when it knows them all',
      lines: ['server=192.0.2.1', 'local=/b/', 'host-record=x.b,192.0.2.3', 'local-ttl=9'],
      blocks: [
        '.:53 | hosts /dev/null { 192.0.2.3 x.b ; ttl 9 ; fallthrough } | forward . 192.0.2.1',
        'b.:53 | template IN A x.b { match ^x\\.b\\.$ ; answer {{ .Name }} 9 IN A 192.0.2.3 ; ' +
          'fallthrough } | template IN ANY x.b { match ^x\\.b\\.$ ; rcode NOERROR ; fallthrough } | ' +
          'template ANY ANY { rcode NXDOMAIN }',
      ],
    },
    {
      name: 'answers names with a star',
      lines: ['server=192.0.2.1', 'cname=*.a.test,b.test', 'domain-needed'],
      blocks: [
        '.:53 | template IN ANY a.test { match ^([^.]+\\.)+a\\.test\\.$ ; answer {{ .Name }} 0 IN ' +
          'CNAME b.test. ; fallthrough } | template IN A { match ^[^.]+\\.$ ; rcode NXDOMAIN ; ' +
          'fallthrough } | template IN AAAA { match ^[^.]+\\.$ ; rcode NXDOMAIN ; fallthrough } | ' +
          'forward . 192.0.2.1',
      ],
    },
    {
      name: 'puts the domain after names without a dot',
      lines: ['server=192.0.2.1', 'txt-record=a,x', 'txt-record=a,y', 'domain=b.test'],
      blocks: [
        '.:53 | template IN TXT a.b.test { match ^a\\.b\\.test\\.$ ; answer {{ .Name }} 0 IN TXT ' +
          '"x" ; answer {{ .Name }} 0 IN TXT "y" ; fallthrough } | forward . 192.0.2.1',
      ],
    },
  ]
  for (const { name, lines, blocks } of cases) {
    test(name, () => {
      assert.deepEqual(convert(...lines).blocks, blocks)
    })
  }

  const dropped: { lines: string[]; notices: readonly string[] }[] = [
    {
      lines: ['server=192.0.2.1', 'resolv-file=/r', 'domain=a.test', 'local-ttl=5'],
      notices: [
        'f:6: "domain" has no effect on the Corefile',
        'f:7: "local-ttl" has no effect on the Corefile',
        'resolv-file /r has no effect on the Corefile: "no-resolv" is set',
      ],
    },
    {
      lines: ['min-cache-ttl=5', 'max-ttl=9', 'server=/a/192.0.2.1', 'strict-order'],
      notices: [
        'other names have no upstream: their queries fail',
        'f:4: "min-cache-ttl" has no effect on the Corefile',
        'f:5: "max-ttl" has no effect on the Corefile',
      ],
    },
    {
      lines: ['server=192.0.2.1', 'cache-size=9', 'max-cache-ttl=8', 'max-ttl=9'],
      notices: [
        'f:3: "cache-size" is set again by f:5; ignored',
        'f:7: "max-ttl" has no effect on the Corefile',
      ],
    },
  ]
  for (const { lines, notices } of dropped) {
    test(`names what it drops of ${lines.join(' ')}`, () => {
      assert.deepEqual(convert(...lines).notices, notices)
    })
  }

  const caches: { lines: string[]; cache: string }[] = [
    { lines: ['cache-size=500'], cache: 'cache { success 500 ; denial 500 }' },
    {
      lines: ['cache-size=500', 'max-cache-ttl=60'],
      cache: 'cache { success 500 60 0 ; denial 500 60 0 }',
    },
    {
      lines: ['cache-size=500', 'min-cache-ttl=9', 'no-negcache'],
      cache: 'cache { success 500 3600 9 ; disable denial }',
    },
  ]
  for (const { lines, cache } of caches) {
    test(`keeps answers as ${lines.join(', ')} has it`, () => {
      const [block] = convert('server=192.0.2.1', ...lines).blocks
      assert.equal(block, `.:53 | ${cache} | forward . 192.0.2.1`)
    })
  }

  test('adds notices for what has no equivalent', () => {
    const { notices } = convert('local=/b/', 'addn-hosts=/h', 'addn-hosts=/i', 'domain-needed')
    assert.deepEqual(notices, [
      'other names have no upstream: their queries fail',
      '"hosts" reads one file; copy the lines of /i to /h',
      '"domain-needed" has no equivalent with a hosts file: names without a dot are forwarded',
      'names below "b" that are not in the hosts file get SERVFAIL instead of NXDOMAIN',
    ])
  })

  test('rejects text with template syntax', () => {
    assert.throws(() => convert('txt-record=a,{{x}}'), {
      name: 'ConversionError',
      message: '""{{x}}"" of "a" has braces',
    })
  })
})
