/**
 * Files that list upstreams, such as /etc/resolv.conf: followed while the server runs.
 * @module
 */

import { type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Metrics } from '../../../dns/telemetry/metrics.ts'
import type { FileState, Host } from '../../contract/host.ts'
import { listsServers, type UpstreamFile } from './upstreams.ts'

/** Pause between two looks at the files. */
const LOOK_MS = 5000

/** The last text of each file that listed a name server, by process, whatever reloads happen. */
const LISTED = new WeakMap<Metrics, Map<string, string>>()

/**
 * Reads a file that lists upstreams. One that lists none, or is gone, counts as it was before:
 * programs empty it before they write it.
 */
export function readListing(host: Host, path: string): string | undefined {
  const listed = LISTED.get(host.metrics) ?? new Map<string, string>()
  LISTED.set(host.metrics, listed)
  const text = host.readText(path)
  if (text !== undefined && listsServers(text)) {
    listed.set(path, text)
    return text
  }
  const before = listed.get(path)
  if (before === undefined) return text
  const message = 'a file lists no nameserver any more; its previous ones stay'
  host.log({ level: 'warning', message, path })
  return before
}

/** Warns of files without name servers. */
export function noticesOfFiles(files: readonly UpstreamFile[]): Problem[] {
  return files.flatMap(({ word, state }) => {
    if (state === 'listed') return []
    const what = state === 'missing' ? 'is missing or unreadable' : 'lists no nameserver'
    const until = 'queries that need it fail until it lists one'
    return [problemAt(word, `"${word.text}" ${what}: ${until}`)]
  })
}

/** Looks at files from time to time. */
export class UpstreamFiles {
  private readonly paths: readonly string[]
  private readonly host: Host
  private readonly changed: () => void
  private states: readonly (FileState | undefined)[]
  private cancel = (): void => {}

  /** @param changed called after a file was written, created or deleted */
  constructor(files: readonly UpstreamFile[], host: Host, changed: () => void) {
    this.paths = files.map(({ word }) => word.text.replace(/^[a-z]+:\/\//, ''))
    this.host = host
    this.changed = changed
    this.states = this.look()
  }

  /** Starts to look, if there are files. */
  start(): void {
    if (this.paths.length === 0) return
    this.cancel = this.host.after(LOOK_MS, () => {
      const before = this.states
      this.states = this.look()
      if (this.states.some((state, i) => isOther(state, before[i]))) this.changed()
      this.start()
    })
  }

  /** Ends the looks. */
  stop(): void {
    this.cancel()
  }

  private look(): readonly (FileState | undefined)[] {
    return this.paths.map((path) => this.host.fileState(path))
  }
}

function isOther(a: FileState | undefined, b: FileState | undefined): boolean {
  return a?.modifiedMs !== b?.modifiedMs || a?.bytes !== b?.bytes
}
