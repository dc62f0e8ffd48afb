/**
 * Reads the labels of a cluster's namespaces from their tree.
 * @module
 */

import { concatBytes } from '../../dns/bytes/bytes.ts'
import { ROOT } from '../../dns/names/name.ts'
import { nameText } from '../../dns/names/name-text.ts'
import { stringContents } from '../../dns/rdata/character-string.ts'
import type { NamespaceLabels, Shard } from './shard.ts'
import { shardRecords } from './shard-records.ts'

/** The labels of a cluster that publishes none. */
export const NO_LABELS: NamespaceLabels = new Map()

/** Reads the shards of a tree of labels. */
export function readLabels(shards: readonly Shard[]): NamespaceLabels {
  const labels = new Map<string, string[]>()
  for (const shard of shards) {
    for (const { owner, rdata } of shardRecords(shard, ROOT)) {
      const namespace = nameText(owner).slice(0, -1)
      const text = new TextDecoder().decode(concatBytes(...stringContents(rdata)))
      const known = labels.get(namespace)
      if (known === undefined) labels.set(namespace, [text])
      else known.push(text)
    }
  }
  return labels
}
