/**
 * Hosts files: `address name…` lines, as in /etc/hosts (hosts(5)).
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import { parseAddress, reverseName, unmapped } from '../../dns/address.ts'
import { isSubdomain, nameKey, parseName } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { hashName, hashView } from '../../snapshot/format/name-hash.ts'

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
type HostsOptions = {
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

function append(map: Map<string, Uint8Array[]>, key: string, value: Uint8Array): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}

const SEED = 0
/** Bits per name: one in sixteen names outside the set passes. */
const BITS_PER_NAME = 16
const BITS_MIN = 1024

/** A filter for absolute names in lower case and wildcards. */
export class NameFilter {
  private readonly exact: Bits
  private readonly wildcards: Bits

  /**
   * @param names all names
   * @param above the wildcards' parents, below which any first label matches
   */
  constructor(names: readonly Uint8Array[], above: readonly Uint8Array[] = []) {
    this.exact = new Bits(names)
    this.wildcards = new Bits(above)
  }

  /** Returns false only if the query name is not in the set. */
  mayHave(query: Query): boolean {
    return this.exact.mayHave(query, 0) || this.wildcards.mayHave(query, 1 + byteAt(query.name, 0))
  }
}

class Bits {
  /** One flag for each length of a name. */
  private readonly lengths = new Uint8Array(256)
  private readonly bits: Uint8Array
  private readonly mask: number
  private readonly isEmpty: boolean

  constructor(names: readonly Uint8Array[]) {
    let count = BITS_MIN
    while (count < BITS_PER_NAME * names.length) count *= 2
    this.bits = new Uint8Array(count / 8)
    this.mask = count - 1
    this.isEmpty = names.length === 0
    for (const name of names) {
      const bit = hashName(name, name.length, SEED) & this.mask
      this.bits[bit >>> 3] = byteAt(this.bits, bit >>> 3) | (1 << (bit & 7))
      this.lengths[name.length] = 1
    }
  }

  mayHave({ nameView, nameBytes }: Query, start: number): boolean {
    if (this.isEmpty || start >= nameBytes || byteAt(this.lengths, nameBytes - start) === 0) {
      return false
    }
    const bit = hashView(nameView, start, nameBytes, SEED) & this.mask
    return (byteAt(this.bits, bit >>> 3) & (1 << (bit & 7))) !== 0
  }
}
