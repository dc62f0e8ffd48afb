/**
 * A disk in memory that fails as a test scripts it: full at a byte, read-only, an error or a crash
 * at a step, a flipped bit. It forgets in a power cut what was not synced.
 * @module
 */
import { dirname } from 'node:path'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import type { FileSystem } from '../../../src/server/gateway/files.ts'
import type { OpenFile } from '../../../src/server/node/whole-file.ts'

type Inode = { bytes: Uint8Array; synced: Uint8Array; mtimeMs: number }

/** An error as the file system gives it. */
export function errno(code: string): Error {
  return Object.assign(new Error(`${code}: fault`), { code })
}

/** The disk. */
export class FakeDisk implements FileSystem {
  /** Bytes that all files together may have. */
  capacity: number = Number.POSITIVE_INFINITY
  isReadOnly = false
  /** Steps taken: one for each operation. */
  steps = 0
  /** Runs before each operation: may throw, or give a promise to wait for. */
  before: (operation: string, path: string) => unknown = () => undefined
  nowMs = 0
  private readonly folders = new Set(['/'])
  private files = new Map<string, Inode>()
  private syncedFiles = new Map<string, Inode>()

  readonly mkdir: FileSystem['mkdir'] = async (path) => {
    await this.step('mkdir', path)
    let first: string | undefined
    for (let at = path; !this.folders.has(at); at = dirname(at)) {
      this.write()
      this.folders.add(at)
      first = at
    }
    return first
  }

  readonly open: FileSystem['open'] = async (path, flags) => {
    await this.step('open', path)
    if (flags === 'r') {
      if (!this.folders.has(path)) throw errno('ENOENT')
      return this.openFolder(path)
    }
    this.write()
    if (this.files.has(path)) throw errno('EEXIST')
    const none = new Uint8Array(0)
    const inode = { bytes: none, synced: none, mtimeMs: this.nowMs }
    this.files.set(path, inode)
    return this.openFile(path, inode)
  }

  readonly readFile: FileSystem['readFile'] = async (path) => {
    await this.step('read', path)
    return this.find(path).bytes.slice()
  }

  readonly readdir: FileSystem['readdir'] = async (path) => {
    await this.step('readdir', path)
    if (!this.folders.has(path)) throw errno('ENOENT')
    return this.paths(path).map((one) => one.slice(path.length + 1))
  }

  readonly stat: FileSystem['stat'] = async (path) => {
    await this.step('stat', path)
    const { bytes, mtimeMs } = this.find(path)
    return { size: bytes.length, mtimeMs }
  }

  readonly rename: FileSystem['rename'] = async (from, to) => {
    await this.step('rename', from)
    this.write()
    this.files.set(to, this.find(from))
    this.files.delete(from)
  }

  readonly link: FileSystem['link'] = async (from, to) => {
    await this.step('link', to)
    this.write()
    if (this.files.has(to)) throw errno('EEXIST')
    this.files.set(to, this.find(from))
  }

  readonly rm: FileSystem['rm'] = async (path) => {
    await this.step('rm', path)
    if (!this.files.has(path)) return
    this.write()
    this.files.delete(path)
  }

  /** Lists the files below a folder, or directly in it. */
  paths(folder: string, isDeep = false): string[] {
    const isIn = (path: string): boolean =>
      isDeep ? path.startsWith(`${folder}/`) : dirname(path) === folder
    return [...this.files.keys()].filter(isIn).sort()
  }

  /** Returns the bytes of a file, which the caller may change: a fault at rest. */
  bytesOf(path: string): Uint8Array {
    return this.find(path).bytes
  }

  /** Replaces or creates a file, past all faults. */
  put(path: string, bytes: Uint8Array): void {
    for (let at = dirname(path); !this.folders.has(at); at = dirname(at)) this.folders.add(at)
    const inode = { bytes, synced: bytes, mtimeMs: this.nowMs }
    this.files.set(path, inode)
    this.syncedFiles.set(path, inode)
  }

  /** Goes back to what was synced: contents by file, names by folder. */
  cutPower(): void {
    this.files = new Map(this.syncedFiles)
    for (const inode of this.files.values()) inode.bytes = inode.synced
  }

  /** Ends all faults. */
  heal(): void {
    this.capacity = Number.POSITIVE_INFINITY
    this.isReadOnly = false
    this.before = () => undefined
  }

  private openFolder(path: string): OpenFile {
    const denied = (): never => {
      throw errno('EISDIR')
    }
    return {
      write: denied,
      stat: denied,
      utimes: denied,
      sync: async () => {
        await this.step('sync', path)
        for (const one of this.syncedFiles.keys()) {
          if (dirname(one) === path) this.syncedFiles.delete(one)
        }
        for (const one of this.paths(path)) this.syncedFiles.set(one, this.find(one))
      },
      close: () => Promise.resolve(),
    }
  }

  private openFile(path: string, inode: Inode): OpenFile {
    return {
      write: async (bytes) => {
        await this.step('write', path)
        this.write()
        const room = Math.max(0, this.capacity - this.used())
        if (room === 0 && bytes.length > 0) throw errno('ENOSPC')
        const taken = bytes.subarray(0, room)
        inode.bytes = concatBytes(inode.bytes, taken)
        return { bytesWritten: taken.length }
      },
      stat: async () => ({ size: inode.bytes.length }),
      utimes: async (_, seconds) => {
        inode.mtimeMs = seconds * 1000
      },
      sync: async () => {
        await this.step('sync', path)
        inode.synced = inode.bytes
      },
      close: () => Promise.resolve(),
    }
  }

  private async step(operation: string, path: string): Promise<void> {
    this.steps++
    await this.before(operation, path)
  }

  private write(): void {
    if (this.isReadOnly) throw errno('EROFS')
  }

  private find(path: string): Inode {
    const inode = this.files.get(path)
    if (inode === undefined) throw errno('ENOENT')
    return inode
  }

  /** Bytes of all files. */
  used(): number {
    let bytes = 0
    for (const inode of new Set(this.files.values())) bytes += inode.bytes.length
    return bytes
  }
}
