/**
 * The table of fields that both sides know from the beginning (RFC 7541 appendix A).
 * @module
 */
import { HeaderField } from './header-field.ts'

/** Fields by their index, from 1 on: `name`, or `name value`. */
const LINES = `
:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`

/** The fields by their index, which begins with 1. */
export const STATIC_TABLE: readonly (HeaderField | undefined)[] = LINES.split('\n').map((line) => {
  const [name = '', ...words] = line.split(' ')
  return name === '' ? undefined : new HeaderField(name, words.join(' '))
})

/** The last index of the table; those of a dynamic table follow (RFC 7541 §2.3.3). */
export const STATIC_INDEX_MAX: number = STATIC_TABLE.length - 1

const BY_NAME = new Map<string, number>()
const BY_FIELD = new Map<string, number>()
for (const [index, field] of STATIC_TABLE.entries()) {
  if (field === undefined) continue
  const { name, value } = field
  if (!BY_NAME.has(name)) BY_NAME.set(name, index)
  BY_FIELD.set(`${name} ${value}`, index)
}

/** Finds the first index of a name; `undefined` when the table has it not. */
export function findName(name: string): number | undefined {
  return BY_NAME.get(name)
}

/** Finds the index of a name with this value; `undefined` when the table has it not. */
export function findField(name: string, value: string): number | undefined {
  return BY_FIELD.get(`${name} ${value}`)
}
