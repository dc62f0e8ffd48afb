/**
 * The gateway in workerd whose objects are at a distance, and what it counts.
 * @module
 */
import { join } from 'node:path'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { type LocalGateway, type LocalGatewayOptions, startGateway } from '../../test/workerd.ts'

const ENTRY = join(import.meta.dirname, '../servers/edge-worker.ts')

/** What was counted since the last time. */
export type EdgeCounts = {
  /** Calls to objects, and how long these worked on them in all. */
  readonly calls: number
  readonly callsMs: number
  /** Bytes of the list of tokens that isolates read. */
  readonly tokenBytes: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Starts the gateway. */
export function startEdge(options: Omit<LocalGatewayOptions, 'port'>): Promise<LocalGateway> {
  return startGateway({ port: 0, ...options, entry: ENTRY })
}

/** Sets how the objects respond; returns what was counted before. */
export async function setEdge(
  { url }: Pick<LocalGateway, 'url'>,
  state: { readonly delayMs?: number; readonly mode?: string } = {},
): Promise<EdgeCounts> {
  const search = new URLSearchParams(
    Object.entries(state).map(([name, value]) => [name, String(value)]),
  )
  const counts = recordOf(await (await fetch(`${url}/bench?${search}`)).json())
  return {
    calls: Number(counts.calls),
    callsMs: Number(counts.callsMs),
    tokenBytes: Number(counts.tokenBytes),
    rowsRead: Number(counts.rowsRead),
    rowsWritten: Number(counts.rowsWritten),
  }
}

/** A name to ask for, and the token of a client. */
export type EdgeQuestion = { readonly token: string; readonly name: string }

/** Sends a query for addresses; returns how long it took. @throws {Error} without an answer */
export async function askEdge(
  { url }: Pick<LocalGateway, 'url'>,
  { token, name }: EdgeQuestion,
): Promise<number> {
  const dns = encodeBase64url(writeQuery({ name: nameOf(name), type: TYPE.A }))
  const startMs = performance.now()
  const response = await fetch(`${url}/dns-query?dns=${dns}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const reply = new Uint8Array(await response.arrayBuffer())
  if ((reply[7] ?? 0) === 0) throw new Error(`No answer for ${name}: status ${response.status}`)
  return performance.now() - startMs
}

/** Returns the number below which a part of some numbers is, such as 0.99. */
export function partOf(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
}
