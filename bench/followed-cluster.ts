/**
 * A generated cluster that is built as an exporter builds it, and changes to it.
 * @module
 */
import { ClusterBuilder } from '../src/cluster/follow/cluster-builder.ts'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import type { ClusterObject } from '../src/cluster/objects/objects.ts'
import {
  apiObjects,
  type GeneratedService,
  generateServices,
  sliceObjects,
} from './cluster-objects.ts'
import { kubeadmNaming, parsed } from './generated-server.ts'

/** Services that make about so many records. */
export function servicesFor(records: number): number {
  return Math.round(records / 36)
}

/** A cluster and the snapshot that follows it. */
export class FollowedCluster {
  readonly services: readonly GeneratedService[]
  readonly builder: ClusterBuilder = new ClusterBuilder(kubeadmNaming(), () => undefined)
  private turn = 0

  constructor(records: number) {
    this.services = [...generateServices(servicesFor(records))]
    for (const object of apiObjects(this.services)) this.builder.set(parsed(object))
  }

  /** Builds what has changed. */
  build(): BuiltSnapshot {
    return this.builder.build()
  }

  /** Some Service with endpoints, another one each time. */
  nextService(endpointsLeast = 1): GeneratedService {
    for (;;) {
      this.turn = (this.turn + 7919) % this.services.length
      const service = this.services[this.turn]
      if (service !== undefined && service.endpoints.length >= endpointsLeast) return service
    }
  }

  /** Makes the first endpoint of a Service go. */
  dropEndpoint(service: GeneratedService): void {
    this.setSlices({ ...service, endpoints: service.endpoints.slice(1) })
  }

  /** Puts the endpoints of a Service in place of those that it has. */
  setSlices(service: GeneratedService): void {
    for (const object of slicesOf(service)) this.builder.set(object)
  }
}

function slicesOf(service: GeneratedService): ClusterObject[] {
  return Array.from(sliceObjects(service), parsed)
}

/** Bytes of the shards that a snapshot does not share with the one before it. */
export function changedBytes(before: BuiltSnapshot, after: BuiltSnapshot): number {
  const known = new Set(before.shards)
  return after.shards.reduce((sum, shard) => sum + (known.has(shard) ? 0 : shard.length), 0)
}
