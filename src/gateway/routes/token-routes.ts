/**
 * The operator's routes that create, list, rotate, revoke and restore client tokens.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createSharedPause, type Turns } from '../../dns/bytes/steps.ts'
import { noteFacts } from '../access/audit.ts'
import { objectCluster } from '../access/object-tokens.ts'
import { checkAdmin, checkIssuer } from '../access/operators.ts'
import { checkMayGive, personWith } from '../access/persons.ts'
import {
  DAY_MS,
  isAlive,
  newSecret,
  newTokenId,
  type RandomBytes,
  SECRETS_MAX,
  type TokenRecord,
  type TokenSecret,
  visibilityOf,
} from '../access/token.ts'
import { readTokenRequest, type TokenAdvice } from '../access/token-request.ts'
import { type Addition, TOKENS_MAX, type TokenStore } from '../access/token-store.ts'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse, listTexts, streamOf, uncached } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import type { JobAudiences } from '../onboarding/kit.ts'
import type { ClusterDomains } from './kit-route.ts'
import { revokeSubject } from './subject-revocation.ts'
import { restoreTokens } from './token-restore.ts'

const BODY_BYTES_MAX = 64 * 1024
/** How long the previous secrets of a rotated token stay valid by default. */
const GRACE_SECONDS = 24 * 3600
const GRACE_SECONDS_MAX = 366 * 24 * 3600
/** Attempts of a rotation when the token changes meanwhile; each attempt one more succeeds. */
const ATTEMPTS_MAX = 10
const RETRY_SECONDS = '1'

/** What the routes need. */
type TokenRoutesOptions = Pick<GatewayConfig, 'adminSha256s' | 'tokenDomain'> & {
  /** Returns whether the ClientTokens of a cluster count. */
  readonly takesObjects: (cluster: string) => boolean
  readonly tokenStore: TokenStore
  readonly randomBytes: RandomBytes
  readonly advise: TokenAdvice
  readonly domainsOf: ClusterDomains
  readonly audiences: JobAudiences
  readonly host: Turns
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Creates the app with the routes below `/v1/tokens`. */
export function createTokenRoutes(options: TokenRoutesOptions): Hono {
  const app = new Hono()
  const { adminSha256s } = options
  app.use('/v1/tokens/*', async (c, next) => {
    await checkIssuer(c, adminSha256s)
    await next()
  })
  app.get('/v1/tokens', async (c) => {
    const records = (await options.tokenStore.list()).filter((one) => isTheirs(c, one))
    const nowMs = options.now()
    const texts = listTexts('tokens', records, (record) => describe(record, nowMs))
    const headers = { 'content-type': 'application/json' }
    return uncached(200, streamOf(texts, createSharedPause(options.host)), headers)
  })
  app.post('/v1/tokens', (c) => create(c, options))
  app.post('/v1/tokens/restore', async (c) => {
    await checkAdmin(c, adminSha256s)
    return restoreTokens(c, options)
  })
  app.post('/v1/tokens/revocations', async (c) => {
    await checkAdmin(c, adminSha256s)
    return revokeSubject(c, options)
  })
  app.delete('/v1/tokens/:id', async (c) => {
    const id = c.req.param('id')
    const { tokenStore } = options
    const record = await findOwn(c, id, tokenStore)
    // What a cluster has left that is gone, or whose objects do not count any more, may go.
    const cluster = record && objectCluster(record)
    if (record && cluster !== undefined && options.takesObjects(cluster)) throw ofObject(record)
    const mayRemove = record !== undefined || personWith(c, 'issuer') === undefined
    if (mayRemove && (await tokenStore.remove(id))) return new Response(null, { status: 204 })
    throw unknownToken()
  })
  app.post('/v1/tokens/:id/rotate', (c) => rotate(c, c.req.param('id'), options))
  return app
}

async function create(c: Context, options: TokenRoutesOptions): Promise<Response> {
  const { tokenStore, now, randomBytes, advise, domainsOf, audiences } = options
  const body = await readBody(c.req.raw, BODY_BYTES_MAX)
  const request = readTokenRequest(new TextDecoder().decode(body))
  const person = personWith(c, 'issuer')
  if (person !== undefined) {
    checkMayGive(person, request)
    if (request.identities.length > 0) throw notTheirs('tokens to identities')
    if (request.role !== undefined) throw notTheirs('roles')
  }
  const nowMs = now()
  const id = newTokenId(randomBytes)
  const { texts, secret } = await newTexts(id, options)
  const { lifeMs, ...requested } = request
  const record: TokenRecord = {
    id,
    ...requested,
    secrets: [secret],
    createdMs: nowMs,
    expiresMs: lifeMs === undefined ? undefined : nowMs + lifeMs,
    ...(person && { by: person.subject }),
  }
  const addition = await tokenStore.add(record)
  if (addition.kind !== 'added') throw refusedAddition(addition)
  noteFacts(c, { token: id, name: record.name })
  const domains = domainsOf(visibilityOf(record.scope))
  const warnings = advise(request)
  return jsonResponse(201, { ...texts, ...describe(record, nowMs), domains, audiences, warnings })
}

/** Creates a secret, and what the response says of it: the only time that anybody sees it. */
async function newTexts(
  id: string,
  { randomBytes, tokenDomain }: Pick<TokenRoutesOptions, 'randomBytes' | 'tokenDomain'>,
): Promise<{
  readonly texts: { readonly token: string; readonly hostname: string | null }
  readonly secret: TokenSecret
}> {
  const { token, hostToken, ...hashes } = await newSecret(id, randomBytes)
  const hostname = tokenDomain === '' ? null : `${hostToken}.${tokenDomain}`
  return { texts: { token, hostname }, secret: { ...hashes, expiresMs: undefined } }
}

function refusedAddition(addition: Addition): HttpError {
  if (addition.kind === 'taken') {
    const message = `"${addition.identity}" belongs to token ${addition.id}`
    return new HttpError(409, 'identity_taken', message)
  }
  return addition.kind === 'full'
    ? new HttpError(409, 'too_many', `There are ${TOKENS_MAX} tokens; revoke some first`)
    : new HttpError(409, 'id_taken', 'The new identifier is in use; try again')
}

/**
 * Adds a secret to a token. The previous ones stay valid for a while, so that clients can switch.
 * Starts again when the token changes meanwhile.
 */
async function rotate(c: Context, id: string, options: TokenRoutesOptions): Promise<Response> {
  const { tokenStore, now } = options
  const graceMs = 1000 * readGrace(c.req.query('graceSeconds'))
  const { texts, secret } = await newTexts(id, options)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const record = await findOwn(c, id, tokenStore)
    if (record === undefined) throw unknownToken()
    if (objectCluster(record) !== undefined) throw ofObject(record)
    const nowMs = now()
    const kept = limitSecrets(record, nowMs, graceMs)
    const next = { ...record, secrets: [...kept, secret] }
    if (await tokenStore.replace(record, next)) {
      return jsonResponse(200, { ...texts, ...describe(next, nowMs) })
    }
  }
  throw new HttpError(503, 'busy', 'The token was changed by others meanwhile; try again', {
    'retry-after': RETRY_SECONDS,
  })
}

