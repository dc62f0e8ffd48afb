/**
 * The clusters that one process or isolate knows: those of CLUSTERS, and those of the directory,
 * which the token book keeps fresh. CLUSTERS wins.
 * @module
 */
import { importPublicKey } from '../../snapshot/format/signature.ts'
import type { ClusterConfig } from '../config/cluster-entry.ts'
import type { ClusterDirectory, DirectoryEntry, DirectoryUpdate } from './cluster-directory.ts'

/** What a gateway needs so that clusters come and go without a deployment. */
export type DirectoryRuntime = {
  readonly store: ClusterDirectory
  readonly clusters: KnownClusters
  /** Removes all that a cluster has published; resolves with whether there was anything. */
  readonly removeSnapshots: (cluster: string) => Promise<boolean>
}

/** The issuers of a cluster of the directory. */
export type ListedIssuers = {
  /** When the cluster was added, in milliseconds since 1970. */
  readonly createdMs: number
  /** A JSON list. */
  readonly text: string
}

/** The clusters of one gateway. */
export class KnownClusters {
  private configured: ReadonlyMap<string, ClusterConfig>
  private readonly listed = new Map<string, ListedCluster>()
  private readonly watchers = new Set<(id: string) => void>()
  /** What was taken last: a store gives the same list again while nothing changes. */
  private last: readonly DirectoryEntry[] | undefined
  /** The issuers of the directory, by cluster, sorted; another map whenever they change. */
  issuers: ReadonlyMap<string, ListedIssuers> = new Map()

  constructor(configured: ReadonlyMap<string, ClusterConfig>) {
    this.configured = configured
  }

  /** Takes over a changed CLUSTERS. */
  configure(configured: ReadonlyMap<string, ClusterConfig>): void {
    this.configured = configured
    this.takeIssuers()
  }

  /** Whether the directory was read. */
  get isLoaded(): boolean {
    return this.last !== undefined
  }

  /** Returns whether CLUSTERS has a cluster. */
  isConfigured(id: string): boolean {
    return this.configured.has(id)
  }

  /** Returns whether a cluster may publish. */
  has(id: string): boolean {
    return this.configured.has(id) || this.listed.has(id)
  }

  /** Finds a cluster. What is returned has the newest keys of the cluster, also later. */
  find(id: string): ClusterConfig | undefined {
    return this.configured.get(id) ?? this.listed.get(id)
  }

  /** Lists the identifiers, those of CLUSTERS first. */
  ids(): string[] {
    const listed = [...this.listed.keys()].filter((id) => !this.configured.has(id))
    return [...this.configured.keys(), ...listed]
  }

  /** Takes over what changed in the directory. */
  take({ isWhole, entries, removed }: DirectoryUpdate): void {
    if (isWhole && entries === this.last) return
    this.last = entries
    const kept = new Set(entries.map(({ id }) => id))
    const gone = isWhole ? [...this.listed.keys()].filter((id) => !kept.has(id)) : removed
    for (const id of gone) this.drop(id)
    for (const entry of entries) {
      const known = this.listed.get(entry.id)
      if (known !== undefined && known.createdMs === entry.createdMs) {
        known.update(entry)
        continue
      }
      // It was removed, and added with other keys, since.
      this.drop(entry.id)
      this.listed.set(entry.id, new ListedCluster(entry))
    }
    this.takeIssuers()
  }

  private takeIssuers(): void {
    const next = new Map<string, ListedIssuers>()
    for (const [id, { createdMs, issuers: text }] of this.listed) {
      if (text !== undefined && !this.configured.has(id)) next.set(id, { createdMs, text })
    }
    const isSame = [...next].every(([id, one]) => {
      const before = this.issuers.get(id)
      return before?.text === one.text && before.createdMs === one.createdMs
    })
    if (isSame && next.size === this.issuers.size) return
    this.issuers = new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Calls a function with each cluster that is removed; returns the function that ends this. */
  onRemoval(watcher: (id: string) => void): () => void {
    this.watchers.add(watcher)
    return () => void this.watchers.delete(watcher)
  }

  private drop(id: string): void {
    if (!this.listed.delete(id) || this.configured.has(id)) return
    for (const watcher of this.watchers) watcher(id)
  }
}

/** A cluster of the directory. Its keys are parsed when the first manifest is to be verified. */
class ListedCluster implements ClusterConfig {
  private entry: DirectoryEntry
  private imported: readonly CryptoKey[] | undefined

  constructor(entry: DirectoryEntry) {
    this.entry = entry
  }

  readonly publicKey = async (): Promise<readonly CryptoKey[]> => {
    if (this.imported !== undefined) return this.imported
    const { entry } = this
    const keys = await Promise.all(this.publicKeyTexts.map(importPublicKey))
    const imported = keys.filter((key) => key !== undefined)
    if (entry === this.entry) this.imported = imported
    return imported
  }

  get createdMs(): number {
    return this.entry.createdMs
  }

  get issuers(): string | undefined {
    return this.entry.issuers
  }

  get publicKeyTexts(): readonly string[] {
    return this.entry.keys.map(({ publicKey }) => publicKey)
  }

  get tokenSha256s(): readonly string[] {
    return this.entry.keys.map(({ tokenSha256 }) => tokenSha256)
  }

  update(entry: DirectoryEntry): void {
    this.entry = entry
    this.imported = undefined
  }
}
