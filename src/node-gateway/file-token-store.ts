/**
 * The tokens of clients in files: `PATH.N`, one record a line; the highest N counts. `PATH` itself
 * is version 0, which earlier builds wrote.
 *
 * A change writes version N + 1 as a new file, which fails when another process has written it
 * meanwhile: then the change is checked against that version and starts again. So several gateways
 * may share a folder, and a crash leaves no lock behind. The file system must have hard links.
 * @module
 */
import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { TokenRecord } from '../gateway/token.ts'
import {
  addTo,
  formatTokenRecord,
  parseTokenRecord,
  replaceIn,
  type TokenStore,
} from '../gateway/token-store.ts'
import { Turns } from '../gateway/turns.ts'
import { namesIn, readWhole, writeNew } from './files.ts'

/** How often other processes may come first before a read or a change fails. */
const ATTEMPTS_MAX = 100
/** Versions that stay, the newest included. Older ones are never read again. */
const VERSIONS_KEPT = 16

type Records = Map<string, TokenRecord>

/** Creates the store; the first file is written with the first token. */
export function createFileTokenStore(path: string): TokenStore {
  const turns = new Turns()
  const change = <T>(step: (records: Records) => T, isChange: (result: T) => boolean): Promise<T> =>
    turns.take(async () => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const { version, records } = await readNewest(path)
        const result = step(records)
        if (!isChange(result) || (await writeVersion(path, version + 1, records))) return result
      }
      throw new Error(`Cannot write ${path}: other processes change it all the time`)
    })
  return {
    list: async () => [...(await readNewest(path)).records.values()],
    add: (record) =>
      change(
        (records) => addTo(records, record),
        ({ kind }) => kind === 'added',
      ),
    replace: (before, next) => change((records) => replaceIn(records, before, next), Boolean),
    remove: (id) => change((records) => records.delete(id), Boolean),
  }
}

/** Reads the newest version. A file that vanishes while it is looked for has a newer one. */
async function readNewest(path: string): Promise<{ version: number; records: Records }> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const [version] = await versionsOf(path)
    if (version === undefined) return { version: 0, records: new Map() }
    const bytes = await readWhole(pathOf(path, version))
    if (bytes !== undefined) return { version, records: parse(bytes) }
  }
  throw new Error(`Cannot read ${path}: other processes change it all the time`)
}

/**
 * Writes a version; false when another process has. Removed versions are {@link VERSIONS_KEPT}
 * behind the newest, so while that one is closer, this one was not there before and counts.
 * @throws {Error} when so many versions came since that this one may have been removed before
 */
async function writeVersion(path: string, version: number, records: Records): Promise<boolean> {
  const lines = [...records.values()].map((record) => `${formatTokenRecord(record)}\n`)
  const bytes = new TextEncoder().encode(lines.join(''))
  // Writing waits for the disk: others may have made many versions meanwhile.
  const isNext = async (): Promise<boolean> => ((await versionsOf(path))[0] ?? 0) < version
  if (!(await writeNew(pathOf(path, version), [bytes], isNext))) return false
  const versions = await versionsOf(path)
  const [newest = version] = versions
  for (const one of versions) {
    if (one <= newest - VERSIONS_KEPT) await rm(pathOf(path, one), { force: true })
  }
  if (newest < version + VERSIONS_KEPT) return true
  throw new Error(
    `Cannot write ${path}: other processes made ${newest - version} changes meanwhile`,
  )
}

/** Lists the versions, the newest first. */
async function versionsOf(path: string): Promise<readonly number[]> {
  const name = basename(path)
  const names = await namesIn(dirname(path))
  return names
    .filter((one) => one.startsWith(`${name}.`))
    .map((one) => one.slice(name.length + 1))
    .filter((text) => /^[1-9]\d{0,14}$/.test(text))
    .map(Number)
    .concat(names.includes(name) ? [0] : [])
    .sort((a, b) => b - a)
}

function pathOf(path: string, version: number): string {
  return version === 0 ? path : `${path}.${version}`
}

function parse(bytes: Uint8Array): Records {
  const lines = new TextDecoder().decode(bytes).split('\n')
  const records = lines.flatMap((line) => (line === '' ? [] : (parseTokenRecord(line) ?? [])))
  return new Map(records.map((record) => [record.id, record]))
}
