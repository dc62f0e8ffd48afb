/**
 * Writes the Grafana dashboards of the chart: `node build/dashboards.ts` after a change of the
 * tables here. A test compares the files, and the metrics in the queries with those of running
 * processes.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Version of Grafana's dashboard model: that of Grafana 11. Newer ones migrate it. */
const SCHEMA_VERSION = 39
const COLUMNS = 24
const SOURCE = { type: 'prometheus', uid: `\${datasource}` }

/** Title, unit, and queries by their legend. A `stat` shows one number, the others a graph. */
type Panel = readonly [
  title: string,
  unit: string,
  queries: Readonly<Record<string, string>>,
  kind?: 'stat',
]

const quantiles = (metric: string, by: string, legend = ''): Record<string, string> =>
  Object.fromEntries(
    [0.5, 0.9, 0.99].map((share) => [
      `${legend}p${share * 100}`,
      `histogram_quantile(${share}, sum by (${by}) (rate(${metric}{$at}[$__rate_interval])))`,
    ]),
  )
const rate = (metric: string, by: string, labels = ''): string =>
  `sum by (${by}) (rate(${metric}{$at${labels}}[$__rate_interval]))`

const PROCESS: readonly Panel[] = [
  ['Memory', 'bytes', { '{{instance}}': 'process_resident_memory_bytes{$at}' }],
  ['CPU', 'percentunit', { '{{instance}}': rate('process_cpu_seconds_total', 'instance') }],
  ['Event loop lag, p99', 's', { '{{instance}}': 'nodejs_eventloop_lag_p99_seconds{$at}' }],
]

const QUERIES: readonly Panel[] = [
  ['Queries', 'reqps', { '{{type}}': rate('coredns_dns_requests_total', 'type') }],
  ['Queries by transport', 'reqps', { '{{proto}}': rate('coredns_dns_requests_total', 'proto') }],
  ['Responses', 'reqps', { '{{rcode}}': rate('coredns_dns_responses_total', 'rcode') }],
  ['Responses by plugin', 'reqps', { '{{plugin}}': rate('coredns_dns_responses_total', 'plugin') }],
  ['Time to respond', 's', quantiles('coredns_dns_request_duration_seconds_bucket', 'le')],
  ['Response size', 'bytes', quantiles('coredns_dns_response_size_bytes_bucket', 'le')],
]

const OVERVIEW: readonly Panel[] = [
  ['Up', 'none', { '': 'sum(up{$at})' }, 'stat'],
  ['Queries', 'reqps', { '': rate('coredns_dns_requests_total', '') }, 'stat'],
  [
    'SERVFAIL',
    'percentunit',
    {
      '': `${rate('coredns_dns_responses_total', '', ',rcode="SERVFAIL"')} / ${rate('coredns_dns_responses_total', '')}`,
    },
    'stat',
  ],
  [
    'p99',
    's',
    {
      '': 'histogram_quantile(0.99, sum by (le) (rate(coredns_dns_request_duration_seconds_bucket{$at}[$__rate_interval])))',
    },
    'stat',
  ],
]

const SERVER: readonly Panel[] = [
  ...OVERVIEW,
  ['Panics', 'none', { '': 'sum(increase(coredns_panics_total{$at}[$__range]))' }, 'stat'],
  [
    'Corefiles refused',
    'none',
    { '': 'sum(increase(coredns_reload_failed_total{$at}[$__range]))' },
    'stat',
  ],
  ...QUERIES,
  [
    'Service to DNS',
    's',
    quantiles(
      'coredns_kubernetes_dns_programming_duration_seconds_bucket',
      'service_kind, le',
      '{{service_kind}} ',
    ),
  ],
  [
    'Requests to the API server',
    'reqps',
    {
      '{{code}} {{method}}': rate('coredns_kubernetes_rest_client_requests_total', 'code, method'),
    },
  ],
  ['Cache entries', 'none', { '{{type}}': 'sum by (type) (coredns_cache_entries{$at})' }],
  [
    'Cache hit ratio',
    'percentunit',
    {
      hits: `${rate('coredns_cache_hits_total', '')} / ${rate('coredns_cache_requests_total', '')}`,
    },
  ],
  [
    'Queries to upstreams',
    'reqps',
    { '{{to}} {{rcode}}': rate('coredns_proxy_request_duration_seconds_count', 'to, rcode') },
  ],
  [
    'Time of upstreams, p99',
    's',
    {
      '{{to}}':
        'histogram_quantile(0.99, sum by (to, le) (rate(coredns_proxy_request_duration_seconds_bucket{$at}[$__rate_interval])))',
    },
  ],
  [
    'Failed health checks of upstreams',
    'reqps',
    { '{{to}}': rate('coredns_proxy_healthcheck_failures_total', 'to') },
  ],
  ['Time of /health', 's', quantiles('coredns_health_request_duration_seconds_bucket', 'le')],
  [
    'Datagrams dropped by the kernel',
    'pps',
    { '{{instance}}': rate('kubedoh_udp_dropped_total', 'instance') },
  ],
  ...PROCESS,
]

