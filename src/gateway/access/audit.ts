/**
 * The audit log: one line for each request below `/v1/` that an operator's token authorized, with
 * its outcome. It has no secrets, and the log's sampling never drops it.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Client } from '../../resolver/contract/client.ts'

/** The token that authorized an operator: the admin token, or the read-only one. */
export type OperatorKind = 'admin' | 'read-only'

/** What a request was about, beside its path. */
export type AuditFacts = Readonly<Record<string, string | number | undefined>>

/** Most characters of a path or fact in the log. */
const TEXT_MAX = 256
/** A client token, which an operator may send in place of its identifier, to its last character. */
const TOKEN = /(kdt_[0-9a-f]{12}_)[^/?&\s]+/g
/** A character that is encoded in a URL, perhaps more than once. */
const ENCODED = /%(?:25)*([2-7][0-9a-f])/gi

const operators = new WeakMap<Request, OperatorKind>()
const facts = new WeakMap<Request, AuditFacts>()

/** Notes that an operator's token authorized a request. */
export function noteOperator(c: Context, operator: OperatorKind): void {
  operators.set(c.req.raw, operator)
}

/** Notes what an operator's request is about; replaces earlier notes. Never pass a secret. */
export function noteFacts(c: Context, about: AuditFacts): void {
  facts.set(c.req.raw, about)
}

/** Creates the middleware that logs the requests of operators after their responses. */
export function createAudit(log: Log, clientOf: (c: Context) => Client): MiddlewareHandler {
  return async (c, next) => {
    await next()
    const operator = operators.get(c.req.raw)
    if (operator === undefined) return
    const about = Object.entries(facts.get(c.req.raw) ?? {}).map(
      ([name, value]) => [name, typeof value === 'string' ? plain(value) : value] as const,
    )
    log({
      level: 'info',
      message: 'operator request',
      audit: true,
      operator,
      address: clientOf(c).address,
      method: c.req.method,
      path: plain(c.req.path),
      status: c.res.status,
      ...Object.fromEntries(about),
    })
  }
}

/** Masks tokens, also partly percent-encoded ones, and shortens the rest. */
function plain(text: string): string {
  const decoded = text.replace(ENCODED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const masked = decoded.replace(TOKEN, '$1…')
  return (masked === decoded ? text : masked).slice(0, TEXT_MAX)
}
