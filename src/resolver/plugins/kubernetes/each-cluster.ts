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
import type { PublishedClusters } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { Next, Request } from '../../contract/request.ts'
import { notReady } from './with-snapshot.ts'

/** What the plugin needs. */
type EachClusterOptions = {
  readonly options: KubernetesOptions
  readonly published: PublishedClusters
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
    const label = this.labelOf(query)
    return label === '' ? undefined : this.open(label)
  }

  /** Returns the plugin of a cluster, which is created once; `undefined` if it does not publish. */
  open(cluster: string): Plugin | undefined {
    const known = this.byCluster.get(cluster)
    if (known !== undefined) return known
    const { options, published, create } = this.given
    if (!published.has(cluster)) return undefined
    const zones = this.zonesOf(cluster)
    const plugin = create({ ...options, zones, cluster, clusters: [cluster] })
    this.byCluster.set(cluster, plugin)
    for (const zone of zones) this.byZone.set(zone, plugin)
    return plugin
  }

  /** Drops the plugin of a cluster that does not publish any more. */
  close(cluster: string): void {
    if (!this.byCluster.delete(cluster)) return
    for (const zone of this.zonesOf(cluster)) this.byZone.delete(zone)
  }

  /** Returns the zones of a cluster, whether it publishes or not. */
  zonesOf(cluster: string): readonly Uint8Array[] {
    const label = parseRelativeName(cluster)
    if (label === undefined) return []
    return this.parents.flatMap(({ bytes }) => joinName(label, bytes) ?? [])
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
        const { published } = this.given
        const isMissing = this.of(request.query) === undefined && this.labelOf(request.query) !== ''
        const loading = isMissing ? published.load() : undefined
        if (loading === undefined) return this.serve(request, next)
        return loading.then((isLoaded) =>
          isLoaded ? this.serve(request, next) : notReady('the list of clusters is not read yet'),
        )
      },
    }
  }

  private serve(request: Request, next: Next): MaybePromise<Outcome> {
    const { serve } = this.of(request.query) ?? {}
    return serve === undefined ? next(request) : serve(request, next)
  }

  /** Returns the label of a query name that is in the place of the `*`; '' without one. */
  private labelOf(query: Query): string {
    const parent = this.parents.find((zone) => endsIn(query, zone))
    return parent === undefined ? '' : labelAbove(query, query.nameBytes - parent.size)
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
