import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Upstream } from '../../../../src/resolver/contract/host.ts'
import {
  parseResolver,
  parseUpstreams,
  upstreamName,
} from '../../../../src/resolver/plugins/forward/upstreams.ts'
import { block, parseDirective, problemsOf } from '../../../ask.ts'
import { RESOLVER_FILES as FILES } from './resolver-files.ts'

function parse(line: string): readonly Upstream[] {
  const [first, ...more] = parseDirective(line).args.slice(1)
  return parseUpstreams([first ?? assert.fail('no upstream'), ...more], (path) => FILES[path])
    .upstreams
}

function describeUpstream({ transport, address, port, url, serverName, token }: Upstream): string {
  const name = serverName === undefined ? [] : [`as ${serverName}`]
  const secret = token === undefined ? [] : [`token ${token}`]
  return [transport, address, port, ...(url === undefined ? [] : [url]), ...name, ...secret].join(
    ' ',
  )
}

describe('upstreams', () => {
  const cases: { name: string; to: string; upstreams: string[] }[] = [
    { name: 'are IPv4 addresses', to: '192.0.2.1', upstreams: ['dns 192.0.2.1 53'] },
    { name: 'have ports', to: '192.0.2.1:5300', upstreams: ['dns 192.0.2.1 5300'] },
    {
      name: 'have ports from 1 to 65535',
      to: '192.0.2.1:1 192.0.2.1:65535',
      upstreams: ['dns 192.0.2.1 1', 'dns 192.0.2.1 65535'],
    },
    { name: 'are IPv6 addresses', to: '2001:db8::1', upstreams: ['dns 2001:db8::1 53'] },
    { name: 'have brackets around them', to: '[2001:db8::1]', upstreams: ['dns 2001:db8::1 53'] },
    {
      name: 'have ports after brackets',
      to: '[2001:db8::1]:5300',
      upstreams: ['dns 2001:db8::1 5300'],
    },
    { name: 'have a scheme', to: 'dns://192.0.2.1:5300', upstreams: ['dns 192.0.2.1 5300'] },
    {
      name: 'are queried over TLS, at its port or another',
      to: 'tls://192.0.2.1 tls://[2001:db8::1]:8853 tls://2001:db8::1',
      upstreams: ['tls 192.0.2.1 853', 'tls 2001:db8::1 8853', 'tls 2001:db8::1 853'],
    },
    {
      name: 'say whom their certificates are for',
      to: 'tls://192.0.2.1%a.test:8853 tls://[2001:db8::1%b.test]:8853 tls://[2001:db8::1%c.test]',
      upstreams: [
        'tls 192.0.2.1 8853 as a.test',
        'tls 2001:db8::1 8853 as b.test',
        'tls 2001:db8::1 853 as c.test',
      ],
    },
    {
      name: 'say so over HTTPS too',
      to: 'https://192.0.2.1%dns.test:8443',
      upstreams: ['https 192.0.2.1 8443 https://192.0.2.1:8443/dns-query as dns.test'],
    },
    {
      name: 'have a token in the URL',
      to: 'https://x:a.b%2F_c@192.0.2.1%dns.test:8443 https://:t@dns.test/dns-query',
      upstreams: [
        'https 192.0.2.1 8443 https://192.0.2.1:8443/dns-query as dns.test token a.b/_c',
        'https dns.test 443 https://dns.test/dns-query token t',
      ],
    },
    {
      name: 'are hostnames',
      to: 'dns.example.org kube-dns.kube_system.svc:5353 tls://dns.example.org',
      upstreams: [
        'dns dns.example.org 53',
        'dns kube-dns.kube_system.svc 5353',
        'tls dns.example.org 853',
      ],
    },
    {
      name: 'are taken once',
      to: '192.0.2.1 192.0.2.2 dns://192.0.2.1:53 /etc/resolv.conf',
      upstreams: [
        'dns 192.0.2.1 53',
        'dns 192.0.2.2 53',
        'dns 2001:db8::1 53',
        'dns fe80::1%eth0 53',
      ],
    },
    {
      name: 'are none in a file that lists none, beside others',
      to: 'empty.conf 192.0.2.1',
      upstreams: ['dns 192.0.2.1 53'],
    },
    {
      name: 'are URLs, at the usual path and port',
      to: 'https://dns.example.org',
      upstreams: ['https dns.example.org 443 https://dns.example.org/dns-query'],
    },
    {
      name: 'are URLs with a path and a port',
      to: 'https://192.0.2.1:8443/t/key',
      upstreams: ['https 192.0.2.1 8443 https://192.0.2.1:8443/t/key'],
    },
    {
      name: 'are plain HTTP on this machine',
      to: 'http://127.0.0.1:8080 http://[::1]/q http://localhost',
      upstreams: [
        'https 127.0.0.1 8080 http://127.0.0.1:8080/dns-query',
        'https ::1 80 http://[::1]/q',
        'https localhost 80 http://localhost/dns-query',
      ],
    },
    {
      name: 'are the name servers of a file',
      to: '192.0.2.9 /etc/resolv.conf',
      upstreams: [
        'dns 192.0.2.9 53',
        'dns 192.0.2.1 53',
        'dns 2001:db8::1 53',
        'dns fe80::1%eth0 53',
      ],
    },
  ]
  for (const { name, to, upstreams } of cases) {
    test(name, () => {
      assert.deepEqual(parse(`forward . ${to}`).map(describeUpstream), upstreams)
    })
  }

  test('read back with any address and port', () => {
    const port = fc.integer({ min: 1, max: 65535 })
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), port, (v4, v6, number) => {
        const upstreams = parse(`forward . ${v4}:${number} [${v6}]:${number}`)
        assert.deepEqual(upstreams, [
          { transport: 'dns', address: v4, port: number },
          { transport: 'dns', address: v6, port: number },
        ])
      }),
    )
  })
})

