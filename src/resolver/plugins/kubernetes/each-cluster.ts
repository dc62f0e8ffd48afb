/**
 * `cluster *` of a gateway: answers for each cluster that publishes, in zones whose first label is
 * the cluster's identifier. The plugin of a cluster is created by the first query for it, so that
 * neither the start nor a query for one cluster costs more with a thousand of them.
 * @module
 */
import type { KubernetesOptions } from '../../../corefile/kubernetes-options.ts'
import { wildcardParent } from '../../../corefile/wildcard-zone.ts'
import { asWordBytes, byteAt, type SizedBytes, toLatin1 } from '../../../dns/bytes/bytes.ts'
import { joinName, parseRelativeName } from '../../../dns/names/name.ts'
import { endsIn, type Query } from '../../../dns/wire/query.ts'
import { ZoneIndex } from '../../../dns/wire/zone-index.ts'
import type { Plugin } from '../../contract/plugin.ts'

/** What the plugin needs. */
type EachClusterOptions = {
  readonly options: KubernetesOptions
  /** Returns whether a cluster publishes. */
  readonly isPublished: (cluster: string) => boolean
  /** Creates the plugin of a cluster. */
  readonly create: (options: KubernetesOptions) => Plugin
}

/** The plugins of clusters. */
export class EachCluster {
  private readonly given: EachClusterOptions
  private readonly parents: readonly SizedBytes[]
  private readonly byCluster = new Map<string, Plugin>()
  private readonly byZone = new ZoneIndex<Plugin>()

  constructor(given: EachClusterOptions) {
    this.given = given
    const parents = given.options.zones.flatMap((zone) => wildcardParent(zone) ?? [])
    this.parents = parents.map(asWordBytes)
  }

  /** Returns the plugin of the cluster that a query is for. */
  of(query: Query): Plugin | undefined {
    const known = this.byZone.closest(query)
    if (known !== undefined) return known
    const parent = this.parents.find((zone) => endsIn(query, zone))
    const label = parent === undefined ? '' : labelAbove(query, query.nameBytes - parent.size)
    return label === '' ? undefined : this.open(label)
  }

  /** Returns the plugin of a cluster, which is created once; `undefined` if it does not publish. */
  open(cluster: string): Plugin | undefined {
    const known = this.byCluster.get(cluster)
    if (known !== undefined) return known
    const { options, isPublished, create } = this.given
    const label = isPublished(cluster) ? parseRelativeName(cluster) : undefined
    if (label === undefined) return undefined
    const zones = this.parents.flatMap(({ bytes }) => joinName(label, bytes) ?? [])
    const plugin = create({ ...options, zones, cluster, clusters: [cluster] })
    this.byCluster.set(cluster, plugin)
    for (const zone of zones) this.byZone.set(zone, plugin)
    return plugin
  }

  /** Returns the plugin that serves all clusters. */
  asPlugin(): Plugin {
    return {
      name: 'kubernetes',
      fastPath: {
        answer: (query, reply, how) => this.of(query)?.fastPath?.answer?.(query, reply, how) ?? 0,
      },
      hides: (visibility, query, blockZone) =>
        this.of(query)?.hides?.(visibility, query, blockZone) === true,
      explain: (query, client) => this.of(query)?.explain?.(query, client) ?? [],
      metadata: (label, asked) => this.of(asked.query)?.metadata?.(label, asked),
      serve: (request, next) => {
        const { serve } = this.of(request.query) ?? {}
        return serve === undefined ? next(request) : serve(request, next)
      },
    }
  }
}

/** Returns the label before an offset of the query name as text; '' at the start of the name. */
function labelAbove({ name, labels, labelCount }: Query, end: number): string {
  for (let i = labelCount - 1; i >= 0; i--) {
    const start = byteAt(labels, i)
    if (start < end) return toLatin1(name.subarray(start + 1, end))
  }
  return ''
}
