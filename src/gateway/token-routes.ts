/**
 * The routes by which an operator keeps the tokens of clients.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import { checkAdmin } from './admin.ts'
import { isAlive, newSecret, newTokenId, type RandomBytes, type TokenRecord } from './token.ts'
import { readTokenRequest } from './token-request.ts'
import { TOKENS_MAX, type TokenStore } from './token-store.ts'

const BODY_BYTES_MAX = 64 * 1024
/** How long the secret before holds when a token is rotated, unless said otherwise. */
const GRACE_SECONDS = 24 * 3600
const GRACE_SECONDS_MAX = 366 * 24 * 3600
/** Secrets that a token may have at a time. */
const SECRETS_MAX = 4

/** What the routes need. */
export type TokenRoutesOptions = {
  /** SHA-256 of the operator's token; `undefined`: nobody keeps tokens here. */
  readonly adminSha256: string | undefined
  readonly store: TokenStore
  readonly randomBytes: RandomBytes
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Makes the app with the routes below `/v1/tokens`. */
export function createTokenRoutes(options: TokenRoutesOptions): Hono {
  const app = new Hono()
  app.use('/v1/tokens/*', async (c, next) => {
    await checkAdmin(c, options.adminSha256)
    await next()
  })
  app.get('/v1/tokens', async () => {
    const records = await options.store.list()
    const nowMs = options.now()
    return jsonResponse(200, { tokens: records.map((record) => describe(record, nowMs)) })
  })
  app.post('/v1/tokens', (c) => create(c, options))
  app.delete('/v1/tokens/:id', async (c) => {
    if (await options.store.remove(c.req.param('id'))) return new Response(null, { status: 204 })
    throw unknownToken()
  })
  app.post('/v1/tokens/:id/rotate', (c) => rotate(c, c.req.param('id'), options))
  return app
}

async function create(
  c: Context,
  { store, now, randomBytes }: TokenRoutesOptions,
): Promise<Response> {
  const wish = readTokenRequest(await bodyText(c))
  const known = await store.list()
  if (known.length >= TOKENS_MAX) {
    throw new HttpError(409, 'too_many', `There are ${TOKENS_MAX} tokens; revoke some first`)
  }
  checkIdentities(wish.identities, known)
  const nowMs = now()
  const id = newTokenId(randomBytes)
  const { token, sha256 } = await newSecret(id, randomBytes)
  const record: TokenRecord = {
    id,
    name: wish.name,
    scope: wish.scope,
    identities: wish.identities,
    secrets: [{ sha256, expiresMs: undefined }],
    createdMs: nowMs,
    expiresMs: wish.lifeMs === undefined ? undefined : nowMs + wish.lifeMs,
  }
  await store.put(record)
  return jsonResponse(201, { token, ...describe(record, nowMs) })
}

/** One identity is one token's: else which view it has would be left to chance. */
function checkIdentities(wanted: readonly string[], known: readonly TokenRecord[]): void {
  for (const { id, identities } of known) {
    const taken = identities.find((identity) => wanted.includes(identity))
    if (taken === undefined) continue
    throw new HttpError(409, 'identity_taken', `"${taken}" belongs to token ${id}`)
  }
}

/** The secret before holds for a while, so that a token can be changed where it is used. */
async function rotate(
  c: Context,
  id: string,
  { store, now, randomBytes }: TokenRoutesOptions,
): Promise<Response> {
  const graceMs = 1000 * readGrace(c.req.query('graceSeconds'))
  const record = (await store.list()).find((one) => one.id === id)
  if (record === undefined) throw unknownToken()
  const nowMs = now()
  const ends = nowMs + graceMs
  const kept = record.secrets
    .map((one) => ({ ...one, expiresMs: Math.min(one.expiresMs ?? ends, ends) }))
    .filter((one) => isAlive(one, nowMs))
    .slice(1 - SECRETS_MAX)
  const { token, sha256 } = await newSecret(id, randomBytes)
  const next = { ...record, secrets: [...kept, { sha256, expiresMs: undefined }] }
  await store.put(next)
  return jsonResponse(200, { token, ...describe(next, nowMs) })
}

function readGrace(text: string | undefined): number {
  if (text === undefined) return GRACE_SECONDS
  const seconds = Number(text)
  if (/^\d{1,9}$/.test(text) && seconds <= GRACE_SECONDS_MAX) return seconds
  throw new HttpError(400, 'bad_parameter', `"graceSeconds" is not 0 to ${GRACE_SECONDS_MAX}`)
}

async function bodyText(c: Context): Promise<string> {
  return new TextDecoder().decode(await readBody(c.req.raw, BODY_BYTES_MAX))
}

/** What may be told of a token: all but its hashes. */
function describe(record: TokenRecord, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, name, scope, identities, secrets, createdMs, expiresMs } = record
  return {
    id,
    name,
    ...scope,
    identities,
    created: isoTime(createdMs),
    expires: isoTime(expiresMs),
    secrets: secrets.filter((one) => isAlive(one, nowMs)).length,
    isAlive: isAlive(record, nowMs),
  }
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function unknownToken(): HttpError {
  return new HttpError(404, 'unknown_token', 'There is no token with this identifier')
}
