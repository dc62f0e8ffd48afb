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
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { EMPTY, equalBytes } from '../../dns/bytes/bytes.ts'
import { createSharedPause } from '../../dns/bytes/steps.ts'
import { Mutex } from '../../gateway/snapshots/store.ts'
import { NODE_TURNS } from '../node/node-turns.ts'
import type { FileHistory, FoundVersion } from './file-history.ts'
import { Files } from './files.ts'

/** How often other processes may come first before a read or a change fails. */
const ATTEMPTS_MAX = 100
/** Versions that stay, the newest included. Only a return to an earlier time reads older ones. */
const VERSIONS_KEPT = 16

/** Bytes of `PATH.broken` after which it starts again. */
const BROKEN_BYTES_MAX = 1024 * 1024
/** Digits of the SHA-256 at the end of a line. */
const SUM_DIGITS = 16
const LINE = /^(.*),"sum":"([0-9a-f]{16})"\}$/s

/** What a file of records needs beside the path. */
export type LineFileOptions = {
  readonly files?: Files
  /** Keeps earlier versions; they are removed when left out. */
  readonly history?: FileHistory
  /** Gets a file with a broken line, and the line's number from 1; never its text. */
  readonly onBroken: (file: string, line: number) => void
}

/** A record, and how it is written. */
export type LineFormat<T extends Named> = {
  /** Formats a record as a JSON object. */
  readonly format: (record: T) => string
  /** Parses what `format` returned; `undefined` for anything else. */
  readonly parse: (text: string) => T | undefined
}

type Named = { readonly id: string }

type Contents<T> = {
  readonly version: number
  readonly bytes: Uint8Array
  readonly records: ReadonlyMap<string, T>
  /** The records again: the same list while the file is the same. */
  readonly list: readonly T[]
  /** The record of each line with a checksum, which the next version need not parse or format. */
  readonly lines: ReadonlyMap<string, T>
  /** Lines without a valid record. */
  readonly broken: readonly string[]
}

const NONE: Contents<never> = {
  version: 0,
  bytes: EMPTY,
  records: new Map<string, never>(),
  list: [],
  lines: new Map<string, never>(),
  broken: [],
}

/** Records by their identifiers, in the versions of a file; the first change writes the first. */
export class LineFile<T extends Named> {
  private readonly path: string
  private readonly versions: Versions<T>
  private readonly mutex = new Mutex()

  constructor(path: string, form: LineFormat<T>, options: LineFileOptions) {
    this.path = path
    this.versions = new Versions(path, form, options)
  }

  /** Lists the records. */
  async list(): Promise<readonly T[]> {
    return (await this.versions.readNewest()).list
  }

  /** Returns to the records of a time, as a new version, as far as the history has them. */
  async restore(atMs: number): Promise<FoundVersion> {
    const { found, records } = await this.versions.readAt(atMs)
    if (found.kind === 'found') {
      const replaceAll = (now: Map<string, T>): void => {
        now.clear()
        for (const [id, record] of records) now.set(id, record)
      }
      await this.change(replaceAll, () => true)
    }
    return found
  }

  /**
   * Runs a step over the records, and writes them if its result is a change. Runs the step again
   * when another process has changed them meanwhile.
   */
  change<Result>(
    step: (records: Map<string, T>) => Result,
    isChange: (result: Result) => boolean,
  ): Promise<Result> {
    return this.mutex.run(async () => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const newest = await this.versions.readNewest()
        const records = new Map(newest.records)
        const result = step(records)
        if (!isChange(result) || (await this.versions.writeNext(newest, records))) return result
      }
      throw new Error(`Cannot write ${this.path}: other processes change it all the time`)
    })
  }
}

