/**
 * Hosts files: `address name…` lines, as in /etc/hosts (hosts(5)).
 * @module
 */
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { parseAddress, reverseName, unmapped } from '../../../dns/names/address.ts'
import { isSubdomain, parseName } from '../../../dns/names/name.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { NameLists } from '../../plugin-kit/name-lists.ts'

/** How to read hosts lines. */
export type HostsOptions = {
  /** Names outside of these zones are ignored. */
  readonly zones: readonly Uint8Array[]
  /** Whether to answer PTR queries for the addresses. */
  readonly hasReverse: boolean
}

const NEWLINE = 0x0a
/**
 * Longest line, and bytes that are decoded at once. CoreDNS ignores a longer line and all after it
 * (Go's `bufio.MaxScanTokenSize`); here the lines after it count.
 */
const LINE_BYTES_MAX = 65_536

/** Addresses by name and names by address. */
export class HostsTable {
  private readonly options: HostsOptions
  private readonly addresses = new NameLists()
  /** Addresses of wildcards, by what follows the `*`. */
  private readonly wildcards = new NameLists()
  /** Names by the reverse name of their address. */
  private readonly names = new NameLists()
  private last: Address | undefined

  constructor(options: HostsOptions) {
    this.options = options
  }

  /** The addresses of all names plus the names of all addresses, as CoreDNS counts entries. */
  get entryCount(): number {
    return this.addresses.valueCount + this.wildcards.valueCount + this.names.valueCount
  }

  /**
   * Adds a line. Ignores comments (`#`), zone identifiers (`%eth0`), lines without a valid address
   * and invalid names.
   */
  add(line: string): void {
    const [addressText = '', ...nameTexts] = line.replace(/#.*/, '').trim().split(/\s+/)
    const address = this.readAddress(addressText)
    if (address === undefined) return
    for (const text of nameTexts) {
      const name = parseName(text.toLowerCase())
      if (name === undefined || !this.options.zones.some((zone) => isSubdomain(name, zone)))
        continue
      const isWildcard = text.startsWith('*.')
      if (isWildcard) append(this.wildcards, name.subarray(2), address.bytes)
      else append(this.addresses, name, address.bytes)
      if (this.options.hasReverse && !isWildcard) append(this.names, address.reverse, name)
    }
  }

  /** Returns whether the table has the name of a query, or an address with this reverse name. */
  has(query: Query): boolean {
    return (
      this.addresses.findQuery(query, 0) !== 0 ||
      this.names.findQuery(query, 0) !== 0 ||
      this.wildcards.findQuery(query, 1 + byteAt(query.name, 0)) !== 0
    )
  }

  /** Lists the addresses of a name in lower case. */
  addressesOf(name: Uint8Array): Uint8Array[] {
    return [...this.addresses.valuesOf(this.addresses.find(name))]
  }

  /** Lists the addresses of wildcards that stand for the first label of a name. */
  wildcardAddressesOf(name: Uint8Array): Uint8Array[] {
    const parent = name.subarray(1 + byteAt(name, 0))
    return [...this.wildcards.valuesOf(this.wildcards.find(parent))]
  }

  /** Lists the names with an address, by its reverse name. */
  namesOf(reverse: Uint8Array): Uint8Array[] {
    return [...this.names.valuesOf(this.names.find(reverse))]
  }

  /** Parses an address; block lists have the same one on each line. */
  private readAddress(text: string): Address | undefined {
    if (this.last?.text === text) return this.last
    const parsed = parseAddress(text.replace(/%.*/, ''))
    if (parsed === undefined) return undefined
    const bytes = unmapped(parsed)
    this.last = { text, bytes, reverse: reverseName(bytes) }
    return this.last
  }
}

type Address = { readonly text: string; readonly bytes: Uint8Array; readonly reverse: Uint8Array }

function append(lists: NameLists, name: Uint8Array, value: Uint8Array): void {
  lists.append(lists.entry(name), value)
}

/** A table of a whole file, and the lines that were too long for it. */
type ReadHosts = { readonly table: HostsTable; readonly longLines: number }

/**
 * Reads a hosts file.
 * @param pause called after each line; what it returns is awaited
 */
export async function readHosts(
  bytes: Uint8Array,
  options: HostsOptions,
  pause: () => Promise<void> | undefined,
): Promise<ReadHosts> {
  const table = new HostsTable(options)
  const decoder = new TextDecoder()
  let longLines = 0
  for (let at = 0; at < bytes.length; ) {
    const end = pieceEnd(bytes, at)
    if (end - at > LINE_BYTES_MAX) longLines++
    else {
      for (const line of decoder.decode(bytes.subarray(at, end)).split('\n')) {
        table.add(line)
        const paused = pause()
        if (paused !== undefined) await paused
      }
    }
    at = end + 1
  }
  return { table, longLines }
}

/** Returns the end of some whole lines, or of one that is too long. */
function pieceEnd(bytes: Uint8Array, start: number): number {
  if (bytes.length - start <= LINE_BYTES_MAX) return bytes.length
  const last = bytes.subarray(start, start + LINE_BYTES_MAX + 1).lastIndexOf(NEWLINE)
  if (last >= 0) return start + last
  const next = bytes.indexOf(NEWLINE, start)
  return next < 0 ? bytes.length : next
}
