/**
 * The `prometheus` plugin: counts queries under CoreDNS's metric names, so that existing dashboards
 * and alerts keep working.
 * @module
 */

import {
  argTexts,
  checkArgs,
  listenAddressOf,
  type OptionReaders,
  onlyDirective,
  readOptions,
} from '../../../corefile/arguments.ts'
import { type Problem, problemAt } from '../../../corefile/problem.ts'
import { formatName } from '../../../dns/names/name.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import { VERSION } from '../../../dns/telemetry/version.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { RequestCounts, serverIndex } from '../../contract/request-counts.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'

const ADDRESS_DEFAULT = 'localhost:9153'

const ENABLED = metricInfo(
  'coredns_plugin_enabled',
  'A metric that indicates whether a plugin is enabled on per server and zone basis.',
  'server zone view name',
)
const BUILD = metricInfo(
  'coredns_build_info',
  "A metric with a constant '1' value labeled by version, revision, and goversion from which " +
    'CoreDNS was built.',
  'version revision goversion',
)

/** Configures `prometheus [ADDRESS] { runtime_metrics }` (default `localhost:9153`). */
export const prometheusPlugin: PluginEntry = {
  name: 'prometheus',
  gateways: {
    at: 'gateway',
    is: 'noted',
    because: 'it counts queries, but opens no port; /metrics of the gateway itself has the metrics',
  },
  setup: (directives, context) => {
    const directive = onlyDirective(directives)
    const [word] = checkArgs(directive, 1)
    const address = word === undefined ? ADDRESS_DEFAULT : listenAddressOf(word)
    const notices = readOptions<Problem[]>(directive, READERS, [])
    const { host, zones, servers, view } = context
    const byLength = zones.toSorted((a, b) => b.length - a.length)
    const counts = servers.map(({ name }) =>
      byLength.map((zone) => new RequestCounts(host.metrics, [name, formatName(zone), view])),
    )
    host.metrics.gauge(BUILD, [VERSION, '', host.runtime]).value = 1
    return {
      features: [{ kind: 'metrics', address }],
      notices,
      plugin: {
        name: 'prometheus',
        start: () => addEnabled(context, 1),
        stop: () => addEnabled(context, -1),
        observe: observer(counts, servers, byLength),
      },
    }
  },
}

/** Counts queries by server address and zone; most blocks have one of each. */
function observer(
  counts: readonly (readonly RequestCounts[])[],
  servers: SetupContext['servers'],
  zones: readonly Uint8Array[],
): NonNullable<Plugin['observe']> {
  const [[only] = []] = counts
  if (only !== undefined && servers.length === 1 && zones.length === 1) {
    return (observation) => only.count(observation)
  }
  return (observation) => {
    const { query, client } = observation
    const ofServer = counts[serverIndex(servers, client)]
    ofServer?.[closestZoneIndex(zones, query)]?.count(observation)
  }
}

const READERS: OptionReaders<Problem[]> = {
  runtime_metrics: (option, notices) => {
    argTexts(option, 0)
    notices.push(problemAt(option, '"runtime_metrics" has no effect: there are no Go metrics'))
  },
  tls: '"tls" is not supported; put a TLS proxy in front or bind to localhost',
}

/** Adds to the gauges. During a reload both configurations count. */
function addEnabled({ host, servers, zones, view, peers }: SetupContext, by: 1 | -1): void {
  const [zone] = zones
  const zoneText = zone === undefined ? '' : formatName(zone)
  const plugins = new Set(peers().map(({ name }) => name))
  for (const { name } of servers) {
    for (const plugin of plugins) {
      host.metrics.gauge(ENABLED, [name, zoneText, view, plugin]).value += by
    }
  }
}
