/**
 * What a snapshot says, as plain values to compare: once as its entries have it, once as its
 * shards are read.
 * @module
 */
import { formatHex } from '../../src/dns/bytes/bytes.ts'
import { labelOffsets } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { FORM, PARTS_BYTES, TARGET_BYTES } from '../../src/snapshot/format/layout.ts'
import type { Shard } from '../../src/snapshot/read/shard.ts'
import type { ZoneEntry } from '../../src/snapshot/records/zone-entry.ts'
import { rdataText } from './entries.ts'

/** A name's flags and, by type, its TTL and rdata, sorted as text. */
export type NameContents = {
  readonly namespace: string
  readonly isImplied: boolean
  readonly isGlue: boolean
  readonly hasAddressNames: boolean
  readonly sets: Readonly<Record<number, SetContents>>
}

/** A TTL and rdata, sorted as text. */
export type SetContents = { readonly ttlSeconds: number; readonly rdata: readonly string[] }

/** Names and addresses in hexadecimal digits, an address with its namespace. */
export type Contents = {
  readonly names: Readonly<Record<string, NameContents>>
  readonly pointers: Readonly<Record<string, SetContents>>
  /** Those that Pods have, sorted. */
  readonly pods: readonly string[]
}

/** What the entries of a snapshot amount to, found without any code that stores them. */
export function contentsOfEntries(entries: readonly ZoneEntry[]): Contents {
  const names: Record<string, NameContents> = {}
  const pointers: Record<string, SetContents> = {}
  const taken = new Map<string, Set<string>>()
  for (const entry of entries) {
    if (entry.kind !== 'pointer' || entry.isYielding === true) continue
    const hex = formatHex(entry.address)
    taken.set(hex, (taken.get(hex) ?? new Set()).add(entry.namespace))
  }
  const pods = new Set<string>()
  for (const entry of entries) {
    if (entry.kind === 'pod-address') {
      pods.add(`${formatHex(entry.address)} ${entry.namespace}`)
      continue
    }
    if (entry.kind === 'pointer') {
      const others = entry.isYielding === true ? taken.get(formatHex(entry.address)) : undefined
      if (others?.has(entry.namespace) === true || others?.has('') === true) continue
      const key = `${formatHex(entry.address)} ${entry.namespace}${others ? ' yielding' : ''}`
      pointers[key] = merge(pointers[key], entry.ttlSeconds, [`+${formatHex(entry.target)}`])
      continue
    }
    const { owner, namespace } = entry
    const isGlue = entry.kind === 'records' && entry.isGlue === true
    const isImplied = entry.kind === 'name' && entry.isImplied === true
    const hasAddressNames = entry.kind === 'address-names'
    addName(names, owner, { namespace, isImplied, isGlue, hasAddressNames, sets: setsOf(entry) })
    for (const offset of labelOffsets(owner).slice(1)) {
      const implied = {
        namespace,
        isImplied: true,
        isGlue: false,
        hasAddressNames: false,
        sets: {},
      }
      addName(names, owner.subarray(offset), implied)
    }
  }
  return { names, pointers, pods: [...pods].sort() }
}

/** What opened shards say, read from the first node to the last and by every row. */
export function contentsOfShards(shards: readonly Shard[]): Contents {
  const names: Record<string, NameContents> = {}
  const pointers: Record<string, SetContents> = {}
  const pods: string[] = []
  for (const shard of shards) {
    for (const node of nodesOf(shard)) {
      const start = shard.nameOffset(node)
      const owner = formatHex(shard.bytes.subarray(start, start + shard.nameBytes(node)))
      names[owner] = nameOfNode(shard, node)
    }
    for (const table of [shard.addresses4, shard.addresses6]) {
      for (let i = 0; i < table.count; i++) {
        const key = `${formatHex(table.address(i))} ${shard.namespaces[table.namespaceId(i)]}`
        if (table.isPod(i)) pods.push(key)
        if (table.targetCount(i) === 0) continue
        const rdata = rdataOfSet(shard, table.set(i), table.targetCount(i), TYPE.PTR).sort()
        pointers[`${key}${table.isYielding(i) ? ' yielding' : ''}`] = {
          ttlSeconds: shard.setTtl(table.set(i)),
          rdata,
        }
      }
    }
  }
  return { names, pointers, pods: pods.sort() }
}

