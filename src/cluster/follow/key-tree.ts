/**
 * The tree of an etcd's keys, which gateways answer `etcd` directives from.
 * @module
 */

import { hashName } from '../../snapshot/format/name-hash.ts'
import {
  KEY_SIZE_MAX,
  KEYS_TYPE,
  type StoredKey,
  VALUE_SIZE_MAX,
  writeStoredKey,
} from '../../snapshot/records/stored-keys.ts'
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { GroupedShards } from '../../snapshot/write/grouped-shards.ts'
import { labelOf } from '../objects/labels.ts'
import type { BuiltTree } from './snapshot-builder.ts'

/** Most keys of a tree: each gateway has all of them in memory. */
const KEYS_MAX = 50_000
/** Most characters of all keys and values. */
const SIZE_MAX = 16 * 1024 * 1024
const HASH_SEED = 0x65746364
/** Most warnings about keys that are too long. */
const WARNINGS_MAX = 20

/** A key, and the characters of its value that a tree beyond its bounds does not keep. */
type KeptKey = StoredKey & { readonly lacking: number }

type KeyTreeOptions = {
  /** Most keys. */
  readonly keysMax?: number
  /** Has all keys set again, because the tree is within its bounds again and lacks values. */
  readonly relist?: () => void
}

/** The present keys. */
export class KeyTree {
  private readonly onWarning: (warning: string) => void
  /** Keys by the hash that is their name. */
  private readonly groups = new Map<string, readonly KeptKey[]>()
  private readonly changed = new Set<string>()
  /** `undefined` if all groups count as changed. */
  private shards: GroupedShards | undefined
  private readonly keysMax: number
  private readonly relist: () => void
  private readonly warned = new Set<string>()
  private keyCount = 0
  /** Characters of all keys and values, those that are not kept included. */
  private size = 0
  /** Number of keys without their values. */
  private lackingCount = 0
  private state: 'awaited' | 'late' | 'read' = 'awaited'
  private isOver = false
  private built: BuiltTree | undefined

  /** @param onWarning called for the first keys that are too long, once each, and for too many */
  constructor(onWarning: (warning: string) => void, options: KeyTreeOptions = {}) {
    const { keysMax = KEYS_MAX, relist = () => undefined } = options
    this.onWarning = onWarning
    this.keysMax = keysMax
    this.relist = relist
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

  /** Adds or replaces a key. Beyond the bounds of the tree, keeps only the key. */
  set({ key, value: given, lease }: StoredKey): void {
    this.delete(key)
    if (key.length > KEY_SIZE_MAX) {
      this.warn(`a key of etcd has over ${KEY_SIZE_MAX} bytes: "${key.slice(0, 64)}…"`)
      return
    }
    const value = given.length > VALUE_SIZE_MAX ? '' : given
    const hasRoom =
      this.keyCount < this.keysMax && this.size + key.length + value.length <= SIZE_MAX
    const kept = hasRoom ? { value, lacking: 0 } : { value: '', lacking: value.length }
    this.replace(key, [{ key, lease, ...kept }])
  }

  /** Removes a key; ignores an unknown one. */
  delete(key: string): void {
    this.replace(key, [])
  }

  /** Returns the tree; the previous one while there are too many keys, missing values, or none. */
  build(): BuiltTree | undefined {
    if (this.state !== 'read') return this.built
    if (this.isTooLarge()) {
      // The changes of a long time would take more room than the tree.
      this.changed.clear()
      this.shards = undefined
      return this.built
    }
    if (this.lackingCount > 0) {
      this.relist()
      return this.built
    }
    if (this.built !== undefined && this.shards !== undefined && this.changed.size === 0) {
      return this.built
    }
    this.built = this.update()
    this.changed.clear()
    return this.built
  }

  private update(): BuiltTree {
    const changed = this.shards === undefined ? this.groups.keys() : this.changed
    this.shards ??= new GroupedShards((group) => this.entriesOf(group))
    this.shards.update(changed)
    return { shards: this.shards.shards, records: this.shards.records, ttlSeconds: 0 }
  }

  private warn(warning: string): void {
    if (this.warned.has(warning) || this.warned.size === WARNINGS_MAX) return
    this.warned.add(warning)
    const rest = this.warned.size === WARNINGS_MAX ? '; further ones are not logged' : ''
    this.onWarning(`${warning}${rest}`)
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

  private replace(key: string, by: readonly KeptKey[]): void {
    const bytes = new TextEncoder().encode(key)
    const group = (hashName(bytes, bytes.length, HASH_SEED) >>> 0).toString(16)
    const before = this.groups.get(group) ?? []
    const after = [...before.filter((stored) => stored.key !== key), ...by]
    if (before.length === 0 && after.length === 0) return
    if (after.length === 0) this.groups.delete(group)
    else this.groups.set(group, after)
    this.keyCount += after.length - before.length
    this.size += sizeOf(after) - sizeOf(before)
    this.lackingCount += countLacking(after) - countLacking(before)
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

function sizeOf(keys: readonly KeptKey[]): number {
  return keys.reduce((sum, { key, value, lacking }) => sum + key.length + value.length + lacking, 0)
}

function countLacking(keys: readonly KeptKey[]): number {
  return keys.filter(({ lacking }) => lacking > 0).length
}
