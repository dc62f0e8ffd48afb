/**
 * Revokes a client that an issuer knows: its tokens, and those given in exchange, end at once. A
 * record in the list of tokens says so, which every process and isolate follows.
 * @module
 */
import type { Context } from 'hono'
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { noteFacts } from '../access/audit.ts'
import {
  DAY_MS,
  newTokenId,
  type RandomBytes,
  REVOKED_SUBJECT,
  revocationOf,
  type TokenRecord,
} from '../access/token.ts'
import type { Addition, TokenStore } from '../access/token-store.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'

const BODY_BYTES_MAX = 4096
/** How long a revocation stays: longer than any token that is given in exchange. */
const KEPT_MS = 400 * DAY_MS
/** Attempts when others change the record meanwhile. */
const ATTEMPTS_MAX = 10
const NOTHING = { clusters: [], origins: [], namespaces: [], recurse: false }

/** What the route needs. */
type RevocationOptions = {
  readonly tokenStore: TokenStore
  readonly randomBytes: RandomBytes
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Answers the operator's request. To revoke the record's own identifier ends the revocation.
 * @throws {HttpError} 400 for an invalid body, 409 when there are too many tokens
 */
export async function revokeSubject(
  c: Context,
  { tokenStore, randomBytes, now }: RevocationOptions,
): Promise<Response> {
  const body = new TextDecoder().decode(await readBody(c.req.raw, BODY_BYTES_MAX))
  const subject = readSubject(body)
  const identity = revocationOf(subject)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const createdMs = now()
    const times = { createdMs, expiresMs: createdMs + KEPT_MS }
    const before = (await tokenStore.list()).find(({ identities }) => identities[0] === identity)
    const record: TokenRecord = before
      ? { ...before, ...times }
      : {
          ...{ id: newTokenId(randomBytes), name: '', scope: NOTHING, secrets: [] },
          ...{ identities: [identity], ...times },
        }
    const addition: Addition['kind'] =
      before === undefined
        ? (await tokenStore.add(record)).kind
        : (await tokenStore.replace(before, record))
          ? 'added'
          : 'exists'
    if (addition === 'full') throw new HttpError(409, 'too_many', 'There are too many tokens')
    if (addition !== 'added') continue
    noteFacts(c, { token: record.id, name: subject })
    return jsonResponse(201, { id: record.id, subject, revoked: new Date(createdMs).toISOString() })
  }
  throw new HttpError(503, 'busy', 'The token was changed by others meanwhile; try again', {
    'retry-after': '1',
  })
}

function readSubject(text: string): string {
  const value = parseJson(text)
  if (isRecord(value) && typeof value.subject === 'string' && REVOKED_SUBJECT.test(value.subject)) {
    return value.subject
  }
  throw new HttpError(400, 'bad_field', '"subject" is not an issuer, a space, and its subject')
}
