/**
 * Orders of records: CNAMEs first, for resolvers that read from the top; then addresses as the
 * policy orders them; then all other records in their original order.
 * @module
 */
import type { ResourceRecord } from '../../dns/message.ts'
import { isInNetwork, type Network } from '../../dns/network.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { permute } from '../../plugin-kit/shuffle.ts'
import { type Weights, weightOf } from './weights.ts'

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
