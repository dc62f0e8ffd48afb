/**
 * Reads shards by what `src/snapshot/README.md` says, and by nothing else. Trusts its input.
 * @module
 */

type SetPlace = { set: number; count: number; namespace: string | undefined }

/** Reads one shard. */
export class SecondReader {
  private readonly view: DataView
  private readonly namespaces: readonly string[]
  private readonly origin: readonly number[]

  /** @param origin what names are below, for example `cluster.local` */
  constructor(shard: Uint8Array, origin: string) {
    this.view = new DataView(shard.buffer, shard.byteOffset, shard.length)
    this.origin = [...wireLabels(origin), 0]
    let at = this.u32(56)
    this.namespaces = Array.from({ length: this.u32(60) }, () => {
      const text = this.octets(at + 2, this.u16(at))
      at += 2 + text.length
      return new TextDecoder().decode(Uint8Array.from(text))
    })
  }

  /** Lists all records as a zone file (RFC 3597 §5), with their namespaces as comments. */
  records(): string[] {
    const pointers = this.rows().flatMap((row) => this.set(reverseName(row.address), 12, row))
    return [...this.nodeRecords(), ...pointers]
  }

  /** Lists the addresses that Pods have, with their namespaces as comments. */
  pods(): string[] {
    const rows = this.rows().filter(({ isPod }) => isPod)
    return rows.map(({ address, namespace }) => `${reverseName(address)} ; ${namespace}`)
  }

  /** Lists all names, each with its flags. */
  names(): string[] {
    return this.nodes().map((node) => {
      const addressNames = this.u8(node + 1) & 0x80 ? ' address-names' : ''
      const implied = this.u16(node + 2) & 0x4000 ? ' implied' : ''
      const glue = this.u16(node + 2) & 0x8000 ? ' glue' : ''
      return nameText([...this.name(node), ...this.origin]) + addressNames + implied + glue
    })
  }

  /** Returns by the index whether a relative name exists. */
  hasName(text: string): boolean {
    const wanted = wireLabels(text)
    const slotCount = this.u32(20)
    for (let slot = hashOf(wanted, this.u32(12)); ; slot++) {
      const node = this.u32(this.u32(16) + 8 * (slot & (slotCount - 1)) + 4)
      if (node === 0 || this.name(node).join() === wanted.join()) return node !== 0
    }
  }

  private nodeRecords(): string[] {
    return this.nodes().flatMap((node) => {
      const owner = nameText([...this.name(node), ...this.origin])
      const namespace = this.namespaces[this.u16(node + 2) & 0x3fff]
      const refs = Array.from({ length: this.u8(node + 1) & 0x7f }, (_, i) => node + 4 + 8 * i)
      return refs.flatMap((ref) => {
        const [set, count] = [this.u32(ref + 4), this.u16(ref + 2)]
        return this.set(owner, this.u16(ref), { set, count, namespace })
      })
    })
  }

  private rows() {
    return [40, 48].flatMap((field) => {
      const [start, rows, size] = [this.u32(field), this.u32(field + 4), field === 40 ? 4 : 16]
      return Array.from({ length: rows }, (_, i) => {
        const address = Array.from({ length: size }, (_, j) => this.u8(start + size * i + (j ^ 3)))
        const set = this.u32(start + size * rows + 4 * i)
        const info = start + (size + 4) * rows + 4 * i
        const namespace = this.namespaces[this.u16(info) & 0x3fff]
        const [isPod, yields] = [0x8000, 0x4000].map((bit) => (this.u16(info) & bit) !== 0)
        return { address, set, count: yields ? 0 : this.u16(info + 2), namespace, isPod }
      })
    })
  }

  private set(owner: string, type: number, { set, count, namespace = '' }: SetPlace): string[] {
    const [ttl, form] = [this.u32(set) & 0xffffff, this.u8(set + 3)]
    let at = set + 4
    return Array.from({ length: count }, () => {
      const [start, nameSize] = form === 2 ? [at + 4, this.u16(at + 2)] : [at, 0]
      const sizes = [type === 1 ? 4 : 16, 6, this.u16(at) + Math.max(0, nameSize - 1)]
      const rdata = this.octets(start, sizes[form] ?? 0)
      at = form === 1 ? at + 12 : start + rdata.length
      if (form === 1) rdata.push(...this.name(this.u32(at - 4)))
      if (form === 1 || nameSize > 0) rdata.push(...this.origin)
      const hex = Buffer.from(rdata).toString('hex')
      return `${owner} ${ttl} IN TYPE${type} \\# ${rdata.length} ${hex} ; ${namespace}`
    })
  }

  private nodes(): number[] {
    const slots = Array.from({ length: this.u32(20) }, (_, i) => this.u32(this.u32(16) + 8 * i + 4))
    return slots.filter((node) => node !== 0).sort((a, b) => a - b)
  }

  private name(node: number): number[] {
    return this.octets(node + 4 + 8 * (this.u8(node + 1) & 0x7f), this.u8(node))
  }

  private octets = (at: number, size: number): number[] =>
    Array.from({ length: size }, (_, i) => this.u8(at + i))
  private u8 = (at: number): number => this.view.getUint8(at)
  private u16 = (at: number): number => this.view.getUint16(at, true)
  private u32 = (at: number): number => this.view.getUint32(at, true)
}

/** The shard, of `count`, that bytes belong to: a name's last three labels, or an address. */
export function shardOf(octets: readonly number[], count: number): number {
  return hashOf(octets, 0x6b647368) & (count - 1)
}

/** The labels of a name of letters and digits. */
export function wireLabels(text: string): number[] {
  const labels = text.split('.').filter((label) => label !== '')
  return labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)])
}

function hashOf(octets: readonly number[], seed: number): number {
  let hash = 0x811c9dc5n ^ BigInt(seed)
  for (let at = 0; at < octets.length; at += 4) {
    for (const [i, o] of octets.slice(at, at + 4).entries()) hash ^= BigInt(o) << BigInt(8 * i)
    hash = (hash * 0x9e3779b1n) % 2n ** 32n
    hash ^= hash >> 15n
  }
  return Number(hash)
}

function reverseName(address: readonly number[]): string {
  if (address.length === 4) return `${address.toReversed().join('.')}.in-addr.arpa.`
  const digits = address.flatMap((octet) => [octet >>> 4, octet & 15]).reverse()
  return `${digits.map((digit) => digit.toString(16)).join('.')}.ip6.arpa.`
}

function nameText(wire: readonly number[]): string {
  if (wire[0] === undefined || wire[0] === 0) return ''
  const label = wire.slice(1, 1 + wire[0]).map((octet) => {
    const char = String.fromCharCode(octet)
    return /[\w-]/.test(char) ? char : `\\${String(octet).padStart(3, '0')}`
  })
  return `${label.join('')}.${nameText(wire.slice(1 + wire[0]))}`
}
