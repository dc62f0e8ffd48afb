/**
 * The clusters that directives read.
 * @module
 */
import type { ClusterTree } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'

/** The cluster that a directive reads, and what the directive needs of it. */
export type ClusterWanted = {
  readonly directive: KubernetesOptions
  readonly tree: ClusterTree
  /** Whether plugins read the cluster's objects, which only the thread that watches has. */
  readonly needsObjects?: true
}

/** Returns a key: directives that differ only in their place in the Corefile share a cluster. */
export function keyOf({ directive, tree, needsObjects }: ClusterWanted): string {
  const { line: _line, column: _column, file: _file, notices: _notices, ...options } = directive
  return JSON.stringify({ ...options, tree, needsObjects })
}