const EXPORTER: readonly Panel[] = [
  ['Leaders', 'none', { '': 'sum(leader_election_master_status{$at})' }, 'stat'],
  [
    'Last confirmed',
    's',
    { '': 'time() - max(kubedoh_exporter_confirmed_timestamp_seconds{$at})' },
    'stat',
  ],
  ['Records', 'none', { '': 'max(kubedoh_exporter_records{$at})' }, 'stat'],
  ['Shards', 'none', { '': 'max(kubedoh_exporter_shards{$at})' }, 'stat'],
  ['Contested hostnames', 'none', { '': 'max(kubedoh_exporter_host_conflicts{$at})' }, 'stat'],
  ['Objects without a name', 'none', { '': 'max(kubedoh_exporter_unnamed_objects{$at})' }, 'stat'],
  ['Publications', 'reqps', { '{{result}}': rate('kubedoh_exporter_publishes_total', 'result') }],
  ['Upload', 'Bps', { '{{instance}}': rate('kubedoh_exporter_uploaded_bytes_total', 'instance') }],
  [
    'Change to acknowledgement',
    's',
    quantiles('kubedoh_exporter_acknowledged_duration_seconds_bucket', 'le'),
  ],
  [
    'Service to gateway',
    's',
    quantiles(
      'coredns_kubernetes_dns_programming_duration_seconds_bucket',
      'service_kind, le',
      '{{service_kind}} ',
    ),
  ],
  ['Objects', 'none', { '{{resource}}': 'max by (resource) (kubedoh_exporter_objects{$at})' }],
  [
    'Open watches',
    'none',
    { '{{instance}} {{resource}}': 'kubedoh_exporter_watch_connected{$at}' },
  ],
  [
    'Kinds that can be read',
    'none',
    { '{{resource}}': 'min by (resource) (kubedoh_exporter_kind_available{$at})' },
  ],
  [
    'Lists',
    'none',
    {
      '{{resource}}':
        'sum by (resource) (increase(kubedoh_exporter_lists_total{$at}[$__rate_interval]))',
    },
  ],
  [
    'Changes that a watch missed',
    'none',
    {
      '{{resource}}':
        'sum by (resource) (increase(kubedoh_exporter_missed_changes_total{$at}[$__rate_interval]))',
    },
  ],
  [
    'Requests to the API server',
    'reqps',
    {
      '{{resource}} {{verb}} {{code}}': rate(
        'kubedoh_kubernetes_requests_total',
        'resource, verb, code',
      ),
    },
  ],
  [
    'Elections',
    'none',
    {
      '{{instance}}':
        'sum by (instance) (increase(kubedoh_exporter_elected_total{$at}[$__rate_interval]))',
    },
  ],
  ...PROCESS,
]