/**
 * Returns the secrets that stay valid beside a new one, each at most until the end of the grace
 * period.
 * @throws {HttpError} 409 rather than end a secret earlier than promised
 */
function limitSecrets(
  { id, secrets }: TokenRecord,
  nowMs: number,
  graceMs: number,
): TokenRecord['secrets'] {
  const endsMs = nowMs + graceMs
  const kept = secrets
    .map((one) => ({ ...one, expiresMs: Math.min(one.expiresMs ?? endsMs, endsMs) }))
    .filter((one) => isAlive(one, nowMs))
  if (kept.length < SECRETS_MAX) return kept
  const message = `Token ${id} has ${SECRETS_MAX} valid secrets; wait, or pass graceSeconds=0`
  throw new HttpError(409, 'too_many_secrets', message)
}

function readGrace(text: string | undefined): number {
  if (text === undefined) return GRACE_SECONDS
  const seconds = Number(text)
  if (/^\d{1,9}$/.test(text) && seconds <= GRACE_SECONDS_MAX) return seconds
  const message = `"graceSeconds" is not a number from 0 to ${GRACE_SECONDS_MAX}`
  throw new HttpError(400, 'bad_parameter', message)
}

/** Describes a token, without its hashes. */
function describe(record: TokenRecord, nowMs: number): object {
  const { id, name, scope, identities, secrets, createdMs, expiresMs, usedDay } = record
  const { by = null, role = null } = record
  return {
    id,
    name,
    ...scope,
    identities,
    created: new Date(createdMs).toISOString(),
    expires: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
    lastUsed: usedDay === undefined ? null : new Date(usedDay * DAY_MS).toISOString().slice(0, 10),
    secrets: secrets.filter((one) => isAlive(one, nowMs)).length,
    isAlive: isAlive(record, nowMs),
    by,
    role,
  }
}

/** Returns whether a token is one that the sender of a request may manage. */
function isTheirs(c: Context, { by }: TokenRecord): boolean {
  const person = personWith(c, 'issuer')
  return person === undefined || by === person.subject
}

async function findOwn(
  c: Context,
  id: string,
  { list }: Pick<TokenStore, 'list'>,
): Promise<TokenRecord | undefined> {
  return (await list()).find((one) => one.id === id && isTheirs(c, one))
}

function notTheirs(what: string): HttpError {
  return new HttpError(403, 'not_yours', `Only an administrator gives ${what}`)
}

function ofObject(record: TokenRecord): HttpError {
  const object = `ClientToken ${record.name} of cluster "${objectCluster(record)}"`
  const message = `It belongs to ${object}; change or delete that object`
  return new HttpError(409, 'object_token', message)
}

function unknownToken(): HttpError {
  return new HttpError(404, 'unknown_token', 'There is no token with this identifier')
}
