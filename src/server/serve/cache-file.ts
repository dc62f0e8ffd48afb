/**
 * The file of a cache: a line that names the format, the content, and a hash of the cache's
 * identity with both. Other readers never see a part of it, and a process that was killed leaves
 * the previous one.
 * @module
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { threadId } from 'node:worker_threads'
import { createPause } from '../../dns/bytes/steps.ts'
import { errorCode } from '../../dns/bytes/unknown.ts'
import {
  CACHE_FILE_BYTES_MAX,
  type CacheFile,
  type NewContent,
} from '../../resolver/plugins/cache/persistence.ts'
import { NODE_TURNS } from '../node/node-turns.ts'

const FORMAT = Buffer.from('kubedoh cache 1\n')
const HASH = 'sha256'
const HASH_BYTES = 32
/** Bytes that are hashed at a time, in 1 ms. */
const HASHED_BYTES = 1024 * 1024
/** Bytes of one write; entries are much smaller. */
const WRITE_BYTES = 65_536

/** Files that this thread has begun. Their two names alternate: a later one replaces a leftover. */
let contents = 0

/** Returns the file of the cache with an identity. Touches nothing until it is used. */
export function openCacheFile(path: string, identity: string): CacheFile {
  return { read: () => readContent(path, identity), replace: () => newContent(path, identity) }
}

async function readContent(path: string, identity: string): Promise<Uint8Array | undefined> {
  const overhead = FORMAT.length + HASH_BYTES
  let bytes: Buffer
  try {
    const { size } = await stat(path)
    if (size > overhead + CACHE_FILE_BYTES_MAX) throw new Error('it is larger than 64 MiB')
    bytes = await readFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const end = Math.max(bytes.length - HASH_BYTES, 0)
  const hash = await hashOf(identity, bytes.subarray(0, end))
  const isValid =
    bytes.subarray(0, FORMAT.length).equals(FORMAT) && hash.equals(bytes.subarray(end))
  if (isValid) return bytes.subarray(FORMAT.length, end)
  throw new Error('it is damaged, or of another version or configuration')
}

async function hashOf(identity: string, bytes: Uint8Array): Promise<Buffer> {
  const hash = createHash(HASH).update(identity)
  const pause = createPause(NODE_TURNS)
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    hash.update(bytes.subarray(at, at + HASHED_BYTES))
    await pause()
  }
  return hash.digest()
}

function newContent(path: string, identity: string): NewContent {
  // Threads and reloads write files of their own; the last one to rename wins.
  const temporary = `${path}.${threadId}.${contents++ % 2}.new`
  const file = openSync(temporary, 'w', 0o600)
  const hash = createHash(HASH).update(identity)
  let isOpen = true
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  const flush = (): void => {
    const bytes = Buffer.concat(pending)
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    pending = []
    pendingBytes = 0
  }
  const add = (bytes: Uint8Array): void => {
    hash.update(bytes)
    pending.push(bytes)
    pendingBytes += bytes.length
    if (pendingBytes >= WRITE_BYTES) flush()
  }
  const close = (): void => {
    isOpen = false
    closeSync(file)
  }
  add(FORMAT)
  return {
    add,
    commit: () => {
      pending.push(hash.digest())
      flush()
      close()
      renameSync(temporary, path)
    },
    abort: () => {
      if (!isOpen) return
      close()
      rmSync(temporary, { force: true })
    },
  }
}
