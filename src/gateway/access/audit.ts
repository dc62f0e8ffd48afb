/**
 * The audit log: one line for each request below `/v1/` that an operator's token authorized, with
 * its outcome. It has no secrets, and the log's sampling never drops it.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'

/**
 * What authorized an operator: the admin token or the read-only one, or a role that is like it; an
 * exporter's token where its cluster's ClientTokens change.
 */
export type OperatorKind = 'admin' | 'read-only' | 'issuer' | 'operator' | 'exporter'

/** What a request was about, beside its path. */
export type AuditFacts = Readonly<Record<string, string | number | undefined>>

/** A line of the audit log. */
export type AuditLine = {
  /** Milliseconds since 1970 when the response was ready. */
  readonly timeMs: number
  readonly operator: OperatorKind
  /** The fields of the line beside these, as JSON. */
  readonly text: string
}

/** A line in a store. */
export type StoredAuditLine = Omit<AuditLine, 'operator'> & {
  /** Later lines have larger numbers. */
  readonly number: number
  /** The {@link OperatorKind}, or that of a later version. */
  readonly operator: string
}

/** The lines to list. */
export type AuditQuery = {
  /** The number of the last line that the reader has; 0 for none. */
  readonly after: number
  /** Milliseconds since 1970 of the first line. */
  readonly sinceMs: number
  /** Most lines. */
  readonly limit: number
}

/** Where audit lines are kept beside the log. */
export type AuditStore = {
  readonly add: (line: AuditLine) => Promise<void>
  /** Lists lines, the oldest first. */
  readonly list: (query: AuditQuery) => Promise<readonly StoredAuditLine[]>
}

/** What the audit log needs of the runtime. */
export type AuditRuntime = {
  readonly host: Pick<Host, 'log' | 'now'>
  readonly clientOf: (c: Context) => Client
  /** Keeps a promise alive beyond the response. */
  readonly keepAlive: (c: Context, promise: Promise<void>) => void
  /** Without one, lines are in the log only. */
  readonly auditStore?: AuditStore
}

/** Most characters of a method, path or fact. */
const TEXT_MAX = 256
/** A client token, which an operator may send in place of its identifier, to its last character. */
const TOKEN = /(kdt_[0-9a-f]{12}_|kdo_)[^/?&\s]+|\b[0-9a-hjkmnp-tv-z]{26}\b/gi
/** A character that is encoded in a URL, perhaps more than once. */
const ENCODED = /%(?:25)*([2-7][0-9a-f])/gi

type Operator = { readonly kind: OperatorKind; readonly who: string | undefined }

const operators = new WeakMap<Request, Operator>()
const facts = new WeakMap<Request, AuditFacts>()

/**
 * Notes what authorized a request.
 * @param who the person, where an issuer knows that
 */
export function noteOperator(c: Context, kind: OperatorKind, who?: string): void {
  operators.set(c.req.raw, { kind, who })
}

/** Notes what an operator's request is about; replaces earlier notes. Never pass a secret. */
export function noteFacts(c: Context, about: AuditFacts): void {
  facts.set(c.req.raw, about)
}

/**
 * Creates the middleware that logs the requests of operators after their responses, and stores the
 * lines. No response waits for the store, or fails with it.
 */
export function createAudit(runtime: AuditRuntime): MiddlewareHandler {
  const { host, clientOf, auditStore, keepAlive } = runtime
  return async (c, next) => {
    await next()
    const { kind: operator, who } = operators.get(c.req.raw) ?? {}
    if (operator === undefined) return
    const about = Object.entries(facts.get(c.req.raw) ?? {}).map(
      ([name, value]) => [name, typeof value === 'string' ? plain(value) : value] as const,
    )
    const fields = {
      ...(who !== undefined && { who: plain(who) }),
      address: clientOf(c).address,
      method: plain(c.req.method),
      path: plain(c.req.path),
      status: c.res.status,
      ...Object.fromEntries(about),
    }
    host.log({ level: 'info', message: 'operator request', audit: true, operator, ...fields })
    if (auditStore === undefined) return
    const line = { timeMs: host.now(), operator, text: JSON.stringify(fields) }
    keepAlive(c, store(auditStore, line, host))
  }
}

/** Never rejects. */
async function store(
  { add }: AuditStore,
  line: AuditLine,
  { log }: AuditRuntime['host'],
): Promise<void> {
  try {
    await add(line)
  } catch (error) {
    const message = 'cannot store a line of the audit log; it is in this log only'
    log({ level: 'error', message, error: errorText(error) })
  }
}

/** Masks tokens, also partly percent-encoded ones, and shortens the rest. */
function plain(text: string): string {
  const decoded = text.replace(ENCODED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const masked = decoded.replace(TOKEN, '$1…')
  return (masked === decoded ? text : masked).slice(0, TEXT_MAX)
}
