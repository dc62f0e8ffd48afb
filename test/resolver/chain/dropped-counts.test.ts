import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { serve } from '../../ask.ts'

async function droppedAfter(corefile: string, ...questions: readonly string[]): Promise<string[]> {
  const server = serve(corefile)
  for (const question of questions) await server.ask(question)
  const lines = server.host.metrics.format().split('\n')
  return lines.filter((line) => line.includes('zone="dropped"') && !line.includes('_bucket'))
}

describe('queries without a server block', () => {
  const labels = 'server="dns://:53",zone="dropped",view=""'

  test('are counted where queries are', async () => {
    const corefile = 'a {\n prometheus\n whoami\n}\nb {\n whoami\n}'
    assert.deepEqual(await droppedAfter(corefile, 'x.c A', 'x.a A', 'x.b A', 'x.a CH TXT +do'), [
      `coredns_dns_do_requests_total{${labels}} 1`,
      `coredns_dns_request_duration_seconds_sum{${labels}} 0`,
      `coredns_dns_request_duration_seconds_count{${labels}} 2`,
      `coredns_dns_request_size_bytes_sum{${labels},proto="udp"} 53`,
      `coredns_dns_request_size_bytes_count{${labels},proto="udp"} 2`,
      `coredns_dns_requests_total{${labels},proto="udp",family="1",type="A"} 1`,
      `coredns_dns_requests_total{${labels},proto="udp",family="1",type="TXT"} 1`,
      `coredns_dns_response_size_bytes_sum{${labels},proto="udp"} 53`,
      `coredns_dns_response_size_bytes_count{${labels},proto="udp"} 2`,
      `coredns_dns_responses_total{${labels},rcode="REFUSED",plugin=""} 2`,
    ])
  })

  test('are not counted where nothing is', async () => {
    assert.deepEqual(await droppedAfter('a {\n whoami\n}', 'x.c A'), [])
  })
})