const GATEWAY: readonly Panel[] = [
  ...OVERVIEW,
  [
    'Clusters',
    'none',
    { '': 'count(count by (cluster) (kubedoh_snapshot_generation{$at}))' },
    'stat',
  ],
  ['Panics', 'none', { '': 'sum(increase(coredns_panics_total{$at}[$__range]))' }, 'stat'],
  ['Age of names', 's', { '{{cluster}}': 'max by (cluster) (kubedoh_snapshot_age_seconds{$at})' }],
  ['Records', 'none', { '{{cluster}}': 'max by (cluster) (kubedoh_snapshot_records{$at})' }],
  [
    'Publications with changes',
    'none',
    {
      '{{cluster}}':
        'max by (cluster) (changes(kubedoh_snapshot_generation{$at}[$__rate_interval]))',
    },
  ],
  ...QUERIES,
  [
    'Rejected for too many queries',
    'reqps',
    { rejected: rate('kubedoh_deferred_rejects_total', '') },
  ],
  [
    'Queries by cluster',
    'reqps',
    { '{{cluster}}': rate('kubedoh_gateway_cluster_requests_total', 'cluster') },
  ],
  [
    'Requests by client token',
    'reqps',
    { '{{token}}': rate('kubedoh_gateway_token_requests_total', 'token') },
  ],
]

/** The dashboards, by component: their title and panels. */
const DASHBOARDS: Readonly<Record<string, readonly [string, readonly Panel[]]>> = {
  server: ['kubedoh: DNS server', SERVER],
  exporter: ['kubedoh: exporter', EXPORTER],
  gateway: ['kubedoh: gateway', GATEWAY],
}

/** Returns the text of each dashboard, by file name. */
export function formatDashboards(): ReadonlyMap<string, string> {
  const files = Object.entries(DASHBOARDS).map(([component, [title, panels]]) => {
    const { panels: laidOut, ...rest } = dashboardOf(component, title, panels)
    // A panel on each line: a change of one is a change of one line.
    const head = JSON.stringify(rest, undefined, 2).replace(/\n}$/, '')
    const lines = laidOut.map((panel) => `    ${JSON.stringify(panel)}`).join(',\n')
    return [`${component}.json`, `${head},\n  "panels": [\n${lines}\n  ]\n}\n`] as const
  })
  return new Map(files)
}

function dashboardOf(component: string, title: string, panels: readonly Panel[]) {
  // CoreDNS and the node cache export the metrics of the server's dashboard, too.
  const series = component === 'server' ? 'coredns_build_info' : `up{job=~".*${component}"}`
  return {
    uid: `kubedoh-${component}`,
    title,
    tags: ['kubedoh', 'dns'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        variable('job', `label_values(${series}, job)`),
        variable('instance', 'label_values(up{job="$job"}, instance)'),
      ],
    },
    panels: layOut(panels),
  }
}

function variable(name: 'job' | 'instance', query: string) {
  const isAll = name === 'instance'
  const all = isAll ? { includeAll: true, multi: true, allValue: '.*' } : {}
  return {
    name,
    type: 'query',
    label: name,
    datasource: SOURCE,
    query,
    refresh: 2,
    sort: 1,
    ...all,
  }
}

/** Places panels from left to right, in rows. */
function layOut(panels: readonly Panel[]) {
  let [x, y, rowHeight] = [0, 0, 0]
  return panels.map(([title, unit, queries, kind], index) => {
    const [w, h] = kind === 'stat' ? [4, 4] : [8, 8]
    if (x + w > COLUMNS || (rowHeight !== 0 && rowHeight !== h)) [x, y] = [0, y + rowHeight]
    rowHeight = h
    const gridPos = { x, y, w, h }
    x += w
    return {
      id: index + 1,
      type: kind ?? 'timeseries',
      title,
      gridPos,
      datasource: SOURCE,
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: targetsOf(queries),
    }
  })
}

function targetsOf(queries: Readonly<Record<string, string>>) {
  return Object.entries(queries).map(([legendFormat, query], index) => {
    const expr = query
      .replaceAll('$at', 'job="$job",instance=~"$instance"')
      .replaceAll('sum by () ', 'sum')
    return { refId: String.fromCharCode(0x41 + index), datasource: SOURCE, expr, legendFormat }
  })
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../deploy/chart/dashboards')
  for (const [name, text] of formatDashboards()) writeFileSync(join(folder, name), text)
}
