/**
 * The runtime of plugins on Node.
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { ALL_PLUGINS } from '../plugins/all-plugins.ts'
import type { Host } from '../plugins/host.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { elapsed } from './elapsed.ts'
import { FrameStream } from './frame-stream.ts'
import { hmac } from './hmac.ts'
import { isInterface } from './local-addresses.ts'
import { openSigner } from './open-signer.ts'
import { postJson } from './post-json.ts'
import { random16 } from './random16.ts'
import { receiveMessages } from './receive-messages.ts'
import { checkIdentity } from './tls-service.ts'
import { openUpstream } from './upstream-client.ts'

/** Octets of a file that a Corefile names. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
/** Octets of a file that is a database. */
const DATABASE_BYTES_MAX = 1024 * 1024 * 1024

/** Folders within a folder that is listed, and entries of all of them. */
const FOLDER_DEPTH_MAX = 16
const FOLDER_ENTRIES_MAX = 200_000

/** What differs between servers. */
export type NodeHostOptions = {
  /** Folder that paths in the Corefile are relative to. */
  readonly folder: string
  readonly metrics: Metrics
  readonly log: Log
  readonly openCluster: Host['openCluster']
  /** Where keys come from; none can be had when it is left out. */
  readonly openKeys?: NonNullable<Host['openKeys']>
  readonly abort: Host['abort']
}

/** Makes the runtime. */
export function createNodeHost({ folder, ...rest }: NodeHostOptions): Host {
  return {
    ...rest,
    plugins: ALL_PLUGINS,
    isolatesRequests: false,
    hostname: hostname() || 'localhost',
    runtime: `node-${process.versions.node}`,
    now: Date.now,
    elapsed,
    random16,
    after: (delayMs, task) => {
      const timer = setTimeout(task, delayMs)
      timer.unref()
      return () => {
        clearTimeout(timer)
      }
    },
    isInterface,
    readText: (path) => readTextFile(resolve(folder, path)),
    readBytes: (path) => readFile(resolve(folder, path), DATABASE_BYTES_MAX),
    listFiles: (path) => listFiles(folder, path),
    modifiedMs: (path) => modifiedMs(resolve(folder, path)),
    openUpstream,
    openTransfer: receiveMessages,
    postJson,
    openSigner,
    hmac,
    checkIdentity,
    openTap: (target, queueMax) => new FrameStream(target, queueMax, rest.log),
    print: (line) => {
      process.stdout.write(`[INFO] ${line}\n`)
    },
  }
}

/** Reads a file; `undefined` when it is not there, not a file, or over 64 MiB. */
export function readTextFile(path: string): string | undefined {
  return readFile(path, FILE_BYTES_MAX)?.toString('utf8')
}

function readFile(path: string, bytesMax: number): Buffer | undefined {
  try {
    const info = statSync(path)
    return info.isFile() && info.size <= bytesMax ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

function modifiedMs(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

/** Does not go into folders that are linked to, so that it comes to an end. */
function listFiles(base: string, path: string): readonly string[] | undefined {
  const found: string[] = []
  let entries = 0
  const walk = (folder: string, depth: number): void => {
    if (depth > FOLDER_DEPTH_MAX) return
    const listed = readdirSync(resolve(base, folder), { withFileTypes: true })
    for (const entry of listed.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++entries > FOLDER_ENTRIES_MAX) return
      const inside = `${folder}/${entry.name}`
      if (!entry.isDirectory()) found.push(inside)
      else walkQuietly(inside, depth + 1)
    }
  }
  const walkQuietly = (folder: string, depth: number): boolean => {
    try {
      walk(folder, depth)
      return true
    } catch {
      return false
    }
  }
  return walkQuietly(path, 0) ? found : undefined
}
