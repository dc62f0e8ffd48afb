import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type HistogramSeries, Metrics, observe } from '../../../src/dns/telemetry/metrics.ts'

const QUERIES = { name: 'queries_total', help: 'Queries.', labels: ['zone', 'type'] }
const UP = { name: 'up', help: 'Whether it is up.', labels: [] }
const SIZE = { name: 'size_bytes', help: 'Sizes.', labels: ['zone'] }
const BOUNDS = [0, 100, 2.5e3]

/** Lines of the samples of some metrics, without those that describe them. */
function samples(metrics: Metrics): string[] {
  return metrics
    .format()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

describe('Metrics', () => {
  test('returns the same series for the same label values', () => {
    const metrics = new Metrics()
    metrics.counter(QUERIES, ['a', 'A']).value++
    metrics.counter(QUERIES, ['a', 'A']).value++
    metrics.counter(QUERIES, ['a', 'AAAA']).value++
    assert.deepEqual(samples(metrics), [
      'queries_total{zone="a",type="A"} 2',
      'queries_total{zone="a",type="AAAA"} 1',
    ])
  })

  test('formats few series at a time, each once, whatever changes meanwhile', () => {
    const metrics = new Metrics()
    for (let i = 0; i < 2000; i++) metrics.gauge(SIZE, [`${i}`]).value = i
    const texts: string[] = []
    for (const text of metrics.texts()) {
      if (texts.length === 5) metrics.clear(SIZE.name)
      metrics.gauge(SIZE, [`${texts.length}`]).value = 7
      texts.push(text)
    }
    assert.ok(texts.length > 15, `${texts.length} texts`)
    const names = texts.join('').match(/^size_bytes\{\S+/gm)
    assert.deepEqual([names?.length, new Set(names).size], [2000, 2000])
  })

  test('returns the same histogram for the same label values', () => {
    const metrics = new Metrics()
    const series = metrics.histogram(SIZE, BOUNDS, ['a'])
    assert.equal(metrics.histogram(SIZE, BOUNDS, ['a']), series)
    assert.notEqual(metrics.histogram(SIZE, BOUNDS, ['b']), series)
  })

  test('distinguishes label values that look alike when joined', () => {
    const metrics = new Metrics()
    const one = metrics.counter(QUERIES, ['a",type="b', ''])
    const two = metrics.counter(QUERIES, ['a', 'b",type="'])
    assert.notEqual(one, two)
  })

  test('has an empty value for each label that gets none', () => {
    const metrics = new Metrics()
    assert.equal(metrics.counter(QUERIES, ['a']), metrics.counter(QUERIES, ['a', '']))
    assert.deepEqual(samples(metrics), ['queries_total{zone="a",type=""} 0'])
  })

  test('separates the counters of two registries', () => {
    const [one, two] = [new Metrics(), new Metrics()]
    one.counter(UP).value = 1
    assert.equal(two.counter(UP).value, 0)
  })

  test('forgets the series of a gauge, and no others', () => {
    const metrics = new Metrics()
    metrics.gauge(QUERIES, ['a', 'A']).value = 1
    metrics.gauge(UP).value = 1
    metrics.remove(QUERIES, ['a', 'AAAA'])
    assert.equal(samples(metrics).length, 2)
    metrics.remove(QUERIES, ['a', 'A'])
    assert.deepEqual(samples(metrics), ['up 1'])
    metrics.gauge(QUERIES, ['a', 'A']).value = 1
    metrics.clear('queries_total')
    metrics.clear('unknown')
    assert.deepEqual(samples(metrics), ['up 1'])
    assert.equal(metrics.gauge(QUERIES, ['a', 'A']).value, 0)
  })
})

describe('the number of series', () => {
  const zones = Array.from({ length: 2000 }, (_, i) => `z${i}`)

  test('is at most 2,000 and one for all others', () => {
    const metrics = new Metrics()
    for (const zone of zones) metrics.counter(QUERIES, [zone, 'A']).value++
    for (const zone of ['x', 'y', 'z']) metrics.counter(QUERIES, [zone, 'A']).value++
    const lines = samples(metrics)
    assert.equal(lines.length, 2001)
    assert.equal(lines.at(-1), 'queries_total{zone="other",type="other"} 3')
  })

  test('does not keep known series from being found', () => {
    const metrics = new Metrics()
    for (const zone of zones) metrics.counter(QUERIES, [zone, 'A']).value++
    metrics.counter(QUERIES, ['z0', 'A']).value++
    assert.equal(samples(metrics)[0], 'queries_total{zone="z0",type="A"} 2')
  })

  test('is bounded for histograms as well', () => {
    const metrics = new Metrics()
    for (const zone of zones) metrics.histogram(SIZE, BOUNDS, [zone])
    const rest = metrics.histogram(SIZE, BOUNDS, ['x'])
    assert.equal(metrics.histogram(SIZE, BOUNDS, ['y']), rest)
    assert.notEqual(metrics.histogram(SIZE, BOUNDS, ['z0']), rest)
  })
})

describe('the text form', () => {
  test('is empty without metrics', () => {
    assert.equal(new Metrics().format(), '')
  })

  test('describes each metric once, sorted by name', () => {
    const metrics = new Metrics()
    metrics.gauge(UP).value = 1
    metrics.counter(QUERIES, ['b', 'A']).value = 2
    metrics.counter(QUERIES, ['a', 'A']).value = 1.5
    observe(metrics.histogram(SIZE, BOUNDS, ['a']), BOUNDS, 7)
    assert.equal(
      metrics.format(),
      `# HELP queries_total Queries.
# TYPE queries_total counter
queries_total{zone="b",type="A"} 2
queries_total{zone="a",type="A"} 1.5
# HELP size_bytes Sizes.
# TYPE size_bytes histogram
size_bytes_bucket{zone="a",le="0"} 0
size_bytes_bucket{zone="a",le="100"} 1
size_bytes_bucket{zone="a",le="2500"} 1
size_bytes_bucket{zone="a",le="+Inf"} 1
size_bytes_sum{zone="a"} 7
size_bytes_count{zone="a"} 1
# HELP up Whether it is up.
# TYPE up gauge
up 1
`,
    )
  })

  test('has no label but "le" in a histogram without labels', () => {
    const metrics = new Metrics()
    metrics.histogram({ ...SIZE, labels: [] }, [1])
    assert.deepEqual(samples(metrics), [
      'size_bytes_bucket{le="1"} 0',
      'size_bytes_bucket{le="+Inf"} 0',
      'size_bytes_sum 0',
      'size_bytes_count 0',
    ])
  })

  test('has label values escaped so that they can be read back', () => {
    const value = fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', 'a', '{', ',', 'é') })
    fc.assert(
      fc.property(value, value, (zone, type) => {
        const metrics = new Metrics()
        metrics.counter(QUERIES, [zone, type])
        const [line = '', ...others] = samples(metrics)
        assert.deepEqual(others, [])
        const quoted = /^queries_total\{zone=("(?:[^"\\\n]|\\[\\"n])*"),type=(".*")\} 0$/.exec(line)
        assert.deepEqual(
          quoted?.slice(1).map((text) => JSON.parse(text)),
          [zone, type],
        )
      }),
    )
  })

  const helps: { name: string; help: string; text: string }[] = [
    { name: 'a line end', help: 'a\nb', text: '# HELP up a\\nb' },
    { name: 'a backslash', help: 'a\\n', text: '# HELP up a\\\\n' },
    { name: 'no quote', help: '"a"', text: '# HELP up "a"' },
  ]
  for (const { name, help, text } of helps) {
    test(`escapes ${name} in the help text`, () => {
      const metrics = new Metrics()
      metrics.gauge({ ...UP, help })
      assert.equal(metrics.format().split('\n')[0], text)
    })
  }
})

describe('observe', () => {
  const cases: { name: string; value: number; counts: number[] }[] = [
    { name: 'counts a value on a bound below it', value: 100, counts: [0, 1, 0, 0] },
    { name: 'counts a value over a bound above it', value: 100.1, counts: [0, 0, 1, 0] },
    { name: 'counts the least value in the first bucket', value: -1, counts: [1, 0, 0, 0] },
    { name: 'counts a value over all bounds', value: 1e9, counts: [0, 0, 0, 1] },
  ]
  for (const { name, value, counts } of cases) {
    test(name, () => {
      const series: HistogramSeries = { counts: new Float64Array(4), sum: 1 }
      observe(series, BOUNDS, value)
      assert.deepEqual([...series.counts], counts)
      assert.equal(series.sum, value + 1)
    })
  }

  test('counts every value in just the buckets whose bounds it is not over', () => {
    const values = fc.array(fc.integer({ min: -10, max: 3000 }), { maxLength: 50 })
    fc.assert(
      fc.property(values, (list) => {
        const metrics = new Metrics()
        const series = metrics.histogram(SIZE, BOUNDS, ['a'])
        for (const value of list) observe(series, BOUNDS, value)
        assert.equal(series.counts.length, BOUNDS.length + 1)
        const wanted = [...BOUNDS, Number.POSITIVE_INFINITY].map(
          (bound) => list.filter((value) => value <= bound).length,
        )
        const sum = list.reduce((total, value) => total + value, 0)
        assert.deepEqual(
          samples(metrics).map((line) => Number(line.split(' ')[1])),
          [...wanted, sum, list.length],
        )
      }),
    )
  })
})
