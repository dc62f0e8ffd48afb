/**
 * Changes of a cluster that does not exist. Memory is compacted after a start and after surges of
 * clients, which drops compiled code: without a rehearsal the first change takes some 10 ms, and
 * each of the next hundred half as long again as later ones. Queries need none: there are enough.
 * @module
 */

import { CLUSTER_TREE } from '../../corefile/cluster-tree.ts'
import { defaultKubernetes } from '../../corefile/kubernetes-options.ts'
import type { Steps } from '../../dns/bytes/steps.ts'
import { parseName } from '../../dns/names/name.ts'
import { MirroredObjects } from '../api/mirrored-objects.ts'
import type { Kind } from '../objects/objects.ts'
import { ClusterBuilder } from './cluster-builder.ts'
import { namingOptions } from './naming.ts'
import { ClusterSnapshots } from './snapshot-builder.ts'

/** Services of the cluster: enough that a change is not a build of everything. */
const SERVICES = 64
/** Changes after which V8 has compiled what they run: some 0.3 s of processor time. */
const CHANGES = 400
const NAMESPACE = 'rehearsal'
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }]

type ApiObject = { readonly metadata: object; readonly [field: string]: unknown }

/** Builds the cluster, then makes 400 changes, in steps of some milliseconds at most. */
export function* rehearseChanges(): Steps<void> {
  const cluster = new RehearsalCluster()
  for (let i = 0; i < SERVICES; i++) {
    cluster.take('Service', { ...named(i), spec: { clusterIP: 'None', ports: PORTS } })
    cluster.take('EndpointSlice', slice(i, 0))
    yield
  }
  yield* cluster.build()
  for (let i = 1; i <= CHANGES; i++) {
    cluster.take('EndpointSlice', slice(i % SERVICES, i))
    yield* cluster.build()
    yield
  }
}

/** What a followed cluster consists of. */
class RehearsalCluster {
  private readonly builder: ClusterBuilder
  private readonly snapshots = new ClusterSnapshots(() => 0)
  private readonly mirrored = new Map<Kind, MirroredObjects>()
  private version = 0

  constructor() {
    const zones = [parseName('cluster.local.') ?? new Uint8Array(1)]
    const directive = defaultKubernetes({ file: '', line: 0, column: 0 }, zones)
    this.builder = new ClusterBuilder(namingOptions(directive, [], CLUSTER_TREE), () => undefined)
    this.take('Namespace', { metadata: { name: NAMESPACE } })
  }

  /** Takes an object with a version of its own, as a watch brings it. */
  take(kind: Kind, { metadata, ...rest }: ApiObject): void {
    const objects =
      this.mirrored.get(kind) ?? new MirroredObjects(kind, this.builder, () => undefined)
    this.mirrored.set(kind, objects)
    const resourceVersion = `${++this.version}`
    objects.take({ metadata: { ...metadata, resourceVersion }, ...rest })
  }

  *build(): Steps<void> {
    this.snapshots.take(yield* this.builder.buildInSteps())
  }
}

function named(i: number): ApiObject {
  return { metadata: { namespace: NAMESPACE, name: `web-${i}` } }
}

function slice(i: number, version: number): ApiObject {
  const { metadata } = named(i)
  return {
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': `web-${i}` } },
    ports: PORTS,
    endpoints: [
      { addresses: [`10.0.${version >>> 8}.${version & 255}`], conditions: { ready: true } },
    ],
  }
}
