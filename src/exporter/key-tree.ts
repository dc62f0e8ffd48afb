/**
 * The tree of an etcd's keys, which gateways answer `etcd` directives from.
 * @module
 */
import { labelOf } from '../kubernetes/objects/labels.ts'
import { KEY_SIZE_MAX, KEYS_TYPE, type StoredKey, writeStoredKey } from '../records/stored-keys.ts'
import type { ZoneEntry } from '../records/zone-entry.ts'
import { hashName } from '../snapshot/format/name-hash.ts'
import { GroupedShards } from '../snapshot/write/grouped-shards.ts'
import type { BuiltTree } from './snapshot-builder.ts'

/** Most keys of a tree: each gateway has all of them in memory. */
const KEYS_MAX = 50_000
/** Most characters of all keys and values. */
const SIZE_MAX = 16 * 1024 * 1024
const HASH_SEED = 0x65746364

/** The present keys. */
export class KeyTree {
  private readonly onWarning: (warning: string) => void
  /** Keys by the hash that is their name. */
  private readonly groups = new Map<string, readonly StoredKey[]>()
  private readonly changed = new Set<string>()
  private readonly shards = new GroupedShards((group) => this.entriesOf(group))
  private readonly keysMax: number
  private keyCount = 0
  private size = 0
  private state: 'awaited' | 'late' | 'read' = 'awaited'
  private isOver = false
  private built: BuiltTree | undefined

  /** @param onWarning called with each key that has no room, and once for too many keys */
  constructor(onWarning: (warning: string) => void, keysMax: number = KEYS_MAX) {
    this.onWarning = onWarning
    this.keysMax = keysMax
  }

  /** Number of keys. */
  get count(): number {
    return this.keyCount
  }

  /** Whether nothing should be published yet, because the keys are about to be read. */
  get isAwaited(): boolean {
    return this.state === 'awaited'
  }

  /** Notes that all keys have been read. */
  complete(): void {
    this.state = 'read'
  }

  /** Notes that the keys take too long to read: until `complete`, there is no tree. */
  proceed(): void {
    if (this.state === 'awaited') this.state = 'late'
  }

  /** Adds or replaces a key. */
  set(stored: StoredKey): void {
    const { key } = stored
    this.delete(key)
    if (key.length > KEY_SIZE_MAX) {
      this.onWarning(`a key of etcd has over ${KEY_SIZE_MAX} bytes: "${key.slice(0, 64)}…"`)
      return
    }
    this.replace(key, [stored])
  }

  /** Removes a key; ignores an unknown one. */
  delete(key: string): void {
    this.replace(key, [])
  }

  /** Returns the tree; the previous one while there are too many keys, or none. */
  build(): BuiltTree | undefined {
    if (this.state !== 'read' || this.isTooLarge()) return this.built
    if (this.built !== undefined && this.changed.size === 0) return this.built
    this.shards.update(this.changed)
    this.changed.clear()
    this.built = { shards: this.shards.shards, records: this.shards.records, ttlSeconds: 0 }
    return this.built
  }

  private isTooLarge(): boolean {
    const isOver = this.count > this.keysMax || this.size > SIZE_MAX
    if (isOver && !this.isOver) {
      const bounds = `${this.keysMax} keys or ${SIZE_MAX / 1024 / 1024} MiB`
      this.onWarning(`etcd: more than ${bounds}; its names stay as they were published last`)
    }
    this.isOver = isOver
    return isOver
  }

  private replace(key: string, by: readonly StoredKey[]): void {
    const bytes = new TextEncoder().encode(key)
    const group = (hashName(bytes, bytes.length, HASH_SEED) >>> 0).toString(16)
    const before = this.groups.get(group) ?? []
    const after = [...before.filter((stored) => stored.key !== key), ...by]
    if (before.length === 0 && after.length === 0) return
    if (after.length === 0) this.groups.delete(group)
    else this.groups.set(group, after)
    this.keyCount += after.length - before.length
    this.size += sizeOf(after) - sizeOf(before)
    this.changed.add(group)
  }

  private entriesOf(group: string): readonly ZoneEntry[] {
    const owner = labelOf(group)
    const keys = this.groups.get(group)
    if (owner === undefined || keys === undefined) return []
    const rdata = keys.map(writeStoredKey)
    return [{ kind: 'records', owner, namespace: '', type: KEYS_TYPE, ttlSeconds: 0, rdata }]
  }
}

function sizeOf(keys: readonly StoredKey[]): number {
  return keys.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
}
