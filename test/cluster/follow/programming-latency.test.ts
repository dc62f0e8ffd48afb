import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ProgrammingLatency } from '../../../src/cluster/follow/programming-latency.ts'
import type { EndpointSlice, Service } from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'

const NOW_MS = Date.UTC(2026, 0, 1)

function sliceSince(time: string): EndpointSlice {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': time }
  const metadata = { namespace: 'shop', name: 'web-1', annotations }
  const slice = parseObject({ kind: 'EndpointSlice', metadata, addressType: 'IPv4', endpoints: [] })
  assert.ok(slice?.kind === 'EndpointSlice')
  return slice
}

function serviceAt(clusterIP: string): Service {
  const metadata = { namespace: 'shop', name: 'web' }
  const service = parseObject({ kind: 'Service', metadata, spec: { clusterIP } })
  assert.ok(service?.kind === 'Service')
  return service
}

/** Sums and counts, as the metrics have them. */
function samples(metrics: Metrics): string[] {
  const lines = metrics.format().split('\n')
  return lines
    .filter((line) => /_(?:sum|count)\{/.test(line))
    .map((line) => line.replace('coredns_kubernetes_dns_programming_duration_seconds', ''))
}

test('changes are measured from their cause to their answer, by kind of Service', () => {
  const metrics = new Metrics()
  const latency = new ProgrammingLatency(metrics, () => NOW_MS)
  const [plain, headless] = [serviceAt('192.0.2.10'), serviceAt('None')]
  const since = '2025-12-31T23:59:58Z'
  latency.changed(sliceSince(since))
  assert.deepEqual(samples(metrics), [])
  latency.take()
  latency.answered(() => plain)
  latency.take()
  latency.answered(() => plain)
  latency.changed(sliceSince('2025-12-31T23:59:59.500Z'))
  latency.take()
  latency.answered(() => headless)
  assert.deepEqual(samples(metrics), [
    '_sum{service_kind="cluster_ip"} 2',
    '_count{service_kind="cluster_ip"} 1',
    '_sum{service_kind="headless_with_selector"} 0.5',
    '_count{service_kind="headless_with_selector"} 1',
  ])
})

test('slices without a trigger time or a Service are not measured', () => {
  const metrics = new Metrics()
  const latency = new ProgrammingLatency(metrics, () => NOW_MS)
  latency.changed(sliceSince('soon'))
  latency.take()
  latency.answered(() => assert.fail())
  latency.changed(sliceSince('2025-12-31T23:59:58Z'))
  latency.take()
  latency.answered(() => undefined)
  assert.deepEqual(samples(metrics), [])
})

test('a change that is still to come took no time', () => {
  const metrics = new Metrics()
  const latency = new ProgrammingLatency(metrics, () => NOW_MS)
  latency.changed(sliceSince('2026-01-01T00:00:09Z'))
  latency.take()
  latency.answered(() => serviceAt('192.0.2.10'))
  assert.equal(samples(metrics)[0], '_sum{service_kind="cluster_ip"} 0')
})

test('only so many wait', () => {
  const metrics = new Metrics()
  const latency = new ProgrammingLatency(metrics, () => NOW_MS)
  const slice = sliceSince('2025-12-31T23:59:58Z')
  for (let i = 0; i < 1001; i++) latency.changed(slice)
  latency.take()
  latency.answered(() => serviceAt('192.0.2.10'))
  assert.equal(samples(metrics)[1], '_count{service_kind="cluster_ip"} 1000')
})
