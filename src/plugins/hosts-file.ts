/**
 * Hosts files: `address name…` lines, as in /etc/hosts (hosts(5)).
 * @module
 */
import { formatAddress, parseAddress, reverseName } from '../dns/address.ts'
import { octet } from '../dns/bytes.ts'
import { isSubdomain, nameKey, parseName } from '../dns/name.ts'
import type { Query } from '../dns/query.ts'
import { hashName, hashOctets } from '../snapshot/name-hash.ts'

/** Addresses by name and names by address. Keys are names in lower case as Latin-1 text. */
export type HostsTable = {
  readonly addresses: ReadonlyMap<string, readonly Uint8Array[]>
  /** Names by the reverse name of their address. */
  readonly names: ReadonlyMap<string, readonly Uint8Array[]>
  /** Hashes of all these names, and with another seed of what follows the `*` of wildcards. */
  readonly hashes: ReadonlySet<number>
}

const WILDCARD_SEED = 1

/** How to read a hosts file. */
export type HostsOptions = {
  /** Names outside of these zones are passed over. */
  readonly zones: readonly Uint8Array[]
  /** Whether addresses lead back to names. */
  readonly hasReverse: boolean
}

/**
 * Reads lines of a hosts file. Comments begin with `#`; a zone identifier (`%eth0`) is cut off;
 * lines without a valid address, and names that are none, are passed over.
 */
export function parseHosts(lines: readonly string[], options: HostsOptions): HostsTable {
  const addresses = new Map<string, Uint8Array[]>()
  const names = new Map<string, Uint8Array[]>()
  const hashes = new Set<number>()
  for (const line of lines) {
    const [addressText = '', ...nameTexts] = line.replace(/#.*/, '').trim().split(/\s+/)
    const address = parseAddress(addressText.replace(/%.*/, ''))
    if (address === undefined) continue
    for (const text of nameTexts) {
      const name = parseName(text.toLowerCase())
      if (name === undefined || !options.zones.some((zone) => isSubdomain(name, zone))) continue
      append(addresses, nameKey(name), unmapped(address))
      const isWildcard = text.startsWith('*.')
      hashes.add(isWildcard ? hashOctets(name, 2, name.length, WILDCARD_SEED) : hashOf(name))
      if (options.hasReverse && !isWildcard) {
        const reverse = reverseName(unmapped(address))
        append(names, nameKey(reverse), name)
        hashes.add(hashOf(reverse))
      }
    }
  }
  return { addresses, names, hashes }
}

/** Whether a table may have an answer for a name; false: it has none. Allocates nothing. */
export function mayHave({ hashes }: HostsTable, { name, nameBytes }: Query): boolean {
  if (hashes.size === 0) return false
  if (hashes.has(hashName(name, nameBytes, 0))) return true
  return hashes.has(hashOctets(name, 1 + octet(name, 0), nameBytes, WILDCARD_SEED))
}

/** An IPv6 address that maps an IPv4 one counts as that. */
function unmapped(address: Uint8Array): Uint8Array {
  return formatAddress(address).startsWith('::ffff:') ? address.slice(12) : address
}

function hashOf(name: Uint8Array): number {
  return hashName(name, name.length, 0)
}

function append(map: Map<string, Uint8Array[]>, key: string, value: Uint8Array): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}
