/**
 * The file of weights: names, and below each its addresses with how often one comes first.
 * @module
 */

import { toLatin1 } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { nameKey, parseName } from '../../dns/name.ts'

/** Weights from 1 to 255 by the keys of a name and of an address. */
export type Weights = ReadonlyMap<string, ReadonlyMap<string, number>>

/** A mistake in a file; lines count from 1. */
export type WeightsProblem = { readonly line: number; readonly message: string }

/** Lines with a name or an address. */
const LINES_MAX = 100_000
const WEIGHT_MAX = 255

/** Reads a file of weights: lines with a name, each followed by lines `ADDRESS WEIGHT`. */
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
    if (current === undefined) return { line, message: 'an address stands before the first name' }
    // Of two lines for one address, the first counts.
    if (!current.has(read.key)) current.set(read.key, read.weight)
  }
  return weights
}

/** How often an address of a name comes first, 1 unless the file says otherwise. */
export function weightOf(weights: Weights, name: Uint8Array, address: Uint8Array): number {
  return weights.get(nameKey(name))?.get(toLatin1(address)) ?? 1
}

type Line =
  | { readonly kind: 'name'; readonly key: string }
  | { readonly kind: 'address'; readonly key: string; readonly weight: number }

/** Reads the words of a line, or says what is wrong with them. */
function readLine(words: readonly string[]): Line | string {
  const [first = '', second] = words
  if (words.length > 2)
    return `"${words.join(' ')}" is more than a name, or an address and a weight`
  const address = parseAddress(first)
  if (second === undefined) {
    const name = address === undefined ? parseName(first) : undefined
    if (name === undefined) return `"${first}" is no name; does a weight lack behind it?`
    return { kind: 'name', key: nameKey(name) }
  }
  if (address === undefined) return `"${first}" is no address`
  const weight = Number(second)
  if (!/^\d+$/.test(second) || weight < 1 || weight > WEIGHT_MAX) {
    return `"${second}" is no weight from 1 to ${WEIGHT_MAX}`
  }
  return { kind: 'address', key: toLatin1(address), weight }
}
