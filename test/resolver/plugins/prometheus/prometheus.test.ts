import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { VERSION } from '../../../../src/dns/telemetry/version.ts'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { block, directive, parseBlocks, problemsOf, serve } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'
import { parseQuestion } from '../../../message-text.ts'
import { ResolverClient } from '../../../resolver-client.ts'

const LABELS = 'server="dns://:53",zone=".",view=""'
const ROOT_BLOCK = block('prometheus', 'whoami')
const TWO_ZONES = 'example.org sub.example.org {\n prometheus\n whoami\n}'

async function metricsAfter(corefile: string, ...questions: readonly string[]): Promise<string[]> {
  const server = serve(corefile, { upstream: () => ['SERVFAIL'] })
  for (const question of questions) await server.ask(question)
  return server.host.metrics.format().split('\n')
}

describe('prometheus', () => {
  const cases: { name: string; corefile?: string; ask: string; has: string }[] = [
    {
      name: 'counts requests by protocol, family and type',
      ask: 'www.example.org A',
      has: `coredns_dns_requests_total{${LABELS},proto="udp",family="1",type="A"} 1`,
    },
    {
      name: 'calls everything but UDP tcp, and IPv6 2',
      ask: 'www.example.org AAAA +https +from=2001:db8::7',
      has: `coredns_dns_requests_total{${LABELS},proto="tcp",family="2",type="AAAA"} 1`,
    },
    {
      name: 'counts rare types as one',
      ask: 'www.example.org LOC',
      has: `coredns_dns_requests_total{${LABELS},proto="udp",family="1",type="other"} 1`,
    },
    {
      name: 'counts unknown types as the same one',
      ask: 'www.example.org TYPE65280',
      has: `coredns_dns_requests_total{${LABELS},proto="udp",family="1",type="other"} 1`,
    },
    {
      name: 'counts requests with DO',
      ask: 'www.example.org A +do',
      has: `coredns_dns_do_requests_total{${LABELS}} 1`,
    },
    {
      name: 'counts responses by code and the plugin that made them',
      ask: 'www.example.org A',
      has: `coredns_dns_responses_total{${LABELS},rcode="NOERROR",plugin="whoami"} 1`,
    },
    {
      name: 'counts responses that an upstream made',
      corefile: block('prometheus', 'cache', 'forward . 192.0.2.53'),
      ask: 'www.example.org A',
      has: `coredns_dns_responses_total{${LABELS},rcode="SERVFAIL",plugin="forward"} 1`,
    },
    {
      name: 'sums the bytes of requests',
      ask: 'www.example.org A',
      has: `coredns_dns_request_size_bytes_sum{${LABELS},proto="udp"} 33`,
    },
    {
      name: 'sorts the bytes of requests',
      ask: 'www.example.org A',
      has: `coredns_dns_request_size_bytes_bucket{${LABELS},proto="udp",le="100"} 1`,
    },
    {
      name: 'sums the bytes of responses',
      ask: 'www.example.org A',
      has: `coredns_dns_response_size_bytes_sum{${LABELS},proto="udp"} 73`,
    },
    {
      name: 'counts under the longest of several zones',
      corefile: TWO_ZONES,
      ask: 'www.SUB.example.org A',
      has:
        'coredns_dns_requests_total{server="dns://:53",zone="sub.example.org.",view="",' +
        'proto="udp",family="1",type="A"} 1',
    },
    {
      name: 'names the server by its scheme and port',
      corefile: 'https://example.org:8443 {\n prometheus\n whoami\n}',
      ask: 'www.example.org A +https',
      has:
        'coredns_dns_requests_total{server="https://:8443",zone="example.org.",view="",' +
        'proto="tcp",family="1",type="A"} 1',
    },
  ]
  for (const { name, corefile = ROOT_BLOCK, ask, has } of cases) {
    test(name, async () => {
      const lines = await metricsAfter(corefile, ask)
      assert.ok(lines.includes(has), lines.join('\n'))
    })
  }

  test('adds up what is alike and keeps apart what is not', async () => {
    const lines = await metricsAfter(
      ROOT_BLOCK,
      'a.example.org A',
      'b.example.org A',
      'a.example.org A +tcp',
      'a.example.org A +from=2001:db8::7',
    )
    const requests = lines.filter((line) => line.startsWith('coredns_dns_requests_total{'))
    assert.deepEqual(requests.toSorted(), [
      `coredns_dns_requests_total{${LABELS},proto="tcp",family="1",type="A"} 1`,
      `coredns_dns_requests_total{${LABELS},proto="udp",family="1",type="A"} 2`,
      `coredns_dns_requests_total{${LABELS},proto="udp",family="2",type="A"} 1`,
    ])
  })

  test('sorts durations into buckets that double from a quarter millisecond', async () => {
    const server = serve(block('prometheus', 'forward . 192.0.2.53'), {
      upstream: async () => {
        await server.host.advance(3)
        return ['NOERROR']
      },
    })
    await server.ask('www.example.org A')
    const lines = server.host.metrics.format().split('\n')
    const name = 'coredns_dns_request_duration_seconds'
    const counts = ['0.002', '0.004', '8.192', '+Inf'].map((le) =>
      lines.find((line) => line.startsWith(`${name}_bucket{${LABELS},le="${le}"}`))?.slice(-1),
    )
    assert.deepEqual(counts, ['0', '1', '1', '1'])
    assert.ok(lines.includes(`${name}_sum{${LABELS}} 0.003`))
  })

  test('times each answer of the fast path', () => {
    const objects = '- { apiVersion: v1, kind: Namespace, metadata: { name: default } }'
    const host = new FakeHost({ cluster: { objects } })
    // The clock goes faster and faster, so that no two answers take the same time.
    let nowMs = 0
    const elapsed = (): number => (nowMs = 2 * nowMs + 1)
    const blocks = parseBlocks(block('prometheus', 'kubernetes c.test'))
    const resolver = createResolver(blocks, { ...host, metrics: host.metrics, elapsed })
    const client = new ResolverClient(resolver, { address: '', port: 1, transport: 'udp' })
    let expectedMs = 0
    for (let i = 0; i < 5; i++) {
      const startMs = 2 * nowMs + 1
      client.answer(parseQuestion('default.svc.c.test A').message)
      expectedMs += nowMs - startMs
    }
    const lines = host.metrics.format().split('\n')
    const name = 'coredns_dns_request_duration_seconds'
    assert.ok(lines.includes(`${name}_sum{${LABELS}} ${expectedMs / 1000}`), `${expectedMs} ms`)
    assert.ok(lines.includes(`${name}_count{${LABELS}} 5`))
  })

  test('has the names that CoreDNS has', async () => {
    const lines = await metricsAfter(ROOT_BLOCK, 'www.example.org A +do')
    const names = lines
      .filter((line) => line.startsWith('# TYPE coredns_'))
      .map((line) => line.slice(7))
    assert.deepEqual(names, [
      'coredns_build_info gauge',
      'coredns_dns_do_requests_total counter',
      'coredns_dns_request_duration_seconds histogram',
      'coredns_dns_request_size_bytes histogram',
      'coredns_dns_requests_total counter',
      'coredns_dns_response_size_bytes histogram',
      'coredns_dns_responses_total counter',
      'coredns_panics_total counter',
    ])
  })

  test('reports the version and build', async () => {
    const labels = `version="${VERSION}",revision="",goversion="test-1.0"`
    const lines = await metricsAfter(ROOT_BLOCK)
    assert.ok(lines.includes(`coredns_build_info{${labels}} 1`))
  })

  test('reports the enabled plugins', () => {
    const { host, resolver } = serve(block('prometheus', 'errors', 'whoami', 'health'))
    const enabled = (): string[] =>
      host.metrics
        .format()
        .split('\n')
        .filter((line) => line.startsWith('coredns_plugin_enabled{'))
    const all = (value: number): string[] =>
      ['prometheus', 'errors', 'whoami'].map(
        (name) => `coredns_plugin_enabled{${LABELS},name="${name}"} ${value}`,
      )
    assert.deepEqual(enabled(), [])
    resolver.start()
    assert.deepEqual(enabled(), all(1))
    resolver.stop()
    assert.deepEqual(enabled(), all(0))
  })

  test('keeps the addresses apart that a server is bound to', async () => {
    const { resolver, host } = serve(block('bind 127.0.0.1 ::1', 'prometheus', 'whoami'))
    const { message } = parseQuestion('www.example.org A')
    for (const localAddress of ['127.0.0.1', '::1', '::1', undefined]) {
      const at = localAddress === undefined ? {} : { localAddress }
      const client = { address: '192.0.2.1', port: 1, transport: 'udp', ...at } as const
      await new ResolverClient(resolver, client).answer(message)
    }
    const requests = host.metrics.format().match(/^coredns_dns_requests_total.*$/gm)
    const rest = 'zone=".",view="",proto="udp",family="1",type="A"'
    assert.deepEqual(requests, [
      `coredns_dns_requests_total{server="dns://127.0.0.1:53",${rest}} 2`,
      `coredns_dns_requests_total{server="dns://[::1]:53",${rest}} 2`,
    ])
  })

  test('accepts an option without effect here, and warns', () => {
    const { notices } = serve(block(directive('prometheus', 'runtime_metrics'))).resolver
    assert.deepEqual(notices.map(formatProblem), [
      'Corefile:3:5: "runtime_metrics" has no effect: there are no Go metrics',
    ])
  })

  const addresses: { name: string; line: string; address: string }[] = [
    { name: 'is served on localhost', line: 'prometheus', address: 'localhost:9153' },
    { name: 'is served at the configured address', line: 'prometheus :9253', address: ':9253' },
  ]
  for (const { name, line, address } of addresses) {
    test(name, () => {
      assert.deepEqual(serve(block(line)).resolver.features, [{ kind: 'metrics', address }])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is at one address',
      directives: ['prometheus :9153 :9154'],
      problem: 'Corefile:2:20: "prometheus" takes at most 1 argument(s), got ":9154"',
    },
    {
      name: 'has two options',
      directives: [directive('prometheus', 'x')],
      problem: 'Corefile:3:5: "prometheus" has no option "x"; it has runtime_metrics',
    },
    {
      name: 'is served without TLS',
      directives: [directive('prometheus', 'tls web.yml')],
      problem:
        'Corefile:3:5: "tls" is not supported; put a TLS proxy in front or bind to localhost',
    },
    {
      name: 'has a port',
      directives: ['prometheus localhost'],
      problem: 'Corefile:2:14: "localhost" is neither HOST:PORT nor :PORT',
    },
    {
      name: 'may appear once in a block',
      directives: ['prometheus', 'prometheus'],
      problem: 'Corefile:3:3: "prometheus" appears twice in this server block; remove one',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
