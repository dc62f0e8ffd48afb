/**
 * The operator's route that lists the stored lines of the audit log.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import type { AuditQuery, AuditRuntime, StoredAuditLine } from '../access/audit.ts'
import { checkAdmin } from '../access/operators.ts'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'

const LIMIT = 100
const LIMIT_MAX = 1000
/** A date, or a date and time, of ISO 8601 in UTC. */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)?$/

/** Creates the app with `/v1/audit`. It answers 501 where lines are in the log only. */
export function createAuditRoute(
  { adminSha256s }: Pick<GatewayConfig, 'adminSha256s'>,
  { auditStore }: Pick<AuditRuntime, 'auditStore'>,
): Hono {
  const app = new Hono()
  app.get('/v1/audit', async (c) => {
    await checkAdmin(c, adminSha256s)
    if (auditStore === undefined) {
      const message = 'This gateway has its audit lines in its log only'
      throw new HttpError(501, 'no_audit_store', message)
    }
    const query = readQuery(c)
    const lines = await auditStore.list(query)
    const last = lines.length < query.limit ? undefined : lines.at(-1)
    return jsonResponse(200, { lines: lines.map(describe), next: last?.number ?? null })
  })
  return app
}

function describe({ number, timeMs, operator, text }: StoredAuditLine): object {
  const time = new Date(timeMs).toISOString()
  return { number, time, operator, ...recordOf(parseJson(text)) }
}

function readQuery(c: Context): AuditQuery {
  return {
    after: readNumber(c, 'after', [0, Number.MAX_SAFE_INTEGER]),
    sinceMs: readTime(c.req.query('since')),
    limit: readNumber(c, 'limit', [1, LIMIT_MAX], LIMIT),
  }
}

function readNumber(
  c: Context,
  name: string,
  [least, most]: readonly [number, number],
  otherwise: number = least,
): number {
  const text = c.req.query(name)
  if (text === undefined) return otherwise
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (least <= value && value <= most) return value
  throw new HttpError(400, 'bad_parameter', `"${name}" is not a number from ${least} to ${most}`)
}

function readTime(text: string | undefined): number {
  if (text === undefined) return 0
  const timeMs = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(timeMs)) return timeMs
  const message = '"since" is not a time in UTC, such as 2026-01-31T12:00:00Z'
  throw new HttpError(400, 'bad_parameter', message)
}
