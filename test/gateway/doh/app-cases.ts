/**
 * What the app answers to each kind of request: RFC 8484, RFC 9110, RFC 9111 and the JSON form of
 * the public services, one row a rule.
 * @module
 */
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { type Ask, pathOf, question } from './replies.ts'

/** A request and what comes back; what is not said is not looked at. */
export type AppCase = Ask & {
  readonly name: string
  readonly status: number
  /** Headers that come back; `undefined` for one that does not. */
  readonly has?: Readonly<Record<string, string | undefined>>
  /** The word for programs in an error. */
  readonly code?: string
  /** Response code of the message that comes back, as far as its header holds it. */
  readonly rcode?: number
  /** Answer section of the message that comes back, as zone-file text. */
  readonly answer?: readonly string[]
  /** Fields of the JSON that comes back. */
  readonly json?: Readonly<Record<string, unknown>>
}

const WIRE = 'application/dns-message'
const JSON_FORM = 'application/dns-json'
const GET_A = pathOf(question('a.example.org'))
const A_LINES = ['a.example.org. 300 IN A 192.0.2.1']
const A_JSON = { Answer: [{ name: 'a.example.org.', type: 1, TTL: 300, data: '192.0.2.1' }] }
const RESOLVE_A = '/resolve?name=a.example.org'

const get = (name: string): Ask => ({ path: pathOf(question(name, { udpBytes: 512 })) })
const accept = (header: string, path = GET_A): Ask => ({ path, headers: { accept: header } })
const post = (type: string, body = question('a.example.org')): Ask => ({
  method: 'POST',
  path: '/dns-query',
  body,
  headers: { 'content-type': type },
})

/** Paths, methods and media types. */
export const ROUTES: readonly AppCase[] = [
  { name: 'answers a GET', path: GET_A, status: 200, answer: A_LINES },
  { name: 'answers a POST', ...post(WIRE), status: 200, answer: A_LINES },
  { name: 'answers as a message', path: GET_A, status: 200, has: { 'content-type': WIRE } },
  { name: 'ignores other parameters', path: `${GET_A}&x=1`, status: 200, answer: A_LINES },
  {
    name: 'ignores the type of a GET that has no body',
    path: GET_A,
    headers: { 'content-type': WIRE },
    status: 200,
    answer: A_LINES,
  },
  {
    name: 'reads a media type in any letters and without its parameters',
    ...post('Application/DNS-Message; x=y'),
    status: 200,
    answer: A_LINES,
  },
  {
    name: 'takes no body without a type',
    ...post(WIRE),
    headers: {},
    status: 415,
    code: 'unsupported_media_type',
  },
  { name: 'takes no form', ...post('application/x-www-form-urlencoded'), status: 415 },
  { name: 'takes no JSON by POST', ...post('application/json'), status: 415 },
  { name: 'takes no oblivious DoH', ...post('application/oblivious-dns-message'), status: 415 },
  { name: 'takes no type of the drafts', ...post('application/dns-udpwireformat'), status: 415 },
  {
    name: 'takes no encoded body',
    ...post(WIRE),
    headers: { 'content-type': WIRE, 'content-encoding': 'gzip' },
    status: 415,
    code: 'unsupported_encoding',
  },
  { name: 'knows no other path', path: '/', status: 404, code: 'not_found' },
  { name: 'knows no path below', path: GET_A.replace('?', '/x.css?'), status: 404 },
  { name: 'knows no final slash', path: GET_A.replace('?', '/?'), status: 404 },
  { name: 'knows no path in capitals', path: '/DNS-QUERY', status: 404 },
  ...['PUT', 'PATCH', 'DELETE', 'QUERY'].map((method) => ({
    name: `refuses ${method}`,
    method,
    path: GET_A,
    status: 405,
    code: 'method_not_allowed',
    has: { allow: 'GET, HEAD, POST' },
  })),
  {
    name: 'refuses parameters by POST',
    method: 'POST',
    path: RESOLVE_A,
    status: 405,
    has: { allow: 'GET, HEAD' },
  },
  {
    name: 'lists its methods, and opens to no other origin',
    method: 'OPTIONS',
    path: '/dns-query',
    status: 204,
    has: { allow: 'GET, HEAD, POST, OPTIONS', 'access-control-allow-origin': undefined },
  },
  {
    name: 'lists the methods of the JSON form',
    method: 'OPTIONS',
    path: '/resolve',
    status: 204,
    has: { allow: 'GET, HEAD, OPTIONS' },
  },
]

