/**
 * Records in files: `PATH.N`, one record a line; the highest N counts. `PATH` itself is version 0,
 * which earlier builds wrote. Some earlier versions stay where there is a {@link FileHistory}.
 *
 * A change writes version N + 1 as a new file, which fails when another process has written it
 * meanwhile: then the change is checked against that version and starts again. So several gateways
 * may share a folder, and a crash leaves no lock behind. The file system must have hard links.
 *
 * A broken line is no record and takes no other one away; the next change appends it to
 * `PATH.broken`.
 * @module
 */
import { basename, dirname } from 'node:path'
import { EMPTY, equalBytes } from '../../dns/bytes/bytes.ts'
import type { FileHistory } from './file-history.ts'
import { Files } from './files.ts'
import {
  encodeLines,
  formatLines,
  type LineFormat,
  type Named,
  type ParsedLines,
  parseLines,
} from './record-lines.ts'
import {
  ATTEMPTS_MAX,
  type EarlierVersion,
  type RecordVersion,
  type RecordVersions,
} from './record-list.ts'

/** Versions that stay, the newest included. Only a return to an earlier time reads older ones. */
const VERSIONS_KEPT = 16

/** Bytes of `PATH.broken` after which it starts again. */
const BROKEN_BYTES_MAX = 1024 * 1024

/** What a file of records needs beside the path. */
export type LineFileOptions = {
  readonly files?: Files
  /** Keeps earlier versions; they are removed when left out. */
  readonly history?: FileHistory
  /** Gets a file with a broken line, and the line's number from 1; never its text. */
  readonly onBroken: (file: string, line: number) => void
}

type Contents<T> = ParsedLines<T> & {
  readonly version: number
  readonly bytes: Uint8Array
  readonly list: readonly T[]
}

const NONE: Contents<never> = {
  version: 0,
  bytes: EMPTY,
  records: new Map<string, never>(),
  list: [],
  lines: new Map<string, never>(),
  broken: [],
}

/** The versions of a file; the first change writes the first. */
export class FileVersions<T extends Named> implements RecordVersions<T> {
  readonly path: string
  private readonly form: LineFormat<T>
  private readonly files: Files
  private readonly history: FileHistory | undefined
  private readonly onBroken: LineFileOptions['onBroken']
  /** The version that was read last: most reads find it unchanged. */
  private last: Contents<T> | undefined

  constructor(
    path: string,
    form: LineFormat<T>,
    { files = new Files(), history, onBroken }: LineFileOptions,
  ) {
    this.path = path
    this.form = form
    this.files = files
    this.history = history
    this.onBroken = onBroken
  }

  /** Reads the newest version. A file that vanishes while it is looked for has a newer one. */
  async readNewest(): Promise<RecordVersion<T>> {
    const newest = await this.readContents()
    const { records, list } = newest
    return { records, list, writeNext: (next) => this.writeNext(newest, next) }
  }

  private async readContents(): Promise<Contents<T>> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [version] = await this.list()
      if (version === undefined) return NONE
      const bytes = await this.files.read(this.pathOf(version))
      if (bytes !== undefined) return this.open(version, bytes)
    }
    throw new Error(`Cannot read ${this.path}: other processes change it all the time`)
  }

  /** Reads the version that was the newest at a time. One that vanishes meanwhile was renamed. */
  async readAt(atMs: number): Promise<EarlierVersion<T>> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const paths = (await this.list()).map((version) => this.pathOf(version))
      const none = { kind: 'missing', oldestMs: undefined } as const
      const found = (await this.history?.find(atMs, paths)) ?? none
      if (found.kind === 'missing') return found
      const { path, writtenMs } = found
      const bytes = await this.files.read(path)
      if (bytes === undefined) continue
      const { records } = await this.parse(basename(path), bytes)
      return { kind: 'found', writtenMs, records }
    }
    throw new Error(`Cannot read ${this.path}: other processes change it all the time`)
  }

  /**
   * Writes the version after `newest`; false when another process has. Removed versions are
   * {@link VERSIONS_KEPT} behind the newest, so while that one is closer, this one was not there
   * before and counts.
   * @throws {Error} when so many versions came since that this one may have been removed before
   */
  private async writeNext(newest: Contents<T>, records: ReadonlyMap<string, T>): Promise<boolean> {
    const version = newest.version + 1
    await this.setAside(newest.broken)
    const { bytes, lines } = await formatLines(this.form, records, newest.lines)
    // Writing waits for the disk: others may have made many versions meanwhile.
    const isNext = async (): Promise<boolean> => ((await this.list())[0] ?? 0) < version
    if (!(await this.files.writeNew(this.pathOf(version), [bytes], isNext))) return false
    const folder = dirname(this.path)
    await this.files.sync(folder)
    const versions = await this.list()
    const [last = version] = versions
    const old = versions.filter((one) => one <= last - VERSIONS_KEPT).reverse()
    await this.retire(old.map((one) => this.pathOf(one)))
    await this.files.sweep(folder, `${basename(this.path)}.`)
    this.last = { version, bytes, records, list: [...records.values()], lines, broken: [] }
    if (last < version + VERSIONS_KEPT) return true
    throw new Error(
      `Cannot write ${this.path}: other processes made ${last - version} changes meanwhile`,
    )
  }

  private async retire(paths: readonly string[]): Promise<void> {
    if (this.history !== undefined) return this.history.take(paths)
    for (const path of paths) await this.files.remove(path)
  }

  private async open(version: number, bytes: Uint8Array): Promise<Contents<T>> {
    const { last = NONE } = this
    if (last.version === version && equalBytes(last.bytes, bytes)) return last
    const parsed = await this.parse(basename(this.pathOf(version)), bytes)
    this.last = { version, bytes, list: [...parsed.records.values()], ...parsed }
    return this.last
  }

  private parse(file: string, bytes: Uint8Array): Promise<ParsedLines<T>> {
    const { lines } = this.last ?? NONE
    return parseLines(this.form, bytes, lines, (line) => this.onBroken(file, line))
  }

  private async setAside(broken: readonly string[]): Promise<void> {
    if (broken.length === 0) return
    const path = `${this.path}.broken`
    const before = (await this.files.read(path)) ?? EMPTY
    const kept = before.length < BROKEN_BYTES_MAX ? before : EMPTY
    await this.files.write(path, [kept, encodeLines(broken)])
  }

  /** Lists the versions, the newest first. */
  private async list(): Promise<readonly number[]> {
    const name = basename(this.path)
    const names = await this.files.list(dirname(this.path))
    return names
      .filter((one) => one.startsWith(`${name}.`))
      .map((one) => one.slice(name.length + 1))
      .filter((text) => /^[1-9]\d{0,14}$/.test(text))
      .map(Number)
      .concat(names.includes(name) ? [0] : [])
      .sort((a, b) => b - a)
  }

  private pathOf(version: number): string {
    return version === 0 ? this.path : `${this.path}.${version}`
  }
}
