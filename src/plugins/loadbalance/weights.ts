/**
 * Weights files: names, each followed by its addresses with their weights.
 * @module
 */

import { toLatin1 } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { nameKey, parseName } from '../../dns/name.ts'

/** Weights from 1 to 255 by name key and address key. */
export type Weights = ReadonlyMap<string, ReadonlyMap<string, number>>

/** An error in a weights file; lines count from 1. */
export type WeightsProblem = { readonly line: number; readonly message: string }

/** Names and addresses in one file. */
const LINES_MAX = 100_000
const WEIGHT_MAX = 255

/** Parses a weights file: lines `NAME`, each followed by lines `ADDRESS WEIGHT`. */
export function parseWeights(text: string): Weights | WeightsProblem {
  const weights = new Map<string, Map<string, number>>()
  let current: Map<string, number> | undefined
  const lines = text
    .split('\n')
    .map((line, i) => ({ words: line.trim().split(/\s+/), line: i + 1 }))
  const meaning = lines.filter(({ words: [first = ''] }) => first !== '' && !first.startsWith('#'))
  for (const [count, { words, line }] of meaning.entries()) {
    const read = count < LINES_MAX ? readLine(words) : `over ${LINES_MAX} lines`
    if (typeof read === 'string') return { line, message: read }
    if (read.kind === 'name') {
      current = weights.get(read.key) ?? new Map<string, number>()
      weights.set(read.key, current)
      continue
    }
    if (current === undefined) return { line, message: 'an address precedes the first name' }
    // The first of two lines for one address wins.
    if (!current.has(read.key)) current.set(read.key, read.weight)
  }
  return weights
}

/** Returns the weight of an address; 1 if the file has none. */
export function weightOf(weights: Weights, name: Uint8Array, address: Uint8Array): number {
  return weights.get(nameKey(name))?.get(toLatin1(address)) ?? 1
}

type Line =
  | { readonly kind: 'name'; readonly key: string }
  | { readonly kind: 'address'; readonly key: string; readonly weight: number }

/** Parses a line, or returns the error message. */
function readLine(words: readonly string[]): Line | string {
  const [first = '', second] = words
  if (words.length > 2) return `"${words.join(' ')}" is neither a name nor an address with a weight`
  const address = parseAddress(first)
  if (second === undefined) {
    const name = address === undefined ? parseName(first) : undefined
    if (name === undefined) return `"${first}" is not a name; if it is an address, add a weight`
    return { kind: 'name', key: nameKey(name) }
  }
  if (address === undefined) return `"${first}" is not an address`
  const weight = Number(second)
  if (!/^\d+$/.test(second) || weight < 1 || weight > WEIGHT_MAX) {
    return `"${second}" is not a weight from 1 to ${WEIGHT_MAX}`
  }
  return { kind: 'address', key: toLatin1(address), weight }
}
