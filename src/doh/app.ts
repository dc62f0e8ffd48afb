/**
 * DNS over HTTPS (RFC 8484) and its JSON form, as an app that any runtime can mount.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { decodeBase64url } from '../bytes/base64url.ts'
import { byteAt } from '../bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { answerHeaders, cacheControl } from './answer-headers.ts'
import { notFound, refuseFinalSlash } from './final-slash.ts'
import { errorResponse, HttpError } from './http-error.ts'
import { parseJsonQuery } from './json-query.ts'
import { formatJsonReply } from './json-reply.ts'
import { SECURITY_HEADERS } from './json-response.ts'
import { type Form, JSON_TYPE, mediaType, negotiateForm, WIRE_TYPE } from './negotiate.ts'
import { readBody } from './read-body.ts'

/** Characters of a message of 65,535 bytes in base64url. */
const DNS_PARAMETER_MAX = 87_380
const ALLOW = 'GET, HEAD, POST'
const ALLOW_JSON = 'GET, HEAD'

/** What the app needs. */
export type DohOptions = {
  /** Answers a message; `undefined` for no answer. The context tells who asks. */
  readonly answer: (
    message: Uint8Array,
    c: Context,
  ) => Promise<Uint8Array | undefined> | Uint8Array | undefined
  /** Whether answers are for one client only, as they are under a token (RFC 9111 §5.2.2.7). */
  readonly isPrivate: (c: Context) => boolean
  /** More headers of an answer to a message. */
  readonly headersOf?: (message: Uint8Array, c: Context) => Readonly<Record<string, string>>
}

/** Makes the app with `/dns-query` and `/resolve`. */
export function createDohApp(options: DohOptions): Hono {
  const app = new Hono()
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    return errorResponse(new HttpError(500, 'internal', 'Something went wrong here'))
  })
  app.notFound(() => errorResponse(notFound()))
  app.use(refuseFinalSlash)
  app.get('/dns-query', (c) => get(c, options))
  app.post('/dns-query', (c) => post(c, options))
  app.options('/dns-query', () => allowed(ALLOW))
  app.all('/dns-query', () => refuseMethod(ALLOW))
  app.get('/resolve', (c) => answerJson(c, options, 'application/json; charset=UTF-8'))
  app.options('/resolve', () => allowed(ALLOW_JSON))
  app.all('/resolve', () => refuseMethod(ALLOW_JSON))
  return app
}

async function get(c: Context, options: DohOptions): Promise<Response> {
  const parameters = new URL(c.req.url).searchParams
  const messages = parameters.getAll('dns')
  const form = requireForm(c)
  if (messages.length === 0 && (form === 'json' || parameters.has('name'))) {
    return answerJson(c, options, JSON_TYPE)
  }
  const [text] = messages
  if (text === undefined || text === '') {
    throw new HttpError(400, 'bad_parameter', 'Parameter "dns" is missing')
  }
  if (messages.length > 1 || parameters.has('name')) {
    throw new HttpError(400, 'bad_parameter', 'One question at a time: "dns" once, or "name"')
  }
  if (text.length > DNS_PARAMETER_MAX) {
    throw new HttpError(414, 'uri_too_long', `"dns" is over ${DNS_PARAMETER_MAX} characters`)
  }
  const message = decodeBase64url(text)
  if (message === undefined) {
    throw new HttpError(400, 'bad_parameter', '"dns" is not base64url without padding')
  }
  if (form === 'wire') return answerWire(c, options, message)
  const reply = await ask(c, options, message)
  const json = formatJsonReply(reply)
  return respond(c, options, { message, body: reply, type: JSON_TYPE, json })
}

async function post(c: Context, options: DohOptions): Promise<Response> {
  if (mediaType(c.req.header('content-type')) !== WIRE_TYPE) {
    throw new HttpError(415, 'unsupported_media_type', `Content-Type must be ${WIRE_TYPE}`)
  }
  if (c.req.header('content-encoding') !== undefined) {
    throw new HttpError(415, 'unsupported_encoding', 'The body must not be encoded')
  }
  if (requireForm(c) === 'json') {
    throw new HttpError(406, 'not_acceptable', `A POST is answered as ${WIRE_TYPE} only`)
  }
  return answerWire(c, options, await readBody(c.req.raw, MESSAGE_BYTES_MAX))
}

function requireForm(c: Context): Form {
  const form = negotiateForm(c.req.header('accept'))
  if (form !== undefined) return form
  throw new HttpError(406, 'not_acceptable', `Answers are ${WIRE_TYPE} or ${JSON_TYPE}`)
}

async function answerWire(c: Context, options: DohOptions, message: Uint8Array): Promise<Response> {
  const body = await ask(c, options, message)
  return respond(c, options, { message, body, type: WIRE_TYPE })
}

/** The JSON form of an answer, unless parameter `ct` asks for the wire form. */
async function answerJson(c: Context, options: DohOptions, type: string): Promise<Response> {
  const { message, form } = parseJsonQuery(new URL(c.req.url).searchParams)
  const reply = await ask(c, options, message)
  if (form === 'wire') return respond(c, options, { message, body: reply, type: WIRE_TYPE })
  return respond(c, options, { message, body: reply, type, json: formatJsonReply(reply) })
}

/** A message too short for a header, or a response, has nothing that could be answered. */
async function ask(c: Context, options: DohOptions, message: Uint8Array): Promise<Uint8Array> {
  if (message.length < HEADER_BYTES || (byteAt(message, 2) & 0x80) !== 0) {
    throw new HttpError(400, 'bad_message', 'The message is not a DNS query')
  }
  const reply = await options.answer(message, c)
  if (reply !== undefined) return reply
  throw new HttpError(500, 'no_answer', 'The query gets no answer')
}

type Answer = {
  readonly message: Uint8Array
  readonly body: Uint8Array
  readonly type: string
  /** The text to send in place of the body. */
  readonly json?: string
}

function respond(c: Context, options: DohOptions, answer: Answer): Response {
  const { message, body, type, json } = answer
  const isPost = c.req.method === 'POST'
  const control = cacheControl(body, { isPrivate: options.isPrivate(c), isPost })
  const bytes = json === undefined ? new Uint8Array(body) : new TextEncoder().encode(json)
  const headers = answerHeaders(type, bytes.length, control)
  return new Response(bytes, { headers: { ...headers, ...options.headersOf?.(message, c) } })
}

function allowed(methods: string): Response {
  return new Response(null, {
    status: 204,
    headers: { ...SECURITY_HEADERS, allow: `${methods}, OPTIONS` },
  })
}

function refuseMethod(methods: string): never {
  throw new HttpError(405, 'method_not_allowed', `Use ${methods}`, { allow: methods })
}
