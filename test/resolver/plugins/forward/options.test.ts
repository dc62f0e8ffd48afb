import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../../src/dns/names/name.ts'
import {
  type ForwardOptions,
  parseForward,
} from '../../../../src/resolver/plugins/forward/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'
import { RESOLVER_FILES } from './resolver-files.ts'

const FILES: Readonly<Record<string, string>> = {
  ...RESOLVER_FILES,
  'ca.pem': 'CA',
  'cert.pem': 'CERT',
  'key.pem': 'KEY',
  token: 'secret.token\n',
  'two tokens': 'one two\n',
}

const CONNECTIONS: ForwardOptions['connections'] = {
  tls: {},
  expireMs: 10_000,
  ageMsMax: 0,
  idleMax: 0,
  dohMethod: 'POST',
  resolvers: [],
}

function parse(line: string): ForwardOptions {
  return parseForward(parseDirective(line), (path) => FILES[path])
}

describe('options of forward', () => {
  test('have the defaults of CoreDNS', () => {
    const { from, upstreams, healthCheckName, ...rest } = parse('forward . 192.0.2.1')
    assert.equal(formatName(from), '.')
    assert.equal(upstreams.length, 1)
    assert.equal(formatName(healthCheckName), '.')
    assert.deepEqual(rest, {
      plugin: 'forward',
      files: [],
      except: [],
      protocol: 'as-client',
      policy: 'random',
      failuresMax: 2,
      attemptsMax: 2,
      readTimeoutMs: 2000,
      mixesCase: false,
      healthCheckMs: 500,
      healthCheckRecurses: true,
      concurrentMax: 0,
      failsFast: false,
      failover: [],
      next: [],
      nextOnNodata: false,
      connections: CONNECTIONS,
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
    { name: 'mix letter case', options: ['random_case'], wanted: { mixesCase: true } },
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
    { name: 'bound attempts', options: ['max_connect_attempts 0'], wanted: { attemptsMax: 0 } },
    { name: 'wait', options: ['read_timeout 5s'], wanted: { readTimeoutMs: 5000 } },
    {
      name: 'name codes that point to the next upstream',
      options: ['failover servfail REFUSED', 'failover NOTIMP'],
      wanted: { failover: [2, 5, 4] },
    },
    {
      name: 'name codes that point to the next forward, NOERROR too',
      options: ['next NXDOMAIN', 'next NOERROR badcookie'],
      wanted: { next: [3, 0, 23] },
    },
    {
      name: 'point to the next forward without data',
      options: ['next_on_nodata'],
      wanted: { nextOnNodata: true },
    },
    ...[
      { options: ['expire 0s'], kept: { expireMs: 0 } },
      { options: ['expire 3s', 'max_age 3s'], kept: { expireMs: 3000, ageMsMax: 3000 } },
      { options: ['max_age 0'], kept: {} },
      { options: ['max_idle_conns 8'], kept: { idleMax: 8 } },
      { options: ['doh_method GET'], kept: { dohMethod: 'GET' } as const },
      { options: ['source_address ::1'], kept: { sourceAddress: '::1' } },
      {
        options: ['resolver 192.0.2.1 [::1]:5353 ::1'],
        kept: { resolvers: ['192.0.2.1:53', '[::1]:5353', '[::1]:53'] },
      },
      { options: ['tls'], kept: {} },
      { options: ['tls ca.pem'], kept: { tls: { ca: 'CA' } } },
      { options: ['tls cert.pem key.pem'], kept: { tls: { cert: 'CERT', key: 'KEY' } } },
      {
        options: ['tls cert.pem key.pem ca.pem'],
        kept: { tls: { cert: 'CERT', key: 'KEY', ca: 'CA' } },
      },
    ].map(({ options, kept }) => ({
      name: `say of connections: ${options.join(', ')}`,
      options,
      wanted: { connections: { ...CONNECTIONS, ...kept } },
    })),
  ]
  for (const { name, options, wanted } of cases) {
    test(name, () => {
      const found = parse(directive('forward . 192.0.2.1', ...options))
      assert.deepEqual(found, { ...parse('forward . 192.0.2.1'), ...wanted })
    })
  }

  test('set the time after which a second upstream gets the query', () => {
    const line = 'forward . 192.0.2.1 192.0.2.2'
    assert.deepEqual(parse(directive(line, 'hedge 50ms')), { ...parse(line), hedgeMs: 50 })
  })

  test('say what to check with', () => {
    const options = parse(directive('forward . 192.0.2.1', 'health_check 1s domain a.org no_rec'))
    assert.equal(formatName(options.healthCheckName), 'a.org.')
    assert.equal(options.healthCheckRecurses, false)
  })

  test('name whom certificates of upstreams must be for', () => {
    const to = 'forward . tls://192.0.2.1 192.0.2.2 https://192.0.2.3'
    const { upstreams } = parse(directive(to, 'tls_servername dns.example.org'))
    assert.deepEqual(
      upstreams.map(({ serverName }) => serverName),
      ['dns.example.org', undefined, 'dns.example.org'],
    )
  })

  test('send the token of a file to every upstream', () => {
    const to = 'forward . https://192.0.2.3 https://x:other@dns.example.org'
    const { upstreams } = parse(directive(to, 'token token'))
    assert.deepEqual(
      upstreams.map(({ token }) => token),
      ['secret.token', 'secret.token'],
    )
  })

  test('allow two attempts for each upstream', () => {
    assert.equal(parse('forward . 192.0.2.1 /etc/resolv.conf').attemptsMax, 6)
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
      name: 'is an empty exception',
      line: directive('forward . 192.0.2.1', 'except'),
      problem: 'Corefile:3:5: "except" takes 1 or more argument(s), got 0',
    },
    {
      name: 'is an unknown policy',
      line: directive('forward . 192.0.2.1', 'policy least'),
      problem: 'Corefile:3:12: "least" is not one of random, round_robin, sequential',
    },
    {
      name: 'is a surplus policy',
      line: directive('forward . 192.0.2.1', 'policy random sequential'),
      problem: 'Corefile:3:5: "policy" takes 1 argument(s), got 2',
    },
    {
      name: 'is a bound of failures that is not a number',
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
    ...[
      ['tls a b c d', ':3:5: "tls" takes 0 to 3 argument(s), got 4'],
      ['tls none.pem', ':3:9: cannot read "none.pem"'],
      ['tls cert.pem none.pem', ':3:18: cannot read "none.pem"'],
      ['tls_servername', ':3:5: "tls_servername" takes 1 argument(s), got 0'],
      ['read_timeout 0s', ':3:5: "read_timeout" must be over 0'],
      ['hedge 50ms', ':3:5: "hedge" needs at least two upstreams'],
      ['hedge 0s', ':3:5: "hedge" must be over 0'],
      ['hedge soon', ':3:11: "soon" is not a duration such as 30s, 1m30s or 500ms'],
      ['random_case yes', ':3:5: "random_case" takes 0 argument(s), got 1'],
      ['max_idle_conns -1', ':3:20: "-1" is not a number from 0 to 4294967295'],
      ['max_connect_attempts x', ':3:26: "x" is not a number from 0 to 4294967295'],
      ['max_age 5s', ':2:3: "max_age" must not be less than "expire", 10000 ms'],
      ['token', ':3:5: "token" takes 1 argument(s), got 0'],
      ['token none', ':3:11: cannot read "none"'],
      ['token "two tokens"', ':3:11: "two tokens" does not contain exactly one token'],
      ['token token', ':2:3: "token" needs https:// upstreams only'],
      ['doh_method PUT', ':3:16: "PUT" is not one of GET, POST'],
      ['source_address eth0', ':3:5: "eth0" is not an address'],
      ['resolver dns.example.org', ':3:14: "dns.example.org" is not ADDRESS[:PORT]'],
      ['next', ':3:5: "next" takes 1 or more argument(s), got 0'],
      ['next NXDOMAIN NOSUCH', ':3:19: "NOSUCH" is not a response code'],
      ['next SERVERFAIL', ':3:10: "SERVERFAIL" is not a response code; write SERVFAIL'],
      ['next_on_nodata yes', ':3:5: "next_on_nodata" takes 0 argument(s), got 1'],
      ['failover', ':3:5: "failover" takes 1 or more argument(s), got 0'],
      ['failover NOERROR', ':3:5: "failover" takes errors only'],
    ].map(([option = '', problem]) => ({
      name: `is in "${option}"`,
      line: directive('forward . 192.0.2.1', option),
      problem: `Corefile${problem}`,
    })),
    {
      name: 'is a name for certificates in two places',
      line: directive('forward . tls://192.0.2.1%a.example', 'tls_servername b.example'),
      problem:
        'Corefile:2:3: two certificate names: ' +
        'leave out "tls_servername b.example" or "%a.example"',
    },
    {
      name: 'is an invalid time to expire',
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