/** What `Accept` makes of an answer. */
export const FORMS: readonly AppCase[] = [
  { name: 'wire for */*', ...accept('*/*'), status: 200, answer: A_LINES },
  { name: 'wire for application/*', ...accept('application/*'), status: 200, answer: A_LINES },
  { name: 'wire for its own type', ...accept(WIRE), status: 200, answer: A_LINES },
  { name: 'JSON where it is named', ...accept(JSON_FORM), status: 200, json: A_JSON },
  {
    name: 'JSON where it is preferred',
    ...accept(`${WIRE};q=0.5, ${JSON_FORM}`),
    status: 200,
    json: A_JSON,
    has: { 'content-type': JSON_FORM },
  },
  { name: 'nothing for a browser tab', ...accept('text/html'), status: 406 },
  { name: 'nothing where both are refused', ...accept(`${WIRE};q=0`), status: 406 },
  {
    name: 'no JSON to a POST',
    ...post(WIRE),
    headers: { 'content-type': WIRE, accept: JSON_FORM },
    status: 406,
    code: 'not_acceptable',
  },
  { name: 'JSON at its own path for anyone', ...accept('text/html', RESOLVE_A), status: 200 },
]

/** Messages and how they travel. */
export const MESSAGES: readonly AppCase[] = [
  { name: 'wants a message', path: '/dns-query', status: 400, code: 'bad_parameter' },
  {
    name: 'wants more than an empty one',
    path: '/dns-query?dns=',
    status: 400,
    code: 'bad_parameter',
  },
  { name: 'wants one message only', path: `${GET_A}&dns=AAAA`, status: 400 },
  { name: 'wants no name beside it', path: `${GET_A}&name=a`, status: 400, code: 'bad_parameter' },
  { name: 'takes no padding', path: `${GET_A}=`, status: 400 },
  { name: 'takes no plus sign', path: GET_A.replace('AAABAAAB', 'AAABAAA%2B'), status: 400 },
  { name: 'takes no slash', path: GET_A.replace('AAABAAAB', 'AAABAAA/'), status: 400 },
  { name: 'takes no blank', path: `${GET_A}%20`, status: 400 },
  { name: 'takes no line end', path: `${GET_A}%0a`, status: 400 },
  { name: 'takes no five characters', path: '/dns-query?dns=AAAAA', status: 400 },
  { name: 'takes no bits after the last byte', path: '/dns-query?dns=AB', status: 400 },
  {
    name: 'takes no message under 12 bytes',
    path: pathOf(new Uint8Array(11)),
    status: 400,
    code: 'bad_message',
  },
  {
    name: 'takes no response',
    path: pathOf(Uint8Array.of(0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    status: 400,
    code: 'bad_message',
  },
  { name: 'takes no empty body', ...post(WIRE, new Uint8Array(0)), status: 400 },
  {
    name: 'says in DNS what it cannot read after the header',
    path: pathOf(question('a.example.org').subarray(0, 20)),
    status: 200,
    rcode: RCODE.FORMERR,
    has: { 'cache-control': 'no-store, no-transform' },
  },
  {
    name: 'says in DNS what operation it lacks',
    path: pathOf(Uint8Array.of(0, 0, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    status: 200,
    rcode: RCODE.NOTIMP,
  },
  { name: 'takes a body of 65,535 bytes', ...post(WIRE, padded(65_535)), status: 200 },
  {
    name: 'takes no body of 65,536 bytes',
    ...post(WIRE, padded(65_536)),
    status: 413,
    code: 'body_too_large',
  },
  { name: 'has nothing to say of no answer', ...get('silent.example.org'), status: 500 },
]

/** Errors of DNS travel in answers. */
export const RCODES: readonly AppCase[] = [
  { name: 'NXDOMAIN', ...get('missing.example.org'), status: 200, rcode: RCODE.NXDOMAIN },
  { name: 'FORMERR', ...get('formerr.example.org'), status: 200, rcode: RCODE.FORMERR },
  { name: 'SERVFAIL', ...get('servfail.example.org'), status: 200, rcode: RCODE.SERVFAIL },
  { name: 'NOTIMP', ...get('notimp.example.org'), status: 200, rcode: RCODE.NOTIMP },
  { name: 'REFUSED', ...get('refused.example.org'), status: 200, rcode: RCODE.REFUSED },
  { name: 'BADVERS', ...get('badvers.example.org'), status: 200, rcode: 0 },
  { name: 'BADCOOKIE', ...get('badcookie.example.org'), status: 200, rcode: 7 },
]

const KEPT = (name: string, cache: string): AppCase => ({
  name: `${name}: ${cache}`,
  ...get(name),
  status: 200,
  has: { 'cache-control': cache, etag: undefined, 'last-modified': undefined },
})

/** How long HTTP caches keep answers. */
export const CACHING: readonly AppCase[] = [
  KEPT('a.example.org', 'max-age=300, no-transform'),
  KEPT('many.example.org', 'max-age=30, no-transform'),
  KEPT('nodata.example.org', 'max-age=30, no-transform'),
  KEPT('missing.example.org', 'max-age=60, no-transform'),
  KEPT('alias.example.org', 'max-age=10, no-transform'),
  KEPT('zero.example.org', 'no-store, no-transform'),
  KEPT('bare.example.org', 'no-store, no-transform'),
  KEPT('cut.example.org', 'no-store, no-transform'),
  KEPT('servfail.example.org', 'no-store, no-transform'),
  KEPT('refused.example.org', 'no-store, no-transform'),
  KEPT('badvers.example.org', 'no-store, no-transform'),
  {
    name: 'a POST: no-store',
    ...post(WIRE),
    status: 200,
    has: { 'cache-control': 'no-store, no-transform' },
  },
  {
    name: 'an answer for one client: private',
    path: GET_A,
    headers: { authorization: 'Bearer x' },
    status: 200,
    has: { 'cache-control': 'private, max-age=300, no-transform' },
  },
  {
    name: 'JSON: as long as the message',
    path: RESOLVE_A,
    status: 200,
    has: { 'cache-control': 'max-age=300, no-transform' },
  },
]

/** The JSON form. */
export const PARAMETERS: readonly AppCase[] = [
  {
    name: 'answers at its own path',
    path: RESOLVE_A,
    status: 200,
    json: { Status: 0, Question: [{ name: 'a.example.org.', type: 1 }], ...A_JSON },
    has: { 'content-type': 'application/json; charset=UTF-8' },
  },
  {
    name: 'answers beside messages, where JSON need not be named',
    ...accept('*/*', '/dns-query?name=a.example.org'),
    status: 200,
    json: A_JSON,
    has: { 'content-type': JSON_FORM },
  },
  {
    name: 'answers by a message for ct=application/dns-message',
    path: `${RESOLVE_A}&ct=application/dns-message`,
    status: 200,
    answer: A_LINES,
    has: { 'content-type': WIRE },
  },
  {
    name: 'answers by JSON for another ct',
    path: `${RESOLVE_A}&ct=application/x-javascript`,
    status: 200,
    json: A_JSON,
  },
  {
    name: 'leaves out empty sections',
    path: '/resolve?name=bare.example.org',
    status: 200,
    json: { Answer: undefined, Authority: undefined, Additional: undefined, Comment: undefined },
  },
  {
    name: 'answers errors of DNS with status 200',
    path: '/resolve?name=servfail.example.org',
    status: 200,
    json: { Status: RCODE.SERVFAIL },
    has: { 'cache-control': 'no-store, no-transform' },
  },
  {
    name: 'gives the whole response code',
    path: '/resolve?name=badcookie.example.org',
    status: 200,
    json: { Status: RCODE.BADCOOKIE },
  },
  {
    name: 'comments on errors',
    path: '/resolve?name=stale.example.org',
    status: 200,
    json: { Comment: 'EDE(14): Not Ready: no snapshot yet; EDE(22): No Reachable Authority' },
  },
  { name: 'wants a name', path: '/resolve', status: 400, code: 'bad_parameter' },
  { name: 'wants a name beside messages too', ...accept(JSON_FORM, '/dns-query'), status: 400 },
  { name: 'wants a good name', path: '/resolve?name=a..b', status: 400 },
  { name: 'wants a good type', path: '/resolve?name=a&type=constructor', status: 400 },
  { name: 'wants a good flag', path: '/resolve?name=a&do=yes', status: 400 },
]

/** A query with bytes behind it, which the gate ignores. */
function padded(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set(question('a.example.org'))
  return bytes
}
