/**
 * Merges the metrics of several threads that run the same server.
 * @module
 */

type Merged = {
  /** The lines `# HELP` and `# TYPE`. */
  readonly head: readonly string[]
  readonly type: string
  /** Sample values by name and labels. */
  readonly samples: Map<string, number>
}

/** Gauges that each thread counts separately. */
const OWN_COUNTS = /_cache_(?:entries|bytes)$/

/**
 * Merges texts of `Metrics.format`. Adds counters, histograms and the gauges of `OWN_COUNTS`; of
 * other gauges, which describe what the threads share, takes the maximum.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, Merged>()
  for (const text of texts) {
    let current: Merged | undefined
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) current = metricOf(metrics, line)
      else if (line.startsWith('# TYPE ')) current = typed(metrics, current, line)
      else if (line !== '' && current !== undefined) add(current, line)
    }
  }
  const names = [...metrics.keys()].sort()
  return names.map((name) => format(metrics.get(name))).join('')
}

/** Removes all gauges, which no longer apply after a thread has ended. */
export function withoutGauges(text: string): string {
  const metrics = text.split(/^(?=# HELP )/m)
  return metrics.filter((metric) => !/^# TYPE \S+ gauge$/m.test(metric)).join('')
}

function metricOf(metrics: Map<string, Merged>, help: string): Merged {
  const name = help.split(' ', 3)[2] ?? ''
  const known = metrics.get(name) ?? { head: [help], type: '', samples: new Map<string, number>() }
  metrics.set(name, known)
  return known
}

function typed(
  metrics: Map<string, Merged>,
  current: Merged | undefined,
  line: string,
): Merged | undefined {
  if (current === undefined || current.type !== '') return current
  const [, , name = '', type = ''] = line.split(' ')
  const known: Merged = { ...current, head: [...current.head, line], type }
  metrics.set(name, known)
  return known
}

/** Parses a sample: its value follows the last space, after all labels. */
function add({ type, samples }: Merged, line: string): void {
  const space = line.lastIndexOf(' ')
  const name = line.slice(0, space)
  const value = Number(line.slice(space + 1))
  const before = samples.get(name)
  const isSum = type !== 'gauge' || OWN_COUNTS.test(name.split('{', 1)[0] ?? '')
  if (before === undefined) samples.set(name, value)
  else samples.set(name, isSum ? before + value : Math.max(before, value))
}

function format(metric: Merged | undefined): string {
  if (metric === undefined) return ''
  const samples = Array.from(metric.samples, ([name, value]) => `${name} ${value}`)
  return `${[...metric.head, ...samples].join('\n')}\n`
}
