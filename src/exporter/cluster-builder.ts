/**
 * A cluster's present objects, as far as they are selected, and the snapshots they amount to.
 * @module
 */
import { Cluster } from '../kubernetes/cluster.ts'
import type { ClusterObject, Kind } from '../kubernetes/objects.ts'
import type { NamingOptions } from '../kubernetes/options.ts'
import { isSelected } from '../kubernetes/selection.ts'
import { type BuiltSnapshot, buildSnapshot } from './snapshot-builder.ts'

/** Objects in, built snapshots out. */
export class ClusterBuilder {
  private readonly cluster = new Cluster()
  private readonly options: NamingOptions
  private readonly onWarning: (warning: string) => void
  private warned: ReadonlySet<string> = new Set()

  /** @param onWarning gets each thing that cannot be named, once as long as it is so */
  constructor(options: NamingOptions, onWarning: (warning: string) => void) {
    this.options = options
    this.onWarning = onWarning
  }

  /** Adds or replaces an object; one that the selectors do not meet is removed. */
  set(object: ClusterObject): void {
    if (isSelected(object, this.options)) this.cluster.set(object)
    else this.cluster.delete(object.kind, object.namespace, object.name)
  }

  /** Removes an object. */
  delete(kind: Kind, namespace: string, name: string): void {
    this.cluster.delete(kind, namespace, name)
  }

  /** Things that could not be named at the last build. */
  get warningCount(): number {
    return this.warned.size
  }

  /** Builds a snapshot of the present objects. */
  build(): BuiltSnapshot {
    const built = buildSnapshot(this.cluster, this.options)
    for (const warning of built.warnings) if (!this.warned.has(warning)) this.onWarning(warning)
    this.warned = new Set(built.warnings)
    return built
  }
}
