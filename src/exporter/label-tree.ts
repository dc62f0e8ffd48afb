/**
 * Follows namespaces and builds the tree of their labels.
 * @module
 */

import type { Namespace } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import { type LabelRecords, labelRecords } from '../kubernetes/trees/namespace-labels.ts'
import { buildShards } from '../snapshot/write/build-shards.ts'
import type { BuiltTree } from './snapshot-builder.ts'

/** The result of a build. */
export type BuiltLabels = {
  /** `undefined` if no namespace has labels. */
  readonly tree: BuiltTree | undefined
  readonly warnings: readonly string[]
}

/** Follows namespaces; an unchanged tree keeps its arrays. */
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

  /** Removes a namespace. */
  delete(name: string): void {
    if (this.namespaces.delete(name)) this.built = undefined
  }

  /** Builds the tree of the served namespaces. */
  build(): BuiltLabels {
    this.built ??= buildLabels(this.namespaces.values(), this.options)
    return this.built
  }
}

/** Builds the tree of some namespaces, those that are served. */
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
