/**
 * The head of a request: what its header list says, when it says what a request must
 * (RFC 9113 §8.3).
 * @module
 */
import { HEADER_LIST_BYTES_KEPT } from './bounds.ts'
import type { HeaderList } from './header-decoder.ts'
import type { HeaderField } from './header-field.ts'

/** What the fields of a request say. */
export type RequestParts = {
  readonly method: string
  readonly scheme: string
  /** Host and port, from `:authority` or else `host`; empty when nothing says. */
  readonly authority: string
  /** Path and query, as they were sent; empty with CONNECT. */
  readonly path: string
  /** All fields, pseudo-header fields among them, in their order. */
  readonly fields: readonly HeaderField[]
  /** Bytes of the body when `content-length` tells, else -1. */
  readonly contentLength: number
}

/** The head of a request. */
export class RequestHead implements RequestParts {
  readonly method: string
  readonly scheme: string
  readonly authority: string
  readonly path: string
  readonly fields: readonly HeaderField[]
  readonly contentLength: number
  /** What was found by name, in this head and those that differ in their path alone. */
  private readonly found: Map<string, string | undefined>

  /** @param like a head with the same fields but for the path */
  constructor(parts: RequestParts, like?: RequestHead) {
    this.method = parts.method
    this.scheme = parts.scheme
    this.authority = parts.authority
    this.path = parts.path
    this.fields = parts.fields
    this.contentLength = parts.contentLength
    this.found = like === undefined ? new Map() : like.found
  }

  /** Finds a field other than `:path` by its name in lower case, as `findHeader`. */
  header(name: string): string | undefined {
    const value = this.found.get(name)
    if (value !== undefined || this.found.has(name)) return value
    const found = findHeader(this.fields, name)
    this.found.set(name, found)
    return found
  }
}

/** The heads of one connection's requests, many of which say the same but for their path. */
export class RequestHeads {
  private last: RequestHead | undefined

  /** Reads a header list; `undefined` when the request is malformed (RFC 9113 §8.1.1). */
  read(list: HeaderList): RequestHead | undefined {
    const again = this.last && readAgain(list, this.last)
    if (again !== undefined) return again
    const head = readRequestHead(list)
    if (head !== undefined) this.last = list.size <= HEADER_LIST_BYTES_KEPT ? head : undefined
    return head
  }
}

/** Blanks and control characters, which readers of URLs would drop (RFC 3986 §3.3). */
const NO_PATH = /[\0- \x7f]/

/** The pseudo-header fields of a request, and two others that are looked at. */
type Parts = {
  readonly method: string | undefined
  readonly scheme: string | undefined
  readonly authority: string | undefined
  readonly path: string | undefined
  readonly host: string | undefined
  readonly length: string | undefined
}

/** Reads a header list; `undefined` when the request is malformed (RFC 9113 §8.1.1). */
export function readRequestHead({ fields, isValid }: HeaderList): RequestHead | undefined {
  const parts = isValid ? readParts(fields) : undefined
  if (parts === undefined) return undefined
  const { method, scheme, path, host, authority = host, length } = parts
  const isConnect = method === 'CONNECT'
  const isWhole = isConnect
    ? scheme === undefined && path === undefined && authority !== undefined
    : scheme !== undefined && path !== undefined && isPath(path, method)
  if (method === undefined || !isWhole || !isAuthority(authority, host)) return undefined
  const contentLength = length === undefined ? -1 : readLength(length)
  if (contentLength === undefined) return undefined
  return new RequestHead({
    method,
    scheme: scheme ?? '',
    authority: authority ?? '',
    path: path ?? '',
    fields,
    contentLength,
  })
}

/** Reads a header list with the fields of a head, and at most another path; else `undefined`. */
function readAgain({ fields, isValid }: HeaderList, last: RequestHead): RequestHead | undefined {
  if (!isValid || fields.length !== last.fields.length) return undefined
  let path: string | undefined
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]
    const before = last.fields[i]
    if (field === before) continue
    const isPathOnly = path === undefined && before?.name === ':path' && field?.name === ':path'
    if (!isPathOnly) return undefined
    path = field.value
  }
  if (path === undefined) return last
  if (!isPath(path, last.method)) return undefined
  const { method, scheme, authority, contentLength } = last
  return new RequestHead({ method, scheme, authority, path, fields, contentLength }, last)
}

/** Whether a header list may be trailers: no pseudo-header fields (RFC 9113 §8.1). */
export function isTrailers({ fields, isValid }: HeaderList): boolean {
  return isValid && !fields.some(({ isPseudo }) => isPseudo)
}

/**
 * Finds a field by its name in lower case; `undefined` when there is none. Several are joined as
 * RFC 9110 §5.2 has it, crumbs of cookies as RFC 9113 §8.2.3.
 */
export function findHeader(fields: readonly HeaderField[], name: string): string | undefined {
  let found: string | undefined
  for (const field of fields) {
    if (field.name !== name) continue
    if (found === undefined) found = field.value
    else found += `${name === 'cookie' ? '; ' : ', '}${field.value}`
  }
  return found
}

/** Pseudo-header fields come first, are known, and come once (RFC 9113 §8.3). */
function readParts(fields: readonly HeaderField[]): Parts | undefined {
  let method: string | undefined
  let scheme: string | undefined
  let authority: string | undefined
  let path: string | undefined
  let host: string | undefined
  let length: string | undefined
  let isRegular = false
  for (const { name, value, isPseudo } of fields) {
    if (!isPseudo) isRegular = true
    else if (isRegular) return undefined
    let before: string | undefined
    switch (name) {
      case ':method':
        before = method
        method = value
        break
      case ':scheme':
        before = scheme
        scheme = value
        break
      case ':authority':
        before = authority
        authority = value
        break
      case ':path':
        before = path
        path = value
        break
      case 'host':
        before = host
        host = value
        break
      case 'content-length':
        // Several that say the same are one (RFC 9110 §8.6).
        before = length === value ? undefined : length
        length = value
        break
      default:
        if (isPseudo) return undefined
    }
    if (before !== undefined) return undefined
  }
  return { method, scheme, authority, path, host, length }
}

/** The path is absolute, or what OPTIONS asks of the server as a whole (RFC 9113 §8.3.1). */
function isPath(path: string, method: string | undefined): boolean {
  return (
    (path.charCodeAt(0) === 0x2f && !NO_PATH.test(path)) || (path === '*' && method === 'OPTIONS')
  )
}

/** `host` says what `:authority` says, and nobody's name goes before it (RFC 9113 §8.3.1). */
function isAuthority(authority: string | undefined, host: string | undefined): boolean {
  if (host !== undefined && host !== authority) return false
  return authority === undefined || !authority.includes('@')
}

function readLength(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
