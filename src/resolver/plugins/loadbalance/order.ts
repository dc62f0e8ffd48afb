/**
 * Orders of records: CNAMEs first, for resolvers that read from the top; then addresses, rotated or
 * by weights from a file; then all other records in their original order.
 * @module
 */
import { toLatin1 } from '../../../dns/bytes/bytes.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { nameKey, parseName } from '../../../dns/names/name.ts'
import { isInNetwork, type Network } from '../../../dns/names/network.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { permute } from '../../plugin-kit/shuffle.ts'

type Records = readonly ResourceRecord[]
type Groups = Readonly<Record<'cnames' | 'addresses' | 'exchangers' | 'rest', ResourceRecord[]>>

/** Shuffles address and MX records. */
export function shuffled(records: Records, random16: () => number): Records {
  if (records.length < 2) return records
  const { cnames, rest, addresses, exchangers } = grouped(records)
  return [...cnames, ...rest, ...permute(addresses, random16), ...permute(exchangers, random16)]
}

/**
 * Rotates the addresses, which is enough for addresses that all clients share; the fast path does
 * so without a copy.
 */
export function rotated(records: Records, by: number): Records {
  const addresses = records.filter(isAddress)
  const start = by % Math.max(1, addresses.length)
  const others = records.filter((record) => !isAddress(record))
  return [...others, ...addresses.slice(start), ...addresses.slice(0, start)]
}

/** Puts one address first, chosen with the probability of its weight. */
export function weighted(records: Records, weights: Weights, random16: () => number): Records {
  const { cnames, rest, addresses, exchangers } = grouped(records)
  if (addresses.length === 0) return records
  const shares = addresses.map(({ owner, rdata }) => weightOf(weights, owner, rdata))
  const total = shares.reduce((sum, share) => sum + share, 0)
  let left = (random16() * 0x10000 + random16()) % total
  const chosen = shares.findIndex((share) => {
    left -= share
    return left < 0
  })
  const [first, top] = [addresses[0], addresses[chosen]]
  if (first !== undefined && top !== undefined) {
    addresses[0] = top
    addresses[chosen] = first
  }
  return [...cnames, ...rest, ...addresses, ...exchangers]
}

/** Sorts addresses by the first network that contains them; addresses in none come last. */
export function preferred(records: Records, networks: readonly Network[]): Records {
  const { cnames, rest, addresses, exchangers } = grouped(records)
  const rankOf = ({ rdata }: ResourceRecord): number => {
    const rank = networks.findIndex((network) => isInNetwork(rdata, network))
    return rank < 0 ? networks.length : rank
  }
  const ranked = addresses.map((record) => ({ record, rank: rankOf(record) }))
  const sorted = ranked.sort((a, b) => a.rank - b.rank).map(({ record }) => record)
  return [...cnames, ...sorted, ...exchangers, ...rest]
}

function isAddress({ type }: ResourceRecord): boolean {
  return type === TYPE.A || type === TYPE.AAAA
}

function grouped(records: Records): Groups {
  const groups: Groups = { cnames: [], addresses: [], exchangers: [], rest: [] }
  for (const record of records) {
    if (record.type === TYPE.CNAME) groups.cnames.push(record)
    else if (isAddress(record)) groups.addresses.push(record)
    else if (record.type === TYPE.MX) groups.exchangers.push(record)
    else groups.rest.push(record)
  }
  return groups
}

/** Weights from 1 to 255 by name key and address key. */
export type Weights = ReadonlyMap<string, ReadonlyMap<string, number>>

/** An error in a weights file; lines count from 1. */
type WeightsProblem = { readonly line: number; readonly message: string }

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
