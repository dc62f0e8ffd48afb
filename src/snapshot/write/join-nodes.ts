/**
 * Writes the nodes of a shard from kept ones and drafts.
 * @module
 */

import { hashName } from '../format/name-hash.ts'
import { planIndex } from './index-plan.ts'
import type { Piece } from './kept-nodes.ts'
import { ShardWriter } from './shard-writer.ts'

/**
 * Returns a writer with the nodes of `pieces`, their RRsets, and the index to them.
 * @param pieces in the order of their names
 * @param namespaces all namespaces of the shard, by number
 */
export function joinNodes(pieces: readonly Piece[], namespaces: readonly string[]): ShardWriter {
  let count = 0
  for (const piece of pieces) {
    count += piece.kind === 'kept' ? piece.to - piece.from : piece.nodes.length
  }
  const plan = planIndex(count, (seed) => hashPieces(pieces, count, seed))
  const writer = new ShardWriter(namespaces, plan)
  for (const piece of pieces) {
    if (piece.kind === 'new') writer.writeNodes(piece.nodes)
    else piece.source.copy(piece, writer)
  }
  writer.endNodes()
  return writer
}

function hashPieces(pieces: readonly Piece[], count: number, seed: number): Int32Array {
  const hashes = new Int32Array(count)
  let at = 0
  for (const piece of pieces) {
    if (piece.kind === 'kept') {
      for (let i = piece.from; i < piece.to; i++) hashes[at++] = piece.source.hash(i, seed)
    } else {
      for (const { owner } of piece.nodes) hashes[at++] = hashName(owner, owner.length, seed)
    }
  }
  return hashes
}
