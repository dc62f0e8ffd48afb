/**
 * Hosts files: `address name…` lines, as in /etc/hosts (hosts(5)).
 * @module
 */
import { formatAddress, parseAddress, reverseName } from '../../dns/address.ts'
import { isSubdomain, nameKey, parseName } from '../../dns/name.ts'

/** Addresses by name and names by address. Keys are names in lower case as Latin-1 text. */
export type HostsTable = {
  readonly addresses: ReadonlyMap<string, readonly Uint8Array[]>
  /** Names by the reverse name of their address. */
  readonly names: ReadonlyMap<string, readonly Uint8Array[]>
  /** All these names, without wildcards. */
  readonly known: readonly Uint8Array[]
  /** The parent of each wildcard: its name without the `*`. */
  readonly wildcards: readonly Uint8Array[]
}

/** How to read a hosts file. */
export type HostsOptions = {
  /** Names outside of these zones are ignored. */
  readonly zones: readonly Uint8Array[]
  /** Whether to answer PTR queries for the addresses. */
  readonly hasReverse: boolean
}

/**
 * Parses the lines of a hosts file. Ignores comments (`#`), zone identifiers (`%eth0`), lines
 * without a valid address and invalid names.
 */
export function parseHosts(lines: readonly string[], options: HostsOptions): HostsTable {
  const addresses = new Map<string, Uint8Array[]>()
  const names = new Map<string, Uint8Array[]>()
  const known: Uint8Array[] = []
  const wildcards: Uint8Array[] = []
  for (const line of lines) {
    const [addressText = '', ...nameTexts] = line.replace(/#.*/, '').trim().split(/\s+/)
    const address = parseAddress(addressText.replace(/%.*/, ''))
    if (address === undefined) continue
    for (const text of nameTexts) {
      const name = parseName(text.toLowerCase())
      if (name === undefined || !options.zones.some((zone) => isSubdomain(name, zone))) continue
      append(addresses, nameKey(name), unmapped(address))
      const isWildcard = text.startsWith('*.')
      if (isWildcard) wildcards.push(name.subarray(2))
      else known.push(name)
      if (options.hasReverse && !isWildcard) {
        const reverse = reverseName(unmapped(address))
        append(names, nameKey(reverse), name)
        known.push(reverse)
      }
    }
  }
  return { addresses, names, known, wildcards }
}

/** Returns the IPv4 address of an IPv4-mapped IPv6 address, and any other address as it is. */
function unmapped(address: Uint8Array): Uint8Array {
  return formatAddress(address).startsWith('::ffff:') ? address.slice(12) : address
}

function append(map: Map<string, Uint8Array[]>, key: string, value: Uint8Array): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}
