/**
 * The file in which logins are kept: `kubedoh/credentials.json` in the user's folder of
 * configuration. Only the user can read it.
 * @module
 */
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { errorCode, fileReason, isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { CommandError } from '../../server/node/output.ts'

/** Variable with the folder of configuration. */
const CONFIG_VARIABLE = 'XDG_CONFIG_HOME'
const BYTES_MAX = 1024 * 1024
const GATEWAYS_MAX = 100
/** A renewal takes less: what holds the file longer has crashed. */
const LOCK_MS_MAX = 60_000
const LOCK_RETRY_MS = 50
const FIELDS = [
  'token',
  'expires',
  'subject',
  'issuer',
  'clientId',
  'scopes',
  'idToken',
  'refreshToken',
] as const

/** A login at a gateway. All fields are texts. */
export type Credential = {
  /** The client token that the gateway gave in exchange, and its end in ISO 8601. */
  readonly token: string
  readonly expires: string
  /** The issuer's name for the person. */
  readonly subject: string
  readonly issuer: string
  readonly clientId: string
  readonly scopes: string
  /** The issuer's last ID token, by which operators have their role. */
  readonly idToken: string
  /** '' when the issuer gave none. */
  readonly refreshToken: string
}

type Environment = (name: string) => string
type Credentials = ReadonlyMap<string, Credential>

/** Returns the path of the file; `undefined` for a process without a home. */
export function credentialPath(env: Environment): string | undefined {
  const home = env('HOME') || env('USERPROFILE')
  const folder = env(CONFIG_VARIABLE) || (home && join(home, '.config'))
  return folder === '' ? undefined : join(folder, 'kubedoh', 'credentials.json')
}

/**
 * Reads the login at a gateway; `undefined` for none.
 * @param gateway the origin of its URL
 * @throws {CommandError} for a file that this program has not written
 */
export function readCredential(path: string, gateway: string): Credential | undefined {
  return readAll(path).get(gateway)
}

/**
 * Writes the login at a gateway, or removes it (`undefined`). Other processes read the old file or
 * the new one, never a part of one.
 * @throws {CommandError} as {@link readCredential}, for the 101st gateway and a folder without
 * access
 */
export function writeCredential(
  path: string,
  gateway: string,
  credential: Credential | undefined,
): void {
  const all = new Map(readAll(path))
  if (credential === undefined) all.delete(gateway)
  else all.set(gateway, credential)
  if (all.size > GATEWAYS_MAX) {
    throw new CommandError(`${path} has ${GATEWAYS_MAX} gateways; remove one by "kubedoh logout"`)
  }
  const text = `${JSON.stringify({ gateways: Object.fromEntries(all) }, undefined, 2)}\n`
  if (Buffer.byteLength(text) > BYTES_MAX) throw new CommandError(`${path}: ${TOO_LARGE}`)
  const beside = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    rmSync(beside, { force: true })
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' })
    keepOwner(beside)
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw new CommandError(`Cannot write ${path}: ${fileReason(error)}`)
  }
}

/**
 * Runs a function while no other process does: an issuer may take a refresh token that is used
 * twice for a stolen one.
 * @throws {CommandError} when the folder cannot be written
 */
export async function withLockedCredentials<T>(path: string, run: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  while (!takeLock(lock)) await setTimeout(LOCK_RETRY_MS)
  try {
    return await run()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(dirname(lock), { recursive: true, mode: 0o700 })
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      throw new CommandError(`Cannot write ${lock}: ${fileReason(error)}`)
    }
  }
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  if (Date.now() - since > LOCK_MS_MAX) rmSync(lock, { force: true })
  return false
}

/** `connect` runs as root and renews the login of a user, who shall read it still. */
function keepOwner(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  chownSync(path, uid, gid)
}

const TOO_LARGE = `it is over ${BYTES_MAX} bytes`

function readAll(path: string): Credentials {
  const text = readText(path)
  if (text === undefined) return new Map()
  const value = parseJson(text)
  const gateways = isRecord(value) && isRecord(value.gateways) ? value.gateways : undefined
  const entries = gateways === undefined ? [undefined] : Object.entries(gateways).map(readEntry)
  if (entries.every((entry) => entry !== undefined)) return new Map(entries)
  throw new CommandError(`${path} is not a file of logins; remove it and run "kubedoh login" again`)
}

function readText(path: string): string | undefined {
  try {
    const { size } = statSync(path)
    if (size <= BYTES_MAX) return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new CommandError(`Cannot read ${path}: ${fileReason(error)}`)
  }
  throw new CommandError(`Cannot read ${path}: ${TOO_LARGE}`)
}

function readEntry([gateway, value]: [string, unknown]): [string, Credential] | undefined {
  if (!isRecord(value) || !isCredential(value)) return undefined
  return [gateway, value]
}

function isCredential(value: object): value is Credential {
  const fields = new Map(Object.entries(value))
  return FIELDS.every((name) => typeof fields.get(name) === 'string')
}
