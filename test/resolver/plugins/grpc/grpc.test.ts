import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'
import { AUTHORITY, SERVER } from '../../../certificates.ts'
import type { UpstreamAct } from '../../../fake-host.ts'

const CERTIFICATE_FILES = { 'cert.pem': SERVER.cert, 'key.pem': SERVER.key, 'ca.pem': AUTHORITY }
const ASK = 'www.example.org A'
const A = 'www.example.org. 60 IN A 192.0.2.80'
const DEAD = new Error('connection refused')

/** A server with one `grpc` and what each of its upstreams does, by the address's end. */
function serveGrpc(lines: readonly string[], acts: Readonly<Record<string, UpstreamAct>>): Server {
  return serve(block('errors', ...lines), {
    upstream: ({ upstream }) => acts[/\.(\d+):\d+/.exec(upstream)?.[1] ?? ''] ?? DEAD,
  })
}

function askedFor({ host }: Server): string {
  const asked = host.asked.filter(({ question }) => question.startsWith('www.'))
  return asked.map(({ upstream }) => /\.(\d+):\d+/.exec(upstream)?.[1]).join(' ')
}

describe('upstreams of grpc', () => {
  const path = '/coredns.dns.DnsService/Query'
  for (const { line, urls, serverName } of [
    { line: 'grpc . 192.0.2.1', urls: ['http://192.0.2.1:53'], serverName: undefined },
    {
      line: 'grpc . 192.0.2.1:443 [2001:db8::1]:444',
      urls: ['http://192.0.2.1:443', 'http://[2001:db8::1]:444'],
      serverName: undefined,
    },
    {
      line: 'grpc . [fe80::1%eth0]:443',
      urls: ['http://[fe80::1]:443'],
      serverName: undefined,
    },
    { line: 'grpc . dns.example.net:443', urls: ['http://dns.example.net:443'] },
    {
      line: directive('grpc . 192.0.2.1:443', 'tls'),
      urls: ['https://192.0.2.1:443'],
      serverName: undefined,
    },
    {
      line: directive('grpc . 192.0.2.1:443', 'tls ca.pem', 'tls_servername dns.example.net'),
      urls: ['https://192.0.2.1:443'],
      serverName: 'dns.example.net',
    },
    {
      line: directive('grpc . 192.0.2.1:443', 'tls_servername dns.example.net'),
      urls: ['https://192.0.2.1:443'],
      serverName: 'dns.example.net',
    },
    { line: 'grpc . resolv.conf', urls: ['http://192.0.2.7:53', 'http://192.0.2.8:53'] },
  ]) {
    test(line.replaceAll(/\s+/g, ' '), () => {
      const files = {
        ...CERTIFICATE_FILES,
        'resolv.conf': 'nameserver 192.0.2.7\nnameserver 192.0.2.8\n',
      }
      const { host } = serve(block(line), { files })
      const opened = host.upstreams.map(({ upstream }) => upstream)
      assert.deepEqual(
        opened.map(({ transport, url }) => [transport, url]),
        urls.map((url) => ['grpc', `${url}${path}`]),
      )
      for (const one of opened) assert.equal(one.serverName, serverName)
    })
  }

  test('get the certificates of tls', () => {
    const line = directive('grpc . 192.0.2.1:443', 'tls cert.pem key.pem ca.pem')
    const { host } = serve(block(line), { files: CERTIFICATE_FILES })
    assert.deepEqual(host.upstreams[0]?.options.tls, {
      cert: CERTIFICATE_FILES['cert.pem'],
      key: CERTIFICATE_FILES['key.pem'],
      ca: CERTIFICATE_FILES['ca.pem'],
    })
  })

  test('are tried once each, in order', async () => {
    const line = directive('grpc . 192.0.2.1 192.0.2.2 192.0.2.3', 'policy sequential')
    const server = serveGrpc([line], { 3: ['NOERROR', A] })
    assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
    assert.equal(askedFor(server), '1 2 3')
    const dead = serveGrpc([line], {})
    assert.deepEqual(await dead.ask(ASK), ['SERVFAIL rd'])
    assert.equal(askedFor(dead), '1 2 3')
  })

  test('count in the metrics of CoreDNS', async () => {
    const server = serveGrpc(['grpc . 192.0.2.1'], { 1: ['NXDOMAIN'] })
    await server.ask(ASK)
    const text = server.host.metrics.format()
    for (const line of [
      'coredns_grpc_requests_total{to="192.0.2.1:53"} 1',
      'coredns_grpc_responses_total{rcode="NXDOMAIN",to="192.0.2.1:53"} 1',
      'coredns_grpc_request_duration_seconds_count{to="192.0.2.1:53"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line)
    }
    assert.ok(!text.includes('coredns_proxy_request_duration_seconds_count'))
  })

  test('are checked after a failure, and avoided until they respond', async () => {
    const line = directive('grpc . 192.0.2.1 192.0.2.2', 'policy sequential')
    const server = serveGrpc([line], { 2: ['NOERROR', A] })
    for (let i = 0; i < 4; i++) {
      assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
      await server.host.advance(1000)
    }
    assert.match(askedFor(server), /^1 2 (1 2 )?2 2/)
    const failures = 'coredns_proxy_healthcheck_failures_total{proxy_name="grpc",to="192.0.2.1:53"}'
    assert.ok(server.host.metrics.format().includes(failures))
  })
})

describe('grpc passes on', () => {
  const other = 'template IN A www.example.org { answer "{{ .Name }} 60 IN A 192.0.2.99" }'
  const last = ['NOERROR aa rd']
  for (const { name, options, act, wanted } of [
    { name: 'no NXDOMAIN by default', options: [], act: ['NXDOMAIN'], wanted: ['NXDOMAIN rd'] },
    { name: 'no failure by default', options: [], act: DEAD, wanted: ['SERVFAIL rd'] },
    { name: 'NXDOMAIN', options: ['fallthrough'], act: ['NXDOMAIN'], wanted: last },
    { name: 'a failure', options: ['fallthrough'], act: DEAD, wanted: last },
    { name: 'no answer', options: ['fallthrough'], act: ['NOERROR', A], wanted: ['NOERROR rd', A] },
    { name: 'no NODATA', options: ['fallthrough'], act: ['NOERROR'], wanted: ['NOERROR rd'] },
    { name: 'no SERVFAIL', options: ['fallthrough'], act: ['SERVFAIL'], wanted: ['SERVFAIL rd'] },
    {
      name: 'NXDOMAIN of its zones',
      options: ['fallthrough example.org'],
      act: ['NXDOMAIN'],
      wanted: last,
    },
    {
      name: 'no NXDOMAIN of others',
      options: ['fallthrough example.net'],
      act: ['NXDOMAIN'],
      wanted: ['NXDOMAIN rd'],
    },
    {
      name: 'names of "except"',
      options: ['except example.org'],
      act: ['NXDOMAIN'],
      wanted: last,
    },
  ] as const) {
    test(name, async () => {
      const line = directive('grpc . 192.0.2.1', ...options)
      const server = serveGrpc([line, 'whoami'], { 1: act })
      const [head, ...records] = await server.ask(ASK)
      assert.deepEqual([head, ...(wanted === last ? [] : records)], wanted)
    })
  }

  test('nothing where no plugin is next', async () => {
    const line = directive('grpc . 192.0.2.1', 'fallthrough')
    const server = serveGrpc([other.replace('www.example.org', 'b'), line], { 1: ['NXDOMAIN'] })
    assert.deepEqual(await server.ask(ASK), ['NXDOMAIN rd'])
  })
})

describe('grpc refuses', () => {
  const scheme = 'an upstream of "grpc" is ADDRESS[:PORT] or a file; "tls" encrypts'
  for (const { lines, problem } of [
    { lines: ['grpc'], problem: '2:3: "grpc" needs a zone and at least one upstream' },
    { lines: ['grpc .'], problem: '2:3: "grpc" needs a zone and at least one upstream' },
    ...['tls', 'https', 'grpc', 'dns', 'unix'].map((name) => ({
      lines: [`grpc . ${name}://192.0.2.1`],
      problem: `2:10: "${name}://192.0.2.1": ${scheme}`,
    })),
    {
      lines: [`grpc . ${Array.from({ length: 16 }, (_, i) => `192.0.2.${i}`).join(' ')}`],
      problem: '2:3: 16 upstreams, at most 15',
    },
    {
      lines: ['grpc . 192.0.2.1', 'grpc . 192.0.2.2'],
      problem: '3:3: "grpc" appears twice in this server block; remove one',
    },
    {
      lines: [directive('grpc . 192.0.2.1', 'policy best')],
      problem: '3:12: "best" is not one of random, round_robin, sequential',
    },
    {
      lines: [directive('grpc . 192.0.2.1', 'tls nosuch.pem')],
      problem: '3:9: cannot read "nosuch.pem"',
    },
    {
      lines: [directive('grpc . 192.0.2.1', 'except')],
      problem: '3:5: "except" takes 1 or more argument(s), got 0',
    },
    {
      lines: [directive('grpc . 192.0.2.1', 'max_fails 3')],
      problem:
        '3:5: "grpc" has no option "max_fails"; ' +
        'it has except, policy, tls, tls_servername, fallthrough',
    },
  ]) {
    test(lines.join('; ').replaceAll(/\s+/g, ' ').slice(0, 60), () => {
      assert.deepEqual(problemsOf(block(...lines)), [`Corefile:${problem}`])
    })
  }
})
