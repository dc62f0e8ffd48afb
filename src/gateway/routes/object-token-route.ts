/**
 * The route by which an exporter sends the ClientTokens of its cluster. Whatever it sends, these
 * see nothing of other clusters.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import {
  CLIENT_TOKENS_BYTES_MAX,
  CLIENT_TOKENS_MAX,
  parseSentTokens,
  type SentToken,
  type TokenOutcome,
  type TokenRefusal,
} from '../../snapshot/format/client-tokens.ts'
import { noteFacts, noteOperator } from '../access/audit.ts'
import {
  isOtherList,
  type ObjectRefusal,
  objectTokenId,
  ownerOf,
  subjectIdentity,
} from '../access/object-tokens.ts'
import { DAY_MS, type TokenRecord } from '../access/token.ts'
import type { TokenStore } from '../access/token-store.ts'
import type { GatewayConfig } from '../config/config.ts'
import { matcherOf } from '../config/text-pattern.ts'
import { readScope, ScopeError } from '../config/token-scope.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import { checkExporter, type FindCluster } from '../snapshots/publish-routes.ts'

/** Why the store has no record of an object. */
const REFUSALS: Readonly<Record<ObjectRefusal, string>> = {
  IdTaken: 'another token has the identifier of this object; create the object again',
  TokenTaken: 'another ClientToken has the same text; make another one',
  SubjectTaken: 'an older ClientToken of this cluster names the same subject',
  TooMany: 'the gateway has too many tokens of objects',
}

/** What the route needs. */
type ObjectTokenOptions = Pick<GatewayConfig, 'objectClusters'> & {
  readonly tokenStore: Pick<TokenStore, 'replaceObjects'>
  readonly findCluster: FindCluster
  /** Counts a cluster's request. @throws {HttpError} 429 over the rate limit */
  readonly count: (cluster: string) => Promise<void>
  /** Has this process or isolate read the tokens, which have changed. */
  readonly reload: () => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Creates the app with the route. */
export function createObjectTokenRoute(options: ObjectTokenOptions): Hono {
  const app = new Hono()
  const isTaken = matcherOf(options.objectClusters)
  app.put('/v1/clusters/:id/client-tokens', async (c) => {
    const cluster = await checkExporter(c, options)
    if (isTaken(cluster)) return replaceTokens(c, cluster, options)
    const message = `CLIENT_TOKEN_CLUSTERS of the gateway does not name cluster "${cluster}"`
    throw new HttpError(403, 'objects_refused', message)
  })
  return app
}

type Checked = { readonly uid: string; readonly id: string } & (
  | { readonly record: TokenRecord }
  | { readonly refusal: TokenRefusal }
)

async function replaceTokens(
  c: Context,
  cluster: string,
  { tokenStore, reload, now }: ObjectTokenOptions,
): Promise<Response> {
  const body = await readBody(c.req.raw, CLIENT_TOKENS_BYTES_MAX)
  const sent = parseSentTokens(new TextDecoder().decode(body))
  if (sent === undefined) {
    const message = `The body is not a list of ${CLIENT_TOKENS_MAX} tokens of objects at most`
    throw new HttpError(400, 'bad_json', message)
  }
  const nowMs = now()
  const checked = await Promise.all(sent.map((one) => checkToken(one, cluster, nowMs)))
  const wanted = checked.flatMap((one) => ('record' in one ? [one.record] : []))
  const outcome = await tokenStore.replaceObjects(cluster, wanted)
  if (isOtherList(outcome)) {
    const [added, changed, removed] = [outcome.added, outcome.changed, outcome.removed]
    noteOperator(c, 'exporter', cluster)
    noteFacts(c, { added: added.length, changed: changed.length, removed: removed.length })
    await reload()
  }
  const refused = new Map(outcome.refused.map(({ id, reason }) => [id, reason]))
  const usedDays = new Map(outcome.usedDays.map(({ id, day }) => [id, day]))
  const tokens = checked.map((one): TokenOutcome => {
    const { uid, id } = one
    const day = usedDays.get(id)
    const lastUsed = day === undefined ? null : new Date(day * DAY_MS).toISOString().slice(0, 10)
    const reason = refused.get(id)
    const own = 'refusal' in one ? one.refusal : null
    const refusal = reason === undefined ? own : { reason, message: REFUSALS[reason] }
    return { uid, id, lastUsed, refusal }
  })
  return jsonResponse(200, { tokens })
}

/** The cluster in the scope is the one whose exporter sent it. */
async function checkToken(
  { uid, name, sha256, subject, expiresMs, ...may }: SentToken,
  cluster: string,
  createdMs: number,
): Promise<Checked> {
  const id = await objectTokenId(cluster, uid)
  try {
    const record: TokenRecord = {
      id,
      name,
      scope: readScope({ ...may, clusters: [cluster] }),
      identities: subject === undefined ? [] : [subjectIdentity(subject)],
      secrets: sha256 === undefined ? [] : [{ sha256, expiresMs: undefined }],
      createdMs,
      expiresMs: expiresMs ?? undefined,
      by: ownerOf(cluster),
    }
    return { uid, id, record }
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error
    return { uid, id, refusal: { reason: 'InvalidScope', message: error.message } }
  }
}
