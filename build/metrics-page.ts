/**
 * Writes `docs/metrics.md` from the calls of `metricInfo` in `src`: `node build/metrics-page.ts`
 * after a change of one. A test compares the page with the code.
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { VERSION } from '../src/dns/telemetry/version.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'docs/metrics.md')

/** A metric as the code declares it. */
export type DeclaredMetric = {
  readonly name: string
  readonly type: string
  /** Names separated by spaces. */
  readonly labels: string
  readonly help: string
  /** The file that declares it, from the root. */
  readonly file: string
}

/** Chapters by the folder whose metrics they have. */
const CHAPTERS = [
  ['src/resolver/', 'Queries and plugins', 'Published by every process that answers queries.'],
  [
    'src/server/',
    'Server and process',
    'Published by `serve` and `node-cache`; those of the process, `nodejs_…` and `process_…`, by ' +
      'all commands with `--listen`.',
  ],
  [
    'src/cluster/',
    'Kubernetes API',
    'Published by what reads a cluster: `serve`, `export`, `openshift` and `router`.',
  ],
  ['src/exporter/', 'Exporter', 'Published by `export`.'],
  [
    'src/gateway/',
    'Gateway',
    'Published by `gateway` and the Worker. Those of a Worker are of one isolate: each scrape may ' +
      'reach another one, with counters of its own. It reads the manifests first, so its ages are ' +
      'those of now. [Data points](analytics.md) count for all isolates, and `kubedoh status` ' +
      'asks the objects.',
  ],
  ['src/operators/', 'On nodes and beside other systems', 'Published by the commands named.'],
] as const
const COMMANDS = {
  coredns_nodecache: 'node-cache',
  kubedoh_hosts: 'hosts',
  kubedoh_openshift: 'openshift',
}
/** Whose metric a prefix copies, the longest prefix first. */
const MODELS = {
  coredns_nodecache_: 'NodeLocal DNSCache',
  coredns_: 'CoreDNS',
  leader_election_: 'client-go',
  nodejs_: 'prom-client',
  process_: 'prom-client',
}

const STRINGS = String.raw`(?:(?:'(?:[^'\\]|\\.)*'|"[^"]*")(?:\s*\+\s*)?)+`
const DECLARED = new RegExp(
  String.raw`metricInfo\(\s*'(\w+)',\s*(${STRINGS})(?:,\s*('[\w ]+'|[A-Z_]+))?,?\s*\)`,
  'g',
)

/**
 * Returns the metrics that a file declares.
 * @throws {Error} for a metric without a use, or with labels that are not in the file
 */
export function declaredMetrics(file: string, text: string): readonly DeclaredMetric[] {
  return [...text.matchAll(DECLARED)].map((match) => {
    const [, name = '', help = '', labels = "''"] = match
    const constant = new RegExp(`const ${labels} = ('[^']+')`).exec(text)?.[1]
    const known = labels.startsWith("'") ? labels : constant
    const before = text.slice(0, match.index)
    const holder = [...before.matchAll(/(?:const (\w+)[^\n]*=|\.(counter|gauge|histogram)\()/g)].at(
      -1,
    )
    const used = new RegExp(String.raw`\.(counter|gauge|histogram)\([^)]*\b${holder?.[1]}\b`)
    const type = holder?.[2] ?? used.exec(text)?.[1]
    if (known === undefined || type === undefined) throw new Error(`${file}: cannot read ${name}`)
    return { name, type, labels: known.slice(1, -1), help: literal(help), file }
  })
}

/** Returns every metric of the code, sorted by name. */
export function allMetrics(root: string = ROOT): readonly DeclaredMetric[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(root, 'src', path))
    .flatMap((path) => declaredMetrics(relative(root, path), readFileSync(path, 'utf8')))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the page. A metric of `previous`, the page as it is, keeps its version. */
export function metricsPage(metrics: readonly DeclaredMetric[], previous: string): string {
  const chapters = CHAPTERS.map(([folder, title, text]) => {
    const rows = metrics
      .filter(({ file }) => file.startsWith(folder))
      .map((metric) => rowOf(metric, previous))
    return [`## ${title}`, '', text, '', ...HEAD, ...rows, ''].join('\n')
  })
  return [PREFACE, ...chapters].join('\n')
}

const HEAD = ['| name | type | labels | meaning | as in | since |', '|---|---|---|---|---|---|']
const PREFACE = `# Metrics

Every metric of kubedoh, as \`node build/metrics-page.ts\` reads it from the code; a test compares the two. The text form is
Prometheus' 0.0.4. \`serve\` publishes at the address of the \`prometheus\` plugin (\`localhost:9153\`), a gateway at
\`/metrics\` for operators ([HTTP API](http-api.md)), other commands at \`--listen\`.

*As in* names the project whose metric has the same name, labels and meaning: dashboards and alerts for it work. A metric has
2,000 series at most; the labels of further ones are \`other\`.
`

function rowOf({ name, type, labels, help, file }: DeclaredMetric, previous: string): string {
  const since = new RegExp(`^\\| \`${name}\` .*\\| (\\S+) \\|$`, 'm').exec(previous)?.[1] ?? VERSION
  const [, plugin] = /plugins\/([^/]+)\//.exec(file) ?? []
  const [, command] = Object.entries(COMMANDS).find(([prefix]) => name.startsWith(prefix)) ?? []
  const [, model = '–'] = Object.entries(MODELS).find(([prefix]) => name.startsWith(prefix)) ?? []
  const owner = plugin === undefined ? command : plugin.replaceAll('-', '_')
  const meaning = owner === undefined ? help : `\`${owner}\`: ${help}`
  const names = labels.split(' ').filter((label) => label !== '')
  const cells = [
    `\`${name}\``,
    type,
    names.map((label) => `\`${label}\``).join(' ') || '–',
    meaning.replaceAll('|', '\\|'),
    model,
    since,
  ]
  return `| ${cells.join(' | ')} |`
}

/** Joins the parts of a text that the code writes as `'…' + '…'`. */
function literal(code: string): string {
  const parts = code.match(/'(?:[^'\\]|\\.)*'|"[^"]*"/g) ?? []
  return parts.map((part) => part.slice(1, -1).replaceAll(/\\(.)/g, '$1')).join('')
}

if (import.meta.main) {
  writeFileSync(
    PAGE,
    metricsPage(allMetrics(), readFileSync(PAGE, { encoding: 'utf8', flag: 'a+' })),
  )
}