describe('what is wrong with upstreams', () => {
  const FORMS = '[tls://]ADDRESS[:PORT], https://…, a hostname, nor a file'
  const neither = (word: string): string => `Corefile:2:13: "${word}" is neither ${FORMS}`
  const many = Array.from({ length: 65 }, (_, i) => `nameserver 192.0.2.${i}`).join('\n')
  const cases: { name: string; line: string; problem: string }[] = [
    { name: 'is a bad address', line: 'forward . 192.0.2.256', problem: neither('192.0.2.256') },
    {
      name: 'is a port over 65535',
      line: 'forward . 192.0.2.1:65536',
      problem: neither('192.0.2.1:65536'),
    },
    { name: 'is port 0', line: 'forward . 192.0.2.1:0', problem: neither('192.0.2.1:0') },
    {
      name: 'is an invalid port',
      line: 'forward . 192.0.2.1:dns',
      problem: neither('192.0.2.1:dns'),
    },
    {
      name: 'is a bracket that is not closed',
      line: 'forward . [2001:db8::1',
      problem: neither('[2001:db8::1'),
    },
    ...['quic', 'grpc', 'https3', 'unix'].map((scheme) => ({
      name: `is the scheme ${scheme}`,
      line: `forward . ${scheme}://192.0.2.1`,
      problem: `Corefile:2:13: "${scheme}://192.0.2.1": upstreams need dns://, tls:// or https://`,
    })),
    {
      name: 'is a path below a name, which is no file',
      line: 'forward . etc/nosuch',
      problem: neither('etc/nosuch'),
    },
    { name: 'is no word at all', line: 'forward . dns://', problem: neither('dns://') },
    {
      name: 'is plain HTTP beyond this machine',
      line: 'forward . http://192.0.2.1/dns-query',
      problem:
        'Corefile:2:13: "http://192.0.2.1/dns-query": ' +
        'DNS over HTTP needs https:// beyond this machine',
    },
    {
      name: 'is plain HTTP to a name that only begins like this machine',
      line: 'forward . http://localhost.example.org/',
      problem:
        'Corefile:2:13: "http://localhost.example.org/": ' +
        'DNS over HTTP needs https:// beyond this machine',
    },
    {
      name: 'is a URL without a host',
      line: 'forward . https://',
      problem: 'Corefile:2:13: "https://" is not a URL',
    },
    {
      name: 'is a URL with an empty path, as in CoreDNS',
      line: 'forward . https://192.0.2.1/',
      problem:
        'Corefile:2:13: "https://192.0.2.1/": leave out "/" for the path /dns-query, or name ' +
        'another path',
    },
    {
      name: 'is the second, which is bad',
      line: 'forward . 192.0.2.1 a..b',
      problem: neither('a..b').replace('2:13', '2:23'),
    },
    {
      name: 'is a file with too many name servers',
      line: 'forward . many.conf',
      problem: 'Corefile:2:13: 65 upstreams, at most 64',
    },
  ]
  for (const { name, line, problem } of cases) {
    test(name, () => {
      const files = { ...FILES, 'many.conf': many }
      assert.deepEqual(problemsOf(block(line), { files }), [problem])
    })
  }

  test('is never a reason to throw anything else', () => {
    const pieces = [
      'tls://',
      'https://',
      'dns://',
      '[',
      ']',
      ':',
      '%',
      '::1',
      '192.0.2.1',
      'a.b',
      '/',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1 }), (words) => {
        problemsOf(block(`forward . ${words.join('')}`))
      }),
    )
  })
})

describe('parseResolver', () => {
  for (const [text, wanted] of [
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['[::1]:5353', '[::1]:5353'],
    ['dns.example.org', undefined],
    ['192.0.2.1:0', undefined],
  ] as const) {
    test(`makes ${wanted} of ${text}`, () => {
      assert.equal(parseResolver(text), wanted)
    })
  }
})

describe('upstreamName', () => {
  const cases: { name: string; to: string; wanted: string }[] = [
    { name: 'has address and port', to: '192.0.2.1', wanted: '192.0.2.1:53' },
    { name: 'has brackets around IPv6', to: '2001:db8::1', wanted: '[2001:db8::1]:53' },
    {
      name: 'leaves out the path of a URL, which may be a secret',
      to: 'https://dns.example.org:8443/t/key',
      wanted: 'dns.example.org:8443',
    },
  ]
  for (const { name, to, wanted } of cases) {
    test(name, () => {
      const [upstream] = parse(`forward . ${to}`)
      assert.equal(upstream && upstreamName(upstream), wanted)
    })
  }
})
