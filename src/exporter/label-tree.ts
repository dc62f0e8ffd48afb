/**
 * The tree of namespaces' labels as namespaces come, change and go.
 * @module
 */

import type { Namespace } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import { type LabelRecords, labelRecords } from '../kubernetes/trees/namespace-labels.ts'
import { buildShards } from '../snapshot/write/build-shards.ts'
import type { BuiltTree } from './snapshot-builder.ts'

/** What became of some namespaces. */
export type BuiltLabels = {
  /** `undefined` when none has labels. */
  readonly tree: BuiltTree | undefined
  readonly warnings: readonly string[]
}

/** Follows namespaces; what has not changed since it was built is the same array. */
export class LabelTree {
  private readonly options: NamingOptions
  private readonly namespaces = new Map<string, Namespace>()
  private built: BuiltLabels | undefined

  constructor(options: NamingOptions) {
    this.options = options
  }

  /** Adds or replaces a namespace. */
  set(namespace: Namespace): void {
    this.namespaces.set(namespace.name, namespace)
    this.built = undefined
  }

  /** Removes one. */
  delete(name: string): void {
    if (this.namespaces.delete(name)) this.built = undefined
  }

  /** Builds the tree of those that are served. */
  build(): BuiltLabels {
    this.built ??= buildLabels(this.namespaces.values(), this.options)
    return this.built
  }
}

/** Builds the tree of those of some namespaces that are served. */
export function buildLabels(
  namespaces: Iterable<Namespace>,
  { namespaces: served }: NamingOptions,
): BuiltLabels {
  const all = [...namespaces].filter(({ name }) => served.size === 0 || served.has(name))
  const { entries, warnings }: LabelRecords = labelRecords(all)
  if (entries.length === 0) return { tree: undefined, warnings }
  const records = entries.reduce((sum, { rdata }) => sum + rdata.length, 0)
  return { tree: { shards: buildShards(entries), records, ttlSeconds: 0 }, warnings }
}
