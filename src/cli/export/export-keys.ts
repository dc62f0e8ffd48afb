/**
 * The keys of `etcd` directives, for `kubedoh export`.
 * @module
 */

import { sleep } from '../../cluster/api/backoff.ts'
import { KeyTree } from '../../cluster/follow/key-tree.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { recordKeys, recordKeysConnected } from '../../exporter/export-metrics.ts'
import type { EtcdConnection } from '../../resolver/plugins/etcd/options.ts'
import { KeySources } from '../../server/etcd/key-sources.ts'

/** How long the first publication waits for the keys: other names do not depend on an etcd. */
const WAIT_MS = 5000

/** What the keys need. */
type KeysOptions = {
  /** A file of keys that replaces the etcd; '' for none. */
  readonly file: string
  /** Whether there is only one publication, which waits for the keys. */
  readonly isOnce: boolean
  readonly log: Log
  readonly metrics: Metrics
  readonly onChange: () => void
}

/** The keys of an etcd. */
type ExportedKeys = {
  readonly tree: KeyTree
  /** Starts to watch them. @throws {CommandError} if their file is unreadable */
  readonly start: (signal: AbortSignal) => void
}

/** Returns the keys of some directives; `undefined` without one. */
export function exportedKeys(
  connections: readonly EtcdConnection[],
  options: KeysOptions,
): ExportedKeys | undefined {
  const { log } = options
  if (connections.length === 0) return undefined
  let sources: KeySources | undefined
  const onWarning = (message: string): void => log({ level: 'warning', message })
  const tree = new KeyTree(onWarning, { relist: () => sources?.relist() })
  const start = (signal: AbortSignal): void => {
    sources = follow(tree, connections, { ...options, signal })
  }
  return { tree, start }
}

function follow(
  tree: KeyTree,
  connections: readonly EtcdConnection[],
  { file, isOnce, log, metrics, onChange, signal }: KeysOptions & { readonly signal: AbortSignal },
): KeySources {
  const invalid = new Set<string>()
  const sources = new KeySources({
    file,
    log,
    onChange: (change, isValid) => {
      const key = change.kind === 'put' ? change.stored.key : change.key
      if (change.kind === 'put') tree.set(change.stored)
      else tree.delete(key)
      if (isValid) invalid.delete(key)
      else invalid.add(key)
      recordKeys(metrics, tree.count, invalid.size)
      onChange()
    },
    onConnected: (isConnected) => recordKeysConnected(metrics, isConnected),
  })
  if (file === '') recordKeysConnected(metrics, false)
  // A file has the keys of all directives.
  for (const connection of file === '' ? connections : connections.slice(0, 1)) {
    sources.open(connection)
  }
  signal.addEventListener('abort', () => sources.keep([]))
  void sources.synced().then(() => {
    tree.complete()
    onChange()
  })
  if (isOnce) return sources
  void sleep(WAIT_MS, signal).then(() => {
    if (signal.aborted || !tree.isAwaited) return
    tree.proceed()
    log({ level: 'warning', message: 'publishing without the keys of etcd, which are not read' })
    onChange()
  })
  return sources
}
