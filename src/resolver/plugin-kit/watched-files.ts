/**
 * Files that a plugin reads again after they were written.
 * @module
 */
import type { FileState, Host } from '../contract/host.ts'

/**
 * Resolution of modification times: a second write within it may leave the time unchanged. Two
 * seconds on file systems that store whole seconds, a tick of the kernel's clock on others.
 */
const COARSE_MS = 2000
const FINE_MS = 20

/** The files of one read, and what they were then. */
export class WatchedFiles {
  private readonly host: Pick<Host, 'readFile' | 'fileState' | 'now'>
  private readonly states = new Map<string, FileState | undefined>()
  private readMs = 0

  constructor(host: Pick<Host, 'readFile' | 'fileState' | 'now'>) {
    this.host = host
  }

  /** Forgets all files: a new read begins. */
  clear(): void {
    this.states.clear()
    this.readMs = this.host.now()
  }

  /** Reads a file. @throws {Error} with the reason if it cannot be read */
  read(path: string): Promise<Uint8Array> {
    this.states.set(path, this.host.fileState(path))
    return this.host.readFile(path)
  }

  /**
   * Returns whether no file has changed since it was read. False without a file, for one that did
   * not exist, and for one read too soon after its last write.
   */
  get isUnchanged(): boolean {
    if (this.states.size === 0) return false
    for (const [path, known] of this.states) {
      const now = this.host.fileState(path)
      if (known === undefined || known.modifiedMs >= this.readMs - settlingMs(known)) return false
      if (now?.modifiedMs !== known.modifiedMs || now.bytes !== known.bytes) return false
    }
    return true
  }
}

function settlingMs({ modifiedMs }: FileState): number {
  return modifiedMs % 1000 === 0 ? COARSE_MS : FINE_MS
}
