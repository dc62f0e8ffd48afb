/**
 * Counters, gauges and histograms, and their text form for Prometheus (exposition format 0.0.4).
 *
 * Not a library, because the answer path counts: a series is looked up once and is then a number in
 * an object, incremented without a call or an allocation; and because prom-client does not load in
 * a Worker.
 * @module
 */

/** The media type of the text form: Prometheus reads it by its version. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A series: a value for fixed labels. */
export type Series = { value: number }

/** A histogram series: non-cumulative counts per bucket, and the sum of the observations. */
export type HistogramSeries = { readonly counts: Float64Array; sum: number }

/** Name, help text and label names of a metric. */
export type MetricInfo = {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Most series, if fewer than others may have; further ones share one. */
  readonly seriesMax?: number
}

/**
 * Declares a metric, with the names of its labels separated by spaces. `build/metrics-page.ts`
 * reads all calls: name and help are literals, and constants hold the result.
 */
export function metricInfo(name: string, help: string, labels = ''): MetricInfo {
  return { name, help, labels: labels === '' ? [] : labels.split(' ') }
}

type Metric = MetricInfo & {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly bounds: readonly number[]
  readonly series: Map<string, Series>
  readonly histograms: Map<string, HistogramSeries>
}

/** Series that are formatted at a time: of a histogram, each has twenty lines or so. */
const SERIES_AT_ONCE = 100

/** Maximum number of series of a metric; further ones share a series with the labels `other`. */
const SERIES_MAX = 2000

/** The metrics of a process. The same name returns the same metric. */
export class Metrics {
  private readonly metrics = new Map<string, Metric>()

  /** Returns the series of a counter for label values in the order of its labels. */
  counter(info: MetricInfo, values: readonly string[] = []): Series {
    return this.find(this.metric(info, 'counter', []), values)
  }

  /** Returns the series of a gauge. */
  gauge(info: MetricInfo, values: readonly string[] = []): Series {
    return this.find(this.metric(info, 'gauge', []), values)
  }

  /** Returns the series of a histogram; `bounds` are upper bounds in ascending order. */
  histogram(
    info: MetricInfo,
    bounds: readonly number[],
    values: readonly string[] = [],
  ): HistogramSeries {
    const metric = this.metric(info, 'histogram', bounds)
    const key = seriesKey(metric, values, metric.histograms.size)
    const known = metric.histograms.get(key)
    if (known !== undefined) return known
    const series = { counts: new Float64Array(bounds.length + 1), sum: 0 }
    metric.histograms.set(key, series)
    return series
  }

  /** Removes all series of a metric, for gauges that are published again. */
  clear(name: string): void {
    this.metrics.get(name)?.series.clear()
  }

  /** Removes the series of a metric for label values. */
  remove({ name, labels }: MetricInfo, values: readonly string[]): void {
    this.metrics.get(name)?.series.delete(formatLabels(labels, values))
  }

  /** Formats all metrics, sorted by name. */
  format(): string {
    return [...this.texts()].join('')
  }

  /** Formats all metrics, sorted by name, as texts of few series each. */
  *texts(): Generator<string> {
    const sorted = [...this.metrics.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const metric of sorted) yield* textsOf(metric)
  }

  private metric(info: MetricInfo, type: Metric['type'], bounds: readonly number[]): Metric {
    const known = this.metrics.get(info.name)
    if (known !== undefined) return known
    const metric: Metric = { ...info, type, bounds, series: new Map(), histograms: new Map() }
    this.metrics.set(info.name, metric)
    return metric
  }

  private find(metric: Metric, values: readonly string[]): Series {
    const key = seriesKey(metric, values, metric.series.size)
    const known = metric.series.get(key)
    if (known !== undefined) return known
    const series = { value: 0 }
    metric.series.set(key, series)
    return series
  }
}

/** Returns the index of a value's bucket: the first bound that is not less than the value. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
  return bucket
}

/** Adds an observation to its bucket. */
export function observe(series: HistogramSeries, bounds: readonly number[], value: number): void {
  const bucket = bucketOf(bounds, value)
  series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
  series.sum += value
}

function seriesKey(metric: Metric, values: readonly string[], size: number): string {
  const key = formatLabels(metric.labels, values)
  const isKnown = metric.series.has(key) || metric.histograms.has(key)
  if (isKnown || size < (metric.seriesMax ?? SERIES_MAX)) return key
  return formatLabels(
    metric.labels,
    metric.labels.map(() => 'other'),
  )
}

function formatLabels(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => `${name}="${escapeLabel(values[i] ?? '')}"`).join(',')
}

function escapeLabel(value: string): string {
  return escapeHelp(value).replaceAll('"', '\\"')
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function* textsOf(metric: Metric): Generator<string> {
  const { name, help, type } = metric
  yield `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
  // Copies: a map that is cleared meanwhile would show some of its series twice.
  const [series, histograms] = [[...metric.series], [...metric.histograms]]
  for (let start = 0; start < series.length; start += SERIES_AT_ONCE) {
    yield series
      .slice(start, start + SERIES_AT_ONCE)
      .map(([labels, { value }]) => `${formatSample(name, labels, value)}\n`)
      .join('')
  }
  for (let start = 0; start < histograms.length; start += SERIES_AT_ONCE) {
    yield histograms
      .slice(start, start + SERIES_AT_ONCE)
      .flatMap(([labels, one]) => formatHistogram(metric, labels, one))
      .map((line) => `${line}\n`)
      .join('')
  }
}

function formatHistogram(metric: Metric, labels: string, series: HistogramSeries): string[] {
  const { name, bounds } = metric
  const separator = labels === '' ? '' : ','
  let total = 0
  const lines = [...bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    total += series.counts[i] ?? 0
    const le = Number.isFinite(bound) ? String(bound) : '+Inf'
    return formatSample(`${name}_bucket`, `${labels}${separator}le="${le}"`, total)
  })
  return [
    ...lines,
    formatSample(`${name}_sum`, labels, series.sum),
    formatSample(`${name}_count`, labels, total),
  ]
}

function formatSample(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`
}
