/**
 * Cluster sources over scripted API servers.
 * @module
 */

import type { ApiConnection } from '../../src/cluster/api/object-api.ts'
import { type KubernetesOptions, parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import type { LogEvent } from '../../src/dns/telemetry/log.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import {
  type ClusterSourceOptions,
  ClusterSources,
} from '../../src/server/serve/cluster-sources.ts'
import { block, directive, parseBlocks } from '../ask.ts'
import { ScriptedApi } from '../cluster/follow/scripted-api.ts'

/** The time of the sources' clock at first. */
export const NOW_MS: number = Date.UTC(2026, 0, 1)

/** Returns the `kubernetes` directives of a block. */
export function directivesOf(...lines: readonly string[]): KubernetesOptions[] {
  const blocks = parseBlocks(block(...lines))
  return blocks.flatMap((found) =>
    found.directives
      .filter(({ name }) => name === 'kubernetes')
      .map((line) => parseKubernetes(line, [])),
  )
}

/** Returns the only directive of a block. */
export function directiveOf(...options: readonly string[]): KubernetesOptions {
  const [first] = directivesOf(directive('kubernetes cluster.local', ...options))
  if (first === undefined) throw new TypeError('The block has no directive')
  return first
}

/** Cluster sources over scripted API servers, in the order in which they are opened. */
export class Sources extends ClusterSources {
  readonly apis: ScriptedApi[]
  readonly connections: ApiConnection[]
  readonly events: LogEvent[]
  readonly clock: { nowMs: number }
  readonly loads: { count: number }

  constructor(options: Partial<ClusterSourceOptions> = {}) {
    const apis: ScriptedApi[] = []
    const connections: ApiConnection[] = []
    const events: LogEvent[] = []
    const clock = { nowMs: NOW_MS }
    const loads = { count: 0 }
    super({
      objectPaths: [],
      kubeconfig: '',
      folder: '/etc/dns',
      localAddresses: ['192.0.2.53'],
      loadApi: () => {
        loads.count++
        return Promise.resolve((connection) => {
          connections.push(connection)
          const api = new ScriptedApi()
          apis.push(api)
          return api
        })
      },
      log: (event) => events.push(event),
      metrics: new Metrics(),
      now: () => clock.nowMs,
      elapsed: () => clock.nowMs - 777,
      ...options,
    })
    this.apis = apis
    this.connections = connections
    this.events = events
    this.clock = clock
    this.loads = loads
  }
}
