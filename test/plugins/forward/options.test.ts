import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { formatName } from '../../../src/dns/name.ts'
import { type ForwardOptions, parseForward } from '../../../src/plugins/forward/options.ts'
import type { Upstream } from '../../../src/plugins/host.ts'
import { block, directive, parseDirective, problemsOf } from '../../ask.ts'

const FILES: Readonly<Record<string, string>> = {
  '/etc/resolv.conf': `# made by hand
nameserver 192.0.2.1
  nameserver\t2001:db8::1 ; the second
nameserver fe80::1%eth0
nameserver nosuch
search example.org
options ndots:5
`,
  'empty.conf': 'search example.org\n',
}

function parse(line: string): ForwardOptions {
  return parseForward(parseDirective(line), (path) => FILES[path])
}

function describeUpstream({ transport, address, port, url }: Upstream): string {
  return [transport, address, port, ...(url === undefined ? [] : [url])].join(' ')
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
      name: 'have ports behind brackets',
      to: '[2001:db8::1]:5300',
      upstreams: ['dns 2001:db8::1 5300'],
    },
    { name: 'have a scheme', to: 'dns://192.0.2.1:5300', upstreams: ['dns 192.0.2.1 5300'] },
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
        'https [::1] 80 http://[::1]/q',
        'https localhost 80 http://localhost/dns-query',
      ],
    },
    {
      name: 'are the name servers of a file',
      to: '192.0.2.9 /etc/resolv.conf',
      upstreams: ['dns 192.0.2.9 53', 'dns 192.0.2.1 53', 'dns 2001:db8::1 53', 'dns fe80::1 53'],
    },
  ]
  for (const { name, to, upstreams } of cases) {
    test(name, () => {
      assert.deepEqual(parse(`forward . ${to}`).upstreams.map(describeUpstream), upstreams)
    })
  }

  test('are fifteen at most', () => {
    const fifteen = Array.from({ length: 15 }, (_, i) => `192.0.2.${i}`).join(' ')
    assert.equal(parse(`forward . ${fifteen}`).upstreams.length, 15)
  })

  test('read back with any address and port', () => {
    const port = fc.integer({ min: 1, max: 65535 })
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), port, (v4, v6, number) => {
        const { upstreams } = parse(`forward . ${v4}:${number} [${v6}]:${number}`)
        assert.deepEqual(upstreams, [
          { transport: 'dns', address: v4, port: number },
          { transport: 'dns', address: v6, port: number },
        ])
      }),
    )
  })
})

describe('options of forward', () => {
  test('have the defaults of CoreDNS', () => {
    const { from, upstreams, healthCheckName, ...rest } = parse('forward . 192.0.2.1')
    assert.equal(formatName(from), '.')
    assert.equal(upstreams.length, 1)
    assert.equal(formatName(healthCheckName), '.')
    assert.deepEqual(rest, {
      except: [],
      protocol: 'as-asked',
      policy: 'random',
      failuresMax: 2,
      healthCheckMs: 500,
      healthCheckRecurses: true,
      concurrentMax: 0,
      failsFast: false,
    })
  })

  const cases: { name: string; options: string[]; wanted: Partial<ForwardOptions> }[] = [
    { name: 'force TCP', options: ['force_tcp'], wanted: { protocol: 'tcp' } },
    { name: 'prefer UDP', options: ['prefer_udp'], wanted: { protocol: 'udp' } },
    {
      name: 'force TCP rather than prefer UDP',
      options: ['force_tcp', 'prefer_udp'],
      wanted: { protocol: 'tcp' },
    },
    {
      name: 'force TCP rather than prefer UDP in the other order',
      options: ['prefer_udp', 'force_tcp'],
      wanted: { protocol: 'tcp' },
    },
    {
      name: 'choose round robin',
      options: ['policy round_robin'],
      wanted: { policy: 'round_robin' },
    },
    { name: 'choose an order', options: ['policy sequential'], wanted: { policy: 'sequential' } },
    { name: 'choose chance', options: ['policy random'], wanted: { policy: 'random' } },
    { name: 'bound failures', options: ['max_fails 0'], wanted: { failuresMax: 0 } },
    { name: 'bound no queries', options: ['max_concurrent 0'], wanted: {} },
    { name: 'bound queries', options: ['max_concurrent 1000'], wanted: { concurrentMax: 1000 } },
    {
      name: 'say how often to check',
      options: ['health_check 0.5s no_rec'],
      wanted: { healthCheckMs: 500, healthCheckRecurses: false },
    },
    {
      name: 'fail fast',
      options: ['failfast_all_unhealthy_upstreams'],
      wanted: { failsFast: true },
    },
    { name: 'may say when connections expire', options: ['expire 10s'], wanted: {} },
  ]
  for (const { name, options, wanted } of cases) {
    test(name, () => {
      const found = parse(directive('forward . 192.0.2.1', ...options))
      assert.deepEqual(found, { ...parse('forward . 192.0.2.1'), ...wanted })
    })
  }

  test('say what to check with', () => {
    const options = parse(directive('forward . 192.0.2.1', 'health_check 1s domain a.org no_rec'))
    assert.equal(formatName(options.healthCheckName), 'a.org.')
    assert.equal(options.healthCheckRecurses, false)
  })

  test('add up the zones that are excepted', () => {
    const line = directive('forward Example.org 192.0.2.1', 'except A.org', 'except 192.0.2.0/24')
    const { from, except } = parse(line)
    assert.deepEqual(
      [from, ...except].map((zone) => formatName(zone)),
      ['example.org.', 'a.org.', '2.0.192.in-addr.arpa.'],
    )
  })
})

