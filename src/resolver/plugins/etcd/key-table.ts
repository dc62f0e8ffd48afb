/**
 * The keys of an etcd in memory, sorted, each parsed once.
 * @module
 */
import type { StoredKey } from '../../../snapshot/records/stored-keys.ts'
import { type EtcdService, parseService } from './service.ts'

/** The service of a key, or the reason why its value is not valid. */
export type KeyEntry = EtcdService | string

/** Keys in the order of their bytes. */
export class KeyTable {
  private readonly keys: string[] = []
  private readonly entries = new Map<string, KeyEntry>()

  /** Characters of all keys, and of the strings that are held of their values. */
  characters = 0

  get size(): number {
    return this.keys.length
  }

  /** Adds or replaces a key. @returns why its value is not valid, if so */
  set(stored: StoredKey): string | undefined {
    const { key } = stored
    const before = this.entries.get(key)
    if (before === undefined) this.keys.splice(this.indexOf(key), 0, key)
    const entry = parseService(stored)
    this.entries.set(key, entry)
    this.characters += charactersOf(key, entry) - charactersOf(key, before)
    return typeof entry === 'string' ? entry : undefined
  }

  /** Removes a key; ignores an unknown one. */
  delete(key: string): void {
    this.characters -= charactersOf(key, this.entries.get(key))
    if (this.entries.delete(key)) this.keys.splice(this.indexOf(key), 1)
  }

  find(key: string): KeyEntry | undefined {
    return this.entries.get(key)
  }

  /** Lists the keys that start with a prefix, in order. */
  *below(prefix: string): Generator<[key: string, entry: KeyEntry]> {
    for (let i = this.indexOf(prefix); i < this.keys.length; i++) {
      const key = this.keys[i] ?? ''
      const entry = this.entries.get(key)
      if (!key.startsWith(prefix) || entry === undefined) return
      yield [key, entry]
    }
  }

  /** Returns the index of the first key from `key` on. Tries the end first: pages are sorted. */
  private indexOf(key: string): number {
    const last = this.keys.at(-1)
    if (last !== undefined && last < key) return this.keys.length
    let low = 0
    let high = this.keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.keys[middle] ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

function charactersOf(key: string, entry: KeyEntry | undefined): number {
  if (entry === undefined) return 0
  if (typeof entry === 'string') return key.length + entry.length
  return key.length + entry.host.length + entry.text.length + entry.group.length
}