/** Offsets of all nodes. */
export function nodesOf(shard: Shard): number[] {
  return [...shard.nodes()]
}

/** Rdata of a set as text, in its order. */
export function rdataOfSet(shard: Shard, set: number, count: number, type: number): string[] {
  const texts: string[] = []
  let at = set + 4
  for (let i = 0; i < count; i++) {
    const [bytes, target, next] = readItem(shard, set, at, type)
    texts.push(rdataText(target === undefined ? { bytes } : { bytes, target }))
    at = next
  }
  return texts
}

function readItem(
  shard: Shard,
  set: number,
  at: number,
  type: number,
): [bytes: Uint8Array, target: Uint8Array | undefined, next: number] {
  const { bytes } = shard
  if (shard.setForm(set) === FORM.FIXED) {
    const size = type === TYPE.A ? 4 : 16
    return [bytes.slice(at, at + size), undefined, at + size]
  }
  if (shard.setForm(set) === FORM.TARGETS) {
    const node = shard.uint16(at + 8) + 0x10000 * shard.uint16(at + 10)
    const start = shard.nameOffset(node)
    const target = bytes.slice(start, start + shard.nameBytes(node))
    return [bytes.slice(at, at + 6), target, at + TARGET_BYTES]
  }
  const name = at + PARTS_BYTES + shard.uint16(at)
  const nameSize = shard.uint16(at + 2)
  const end = name + Math.max(0, nameSize - 1)
  const target = nameSize === 0 ? undefined : bytes.slice(name, end)
  return [bytes.slice(at + PARTS_BYTES, name), target, end]
}

function nameOfNode(shard: Shard, node: number): NameContents {
  const sets: Record<number, SetContents> = {}
  for (const ref of shard.refs(node)) {
    const [set, type] = [shard.refSet(ref), shard.refType(ref)]
    const rdata = rdataOfSet(shard, set, shard.refCount(ref), type).sort()
    sets[type] = { ttlSeconds: shard.setTtl(set), rdata }
  }
  return {
    namespace: shard.namespaces[shard.nodeNamespaceId(node)] ?? 'none',
    isImplied: shard.isImplied(node),
    isGlue: shard.isGlue(node),
    hasAddressNames: shard.hasAddressNames(node),
    sets,
  }
}

function setsOf(entry: ZoneEntry): Record<number, SetContents> {
  if (entry.kind !== 'records' || entry.rdata.length === 0) return {}
  const { type, ttlSeconds, rdata } = entry
  return { [type]: merge(undefined, ttlSeconds, rdata.map(rdataText)) }
}

function addName(names: Record<string, NameContents>, owner: Uint8Array, added: NameContents) {
  const key = formatHex(owner)
  const known = names[key]
  if (known === undefined) {
    names[key] = added
    return
  }
  const sets: Record<number, SetContents> = { ...known.sets }
  for (const [type, { ttlSeconds, rdata }] of Object.entries(added.sets)) {
    sets[Number(type)] = merge(sets[Number(type)], ttlSeconds, rdata)
  }
  names[key] = {
    namespace: known.namespace === added.namespace ? known.namespace : '',
    isImplied: known.isImplied && added.isImplied,
    isGlue: known.isGlue && added.isGlue,
    hasAddressNames: known.hasAddressNames || added.hasAddressNames,
    sets,
  }
}

function merge(
  known: SetContents | undefined,
  ttlSeconds: number,
  rdata: readonly string[],
): SetContents {
  return {
    ttlSeconds: Math.min(known?.ttlSeconds ?? 0xffffff, ttlSeconds),
    rdata: [...new Set([...(known?.rdata ?? []), ...rdata])].sort(),
  }
}
