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

/** Lines that are read, or written, at a time. */
const LINES_AT_ONCE = 200

/** Gauges that each thread counts separately. */
const OWN_COUNTS = /_cache_(?:entries|bytes)$|^nodejs_active_resources$/

/**
 * Merges texts of `Metrics.format`, in steps. Adds counters, histograms and the gauges of
 * `OWN_COUNTS`; of other gauges, which describe what the threads share, takes the maximum.
 */
export function* mergeMetrics(texts: readonly string[]): Generator<void, string> {
  const metrics = new Map<string, Merged>()
  for (const text of texts) {
    let current: Merged | undefined
    let count = 0
    for (const line of linesOf(text)) {
      if (line.startsWith('# HELP ')) current = metricOf(metrics, line)
      else if (line.startsWith('# TYPE ')) current = typed(metrics, current, line)
      else if (line !== '' && current !== undefined) add(current, line)
      if (++count % LINES_AT_ONCE === 0) yield
    }
  }
  const merged = [...metrics].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts: string[] = []
  for (const [, { head, samples }] of merged) {
    parts.push(...head.map((line) => `${line}\n`))
    for (const [name, value] of samples) {
      parts.push(`${name} ${value}\n`)
      if (parts.length % LINES_AT_ONCE === 0) yield
    }
  }
  return parts.join('')
}

/** Splits a text at its line ends, one after the other. */
function* linesOf(text: string): Generator<string> {
  let start = 0
  for (;;) {
    const end = text.indexOf('\n', start)
    if (end === -1) break
    yield text.slice(start, end)
    start = end + 1
  }
  yield text.slice(start)
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