describe('what is wrong with forward', () => {
  const sixteen = Array.from({ length: 16 }, (_, i) => `192.0.2.${i}`).join(' ')
  const neither = (word: string): string =>
    `Corefile:2:13: "${word}" is neither ADDRESS[:PORT], https://…, nor a file`
  const cases: { name: string; line: string; problem: string }[] = [
    {
      name: 'is that it has no zone',
      line: 'forward',
      problem: 'Corefile:2:3: "forward" needs a zone and at least one upstream',
    },
    {
      name: 'is that it has no upstream',
      line: 'forward .',
      problem: 'Corefile:2:3: "forward" needs a zone and at least one upstream',
    },
    {
      name: 'is that its zone is none',
      line: 'forward a..b 192.0.2.1',
      problem: 'Corefile:2:11: "a..b" is not a domain name',
    },
    {
      name: 'is over 15 upstreams',
      line: `forward . ${sixteen}`,
      problem: 'Corefile:2:3: 16 upstreams, at most 15',
    },
    {
      name: 'is a host name',
      line: 'forward . dns.example.org',
      problem: neither('dns.example.org'),
    },
    { name: 'is a bad address', line: 'forward . 192.0.2.256', problem: neither('192.0.2.256') },
    {
      name: 'is a port over 65535',
      line: 'forward . 192.0.2.1:65536',
      problem: neither('192.0.2.1:65536'),
    },
    { name: 'is port 0', line: 'forward . 192.0.2.1:0', problem: neither('192.0.2.1:0') },
    {
      name: 'is a port that is none',
      line: 'forward . 192.0.2.1:dns',
      problem: neither('192.0.2.1:dns'),
    },
    {
      name: 'is a bracket that is not closed',
      line: 'forward . [2001:db8::1',
      problem: neither('[2001:db8::1'),
    },
    {
      name: 'is a file without name servers',
      line: 'forward . empty.conf',
      problem: 'Corefile:2:13: "empty.conf" lists no nameserver',
    },
    {
      name: 'is TLS',
      line: 'forward . tls://192.0.2.1',
      problem:
        'Corefile:2:13: "tls://192.0.2.1": upstreams over TLS are not supported yet; use https://',
    },
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
      name: 'is the second bad upstream',
      line: 'forward . 192.0.2.1 nosuch',
      problem: 'Corefile:2:23: "nosuch" is neither ADDRESS[:PORT], https://…, nor a file',
    },
    {
      name: 'is an empty exception',
      line: directive('forward . 192.0.2.1', 'except'),
      problem: 'Corefile:3:5: "except" takes 1 or more argument(s), got 0',
    },
    {
      name: 'is an unknown policy',
      line: directive('forward . 192.0.2.1', 'policy least'),
      problem: 'Corefile:3:5: "least" is not one of random, round_robin, sequential',
    },
    {
      name: 'is a policy too many',
      line: directive('forward . 192.0.2.1', 'policy random sequential'),
      problem: 'Corefile:3:5: "policy" takes 1 argument(s), got 2',
    },
    {
      name: 'is a bound of failures that is no number',
      line: directive('forward . 192.0.2.1', 'max_fails many'),
      problem: 'Corefile:3:15: "many" is not a number from 0 to 4294967295',
    },
    {
      name: 'is a health check without a duration',
      line: directive('forward . 192.0.2.1', 'health_check no_rec'),
      problem: 'Corefile:3:18: "no_rec" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'is a health check without its domain',
      line: directive('forward . 192.0.2.1', 'health_check 1s domain'),
      problem: 'Corefile:3:21: "domain" needs a domain name',
    },
    {
      name: 'is an option of a health check that it does not have',
      line: directive('forward . 192.0.2.1', 'health_check 1s norec'),
      problem: 'Corefile:3:21: "health_check" has no option "norec"',
    },
    ...['force_tcp', 'prefer_udp', 'failfast_all_unhealthy_upstreams'].map((option) => ({
      name: `is an argument of ${option}`,
      line: directive('forward . 192.0.2.1', `${option} yes`),
      problem: `Corefile:3:5: "${option}" takes 0 argument(s), got 1`,
    })),
    {
      name: 'is an argument of a health check too many',
      line: directive('forward . 192.0.2.1', 'health_check 1s no_rec domain a.org no_rec'),
      problem: 'Corefile:3:5: "health_check" takes 1 to 4 argument(s), got 5',
    },
    {
      name: 'is a health check without anything',
      line: directive('forward . 192.0.2.1', 'health_check'),
      problem: 'Corefile:3:5: "health_check" takes 1 to 4 argument(s), got 0',
    },
    {
      name: 'is a misspelled option',
      line: directive('forward . 192.0.2.1', 'max_fail 1'),
      problem: 'Corefile:3:5: "forward" has no option "max_fail"; did you mean "max_fails"?',
    },
    {
      name: 'is a time to expire that is none',
      line: directive('forward . 192.0.2.1', 'expire soon'),
      problem: 'Corefile:3:12: "soon" is not a duration such as 30s, 1m30s or 500ms',
    },
  ]
  for (const { name, line, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(line), { files: FILES }), [problem])
    })
  }
})
