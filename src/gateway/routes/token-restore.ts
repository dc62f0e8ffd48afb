/**
 * The operator's route that returns to the tokens of an earlier time.
 * @module
 */
import type { Context } from 'hono'
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { noteFacts } from '../access/audit.ts'
import { DAY_MS, type TokenRecord } from '../access/token.ts'
import { isSameToken, type TokenStore } from '../access/token-store.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'

const BODY_BYTES_MAX = 1024
/** How far back a time may be: Cloudflare keeps the history of an object for as long. */
const BACK_MS_MAX = 30 * 24 * 3600 * 1000
/** A time in UTC, with or without seconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z$/

/**
 * Restores the tokens, and answers with the identifiers of those that came back, went and changed.
 * @throws {HttpError} 400 for a time that is none, 404 for one before the oldest list, 501 where no
 *   earlier lists are kept
 */
export async function restoreTokens(
  c: Context,
  { tokenStore, now }: { readonly tokenStore: TokenStore; readonly now: () => number },
): Promise<Response> {
  const body = await readBody(c.req.raw, BODY_BYTES_MAX)
  const atMs = readTime(new TextDecoder().decode(body), now())
  const before = await tokenStore.list()
  const restoration = await tokenStore.restore?.(atMs)
  if (restoration?.kind === 'missing') throw missing(restoration.oldestMs)
  if (restoration?.kind !== 'restored') throw unsupported(restoration?.reason)
  const after = await tokenStore.list()
  const returned = idsIn(after, before, (other) => other === undefined)
  const removed = idsIn(before, after, (other) => other === undefined)
  // A new one does not count as changed.
  const changed = idsIn(after, before, (other, one) => !isSameToken(other ?? one, one))
  const listed = isoOf(restoration.atMs)
  const [back, gone] = [returned.length, removed.length]
  noteFacts(c, { at: listed, returned: back, removed: gone, changed: changed.length })
  return jsonResponse(200, { at: listed, tokens: after.length, returned, removed, changed })
}

function readTime(text: string, nowMs: number): number {
  const value = parseJson(text)
  const { at } = isRecord(value) ? value : {}
  const atMs = typeof at === 'string' && TIME.test(at) ? Date.parse(at) : Number.NaN
  if (atMs <= nowMs && nowMs - atMs <= BACK_MS_MAX) return atMs
  const wanted = `a time in UTC of the last ${BACK_MS_MAX / DAY_MS} days`
  throw new HttpError(400, 'bad_field', `"at" is not ${wanted}, such as "2026-11-28T10:00Z"`)
}

/** Returns the identifiers of records for which another list has a record that fits, or none. */
function idsIn(
  records: readonly TokenRecord[],
  others: readonly TokenRecord[],
  fits: (other: TokenRecord | undefined, one: TokenRecord) => boolean,
): readonly string[] {
  const byId = new Map(others.map((other) => [other.id, other]))
  return records.filter((one) => fits(byId.get(one.id), one)).map(({ id }) => id)
}

function missing(oldestMs: number | undefined): HttpError {
  const message = 'The store has no list of tokens of that time'
  const oldest = oldestMs === undefined ? '' : `; the oldest is of ${isoOf(oldestMs)}`
  return new HttpError(404, 'unknown_time', message + oldest)
}

function unsupported(reason = 'the store keeps no earlier ones'): HttpError {
  return new HttpError(501, 'cannot_restore', `Tokens cannot be restored here: ${reason}`)
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
