import assert from 'node:assert/strict'
import { test } from 'vitest'
import { finish } from '../../../src/dns/bytes/steps.ts'
import { mergeMetrics, withoutGauges } from '../../../src/dns/telemetry/merge-metrics.ts'
import { Metrics, observe } from '../../../src/dns/telemetry/metrics.ts'

function threadWith(requests: number, zone: string, size = 7): string {
  const metrics = new Metrics()
  const info = { name: 'a_requests_total', help: 'Requests { of all }.', labels: ['zone'] }
  metrics.counter(info, [zone]).value = requests
  metrics.gauge({ name: 'b_info', help: 'Info.', labels: [] }).value = 1
  metrics.gauge({ name: 'b_cache_entries', help: 'Size.', labels: [] }).value = size
  const handles = { name: 'nodejs_active_resources', help: 'Handles.', labels: ['type'] }
  metrics.gauge(handles, ['Timeout']).value = size
  const times = metrics.histogram({ name: 'c_seconds', help: 'Times.', labels: [] }, [1])
  observe(times, [1], 0.5)
  observe(times, [1], requests)
  return metrics.format()
}

const merged = (texts: readonly string[]): string => finish(mergeMetrics(texts))

test('metrics of threads are added, and shared gauges appear once', () => {
  const text = merged([threadWith(3, 'a b{'), threadWith(4, 'c'), threadWith(5, 'c')])
  assert.deepEqual(text.split('\n'), [
    '# HELP a_requests_total Requests { of all }.',
    '# TYPE a_requests_total counter',
    'a_requests_total{zone="a b{"} 3',
    'a_requests_total{zone="c"} 9',
    '# HELP b_cache_entries Size.',
    '# TYPE b_cache_entries gauge',
    'b_cache_entries 21',
    '# HELP b_info Info.',
    '# TYPE b_info gauge',
    'b_info 1',
    '# HELP c_seconds Times.',
    '# TYPE c_seconds histogram',
    'c_seconds_bucket{le="1"} 3',
    'c_seconds_bucket{le="+Inf"} 6',
    'c_seconds_sum 13.5',
    'c_seconds_count 6',
    '# HELP nodejs_active_resources Handles.',
    '# TYPE nodejs_active_resources gauge',
    'nodejs_active_resources{type="Timeout"} 21',
    '',
  ])
})

test('empty metrics change nothing, and one thread’s metrics stay unchanged', () => {
  const text = threadWith(1, 'a')
  assert.equal(merged([text, '']), merged([text]))
  assert.equal(merged([merged([text])]), merged([text]))
})

test('a thread that is gone has counted, and has no sizes any more', () => {
  const text = threadWith(1, 'a')
  const names = withoutGauges(text).match(/^# TYPE \S+/gm)
  assert.deepEqual(names, ['# TYPE a_requests_total', '# TYPE c_seconds'])
  assert.equal(withoutGauges(''), '')
})

test('adds the bytes of the caches of all threads', () => {
  const texts = [1000, 2000].map((bytes) => {
    const metrics = new Metrics()
    metrics.gauge({ name: 'kubedoh_cache_bytes', help: 'Bytes.', labels: [] }).value = bytes
    return metrics.format()
  })
  assert.match(merged(texts), /^kubedoh_cache_bytes 3000$/m)
})

test('many lines are merged in many steps', () => {
  const metrics = new Metrics()
  const info = { name: 'a_requests_total', help: 'Requests.', labels: ['zone'] }
  for (let i = 0; i < 2000; i++) metrics.counter(info, [`z${i}`]).value = i
  const text = metrics.format()
  let steps = 0
  const merging = mergeMetrics([text, text])
  let next = merging.next()
  for (; next.done !== true; next = merging.next()) steps++
  assert.ok(steps > 25, `${steps} steps`)
  assert.match(next.value, /^a_requests_total\{zone="z1999"\} 3998$/m)
})