/** The versions of the file. */
class Versions<T extends Named> {
  private readonly path: string
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
  async readNewest(): Promise<Contents<T>> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [version] = await this.list()
      if (version === undefined) return NONE
      const bytes = await this.files.read(this.pathOf(version))
      if (bytes !== undefined) return this.open(version, bytes)
    }
    throw new Error(`Cannot read ${this.path}: other processes change it all the time`)
  }

  /** Reads the version that was the newest at a time. One that vanishes meanwhile was renamed. */
  async readAt(
    atMs: number,
  ): Promise<{ readonly found: FoundVersion; readonly records: Contents<T>['records'] }> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const paths = (await this.list()).map((version) => this.pathOf(version))
      const none = { kind: 'missing', oldestMs: undefined } as const
      const found = (await this.history?.find(atMs, paths)) ?? none
      if (found.kind === 'missing') return { found, records: NONE.records }
      const bytes = await this.files.read(found.path)
      if (bytes === undefined) continue
      const { records } = await this.parse(basename(found.path), bytes)
      return { found, records }
    }
    throw new Error(`Cannot read ${this.path}: other processes change it all the time`)
  }

  /**
   * Writes the version after `newest`; false when another process has. Removed versions are
   * {@link VERSIONS_KEPT} behind the newest, so while that one is closer, this one was not there
   * before and counts.
   * @throws {Error} when so many versions came since that this one may have been removed before
   */
  async writeNext(newest: Contents<T>, records: Map<string, T>): Promise<boolean> {
    const version = newest.version + 1
    await this.setAside(newest.broken)
    const { bytes, lines } = await this.format(newest, records)
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

  /** Parses what was read, in slices: clients wait for no more than a few of 10,000 lines. */
  private async parse(
    file: string,
    bytes: Uint8Array,
  ): Promise<Pick<Contents<T>, 'records' | 'lines' | 'broken'>> {
    const { last = NONE } = this
    const records = new Map<string, T>()
    const lines = new Map<string, T>()
    const broken: string[] = []
    const pause = createSharedPause(NODE_TURNS)
    for (const [index, line] of new TextDecoder().decode(bytes).split('\n').entries()) {
      const paused = pause()
      if (paused !== undefined) await paused
      const record = line === '' ? undefined : (last.lines.get(line) ?? this.parseLine(line))
      if (record !== undefined) {
        records.set(record.id, record)
        if (LINE.test(line)) lines.set(line, record)
      } else if (line !== '') {
        broken.push(line)
        this.onBroken(file, index + 1)
      }
    }
    return { records, lines, broken }
  }

  /** Formats the records of a version, in slices; reuses the lines of the previous version. */
  private async format(
    { lines: known }: Contents<T>,
    records: ReadonlyMap<string, T>,
  ): Promise<Pick<Contents<T>, 'bytes' | 'lines'>> {
    const before = new Map([...known].map(([line, record]) => [record, line]))
    const lines = new Map<string, T>()
    const pause = createSharedPause(NODE_TURNS)
    for (const record of records.values()) {
      lines.set(before.get(record) ?? this.formatLine(record), record)
      const paused = pause()
      if (paused !== undefined) await paused
    }
    return { bytes: encode([...lines.keys()]), lines }
  }

  /** Writes the record and its checksum, so that a flipped bit changes no record. */
  private formatLine(record: T): string {
    const text = this.form.format(record)
    return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}`
  }

  /** Reads a line; one without a checksum is from before there were any. */
  private parseLine(line: string): T | undefined {
    const [, text, sum] = LINE.exec(line) ?? []
    if (text !== undefined && sumOf(`${text}}`) !== sum) return undefined
    return this.form.parse(line)
  }

  private async setAside(broken: readonly string[]): Promise<void> {
    if (broken.length === 0) return
    const path = `${this.path}.broken`
    const before = (await this.files.read(path)) ?? EMPTY
    const kept = before.length < BROKEN_BYTES_MAX ? before : EMPTY
    await this.files.write(path, [kept, encode(broken)])
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

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, SUM_DIGITS)
}

function encode(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
}
