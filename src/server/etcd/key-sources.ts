/**
 * The keys of `etcd` directives, for a server in this process: from a file, or from a watched etcd.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { sleep } from '../../cluster/api/backoff.ts'
import { errorText, fileReason } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { KeyTable } from '../../resolver/plugins/etcd/key-table.ts'
import type { EtcdConnection, KeySource } from '../../resolver/plugins/etcd/options.ts'
import { CommandError } from '../node/output.ts'
import { EtcdClient } from './etcd-client.ts'
import { bytesOf } from './etcd-json.ts'
import { EtcdWatch, type OnKeyChange } from './etcd-watch.ts'

/** Options of key sources that are not in the directives. */
export type KeySourceOptions = {
  /** A file of keys that replaces every etcd; '' for none. */
  readonly file: string
  readonly log: Log
  /** Receives each change of a key. */
  readonly onChange?: OnKeyChange
  /** Receives whether all watches are open, when one has opened or ended. */
  readonly onConnected?: (isConnected: boolean) => void
}

type Opened = { readonly source: KeySource; readonly live?: Live }
type Live = { readonly watch: EtcdWatch; readonly client: EtcdClient }

const FILE_BYTES_MAX = 256 * 1024 * 1024

/** Opens one source for each distinct directive, and keeps it when the Corefile is reloaded. */
export class KeySources {
  private readonly options: KeySourceOptions
  private readonly opened = new Map<string, Opened>()

  constructor(options: KeySourceOptions) {
    this.options = options
  }

  /**
   * Returns the keys of a directive, and starts to watch them.
   * @throws {ConfigError} if certificate and key do not match
   * @throws {CommandError} if the file of keys is unreadable
   */
  open(connection: EtcdConnection): KeySource {
    const { file } = this.options
    const key = connectionKey(connection)
    const known = this.opened.get(key)
    if (known !== undefined) return known.source
    const onConnected = (): void => this.options.onConnected?.(this.isConnected)
    const opened =
      file === '' ? openEtcd(connection, this.options, onConnected) : openFile(this.options)
    this.opened.set(key, opened)
    return opened.source
  }

  /** Closes the sources that no directive of `inUse` needs. */
  keep(inUse: readonly EtcdConnection[]): void {
    const keys = new Set(inUse.map(connectionKey))
    for (const [key, { live }] of this.opened) {
      if (keys.has(key)) continue
      live?.watch.stop()
      live?.client.close()
      this.opened.delete(key)
    }
  }

  private get isConnected(): boolean {
    return [...this.opened.values()].every(({ live }) => live?.watch.isConnected !== false)
  }

  /** Lists all keys of etcds again, and reports them as changes. */
  relist(): void {
    for (const { live } of this.opened.values()) live?.watch.relist()
  }

  /** Resolves when every source has its keys. */
  async synced(): Promise<void> {
    await Promise.all([...this.opened.values()].map(({ live }) => live?.watch.synced))
  }
}

function openEtcd(
  connection: EtcdConnection,
  { log, onChange }: KeySourceOptions,
  onConnected: () => void,
): Opened {
  const client = new EtcdClient(connection)
  const watch = new EtcdWatch({
    api: client,
    path: connection.path,
    now: () => performance.now(),
    sleep,
    random: Math.random,
    onWarning: (message) => log({ level: 'warning', message }),
    onError: (message) => log({ level: 'error', message }),
    onConnected,
    ...(onChange && { onChange }),
  })
  void watch.run()
  return { source: watch, live: { watch, client } }
}

function openFile({ file, log, onChange }: KeySourceOptions): Opened {
  const table = new KeyTable()
  for (const [key, value] of readKeys(file)) {
    const stored = { key: bytesOf(key), value, lease: '' }
    const wrong = table.set(stored)
    onChange?.({ kind: 'put', stored }, wrong === undefined)
    if (wrong !== undefined) log({ level: 'warning', message: `key "${key}" of ${file}: ${wrong}` })
  }
  return { source: { current: () => table, leaseSeconds: () => undefined } }
}

/** Reads `[{"key", "value"}]`; formats a value that is not a string as JSON. */
function readKeys(file: string): [key: string, value: string][] {
  let list: unknown
  try {
    list = JSON.parse(readText(file))
  } catch (error) {
    if (error instanceof CommandError) throw error
    // Some messages quote several lines of the text.
    throw new CommandError(`${file}: ${errorText(error).replaceAll('\n', ' ')}`)
  }
  if (!Array.isArray(list)) throw new CommandError(`${file}: not a list of keys`)
  return list.map((item: unknown, i) => {
    if (!isKeyValue(item)) throw new CommandError(`${file}: item ${i} is not {"key", "value"}`)
    return [item.key, typeof item.value === 'string' ? item.value : JSON.stringify(item.value)]
  })
}

function readText(file: string): string {
  try {
    if (statSync(file).size <= FILE_BYTES_MAX) return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file}: ${fileReason(error)}`)
  }
  throw new CommandError(`${file}: over 256 MiB`)
}

function isKeyValue(item: unknown): item is { key: string; value: unknown } {
  if (typeof item !== 'object' || item === null) return false
  return 'key' in item && typeof item.key === 'string' && 'value' in item
}

/** Returns a connection without its position in the Corefile, to compare directives. */
export function connectionKey({
  line: _line,
  column: _column,
  file: _file,
  ...said
}: EtcdConnection): string {
  return JSON.stringify(said)
}
