/**
 * DNS over HTTPS (RFC 8484) and its JSON form, as an app that any runtime can mount.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { decodeBase64url } from '../../dns/bytes/base64url.ts'
import { MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import { answerHeaders, cacheControl } from './answer-headers.ts'
import { badMessage, isQuery, noAnswer } from './direct-message.ts'
import { refuseFinalSlash } from './final-slash.ts'
import { errorResponse, HttpError, notFound } from './http-error.ts'
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
  /** Answers a message of the request's client; `undefined` for no response. */
  readonly answer: (message: Uint8Array, c: Context) => MaybePromise<Uint8Array | undefined>
  /** Whether a response is for one client only, as with a token (RFC 9111 §5.2.2.7). */
  readonly isPrivate: (c: Context) => boolean
  /** Returns more headers for what `answer` has just answered a request. */
  readonly headersOf?: (c: Context) => Readonly<Record<string, string>>
}

/** Creates the app with `/dns-query` and `/resolve`. */
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
  app.get('/resolve', (c) => {
    const parameters = new URL(c.req.url).searchParams
    return answerJson(c, options, { parameters, type: 'application/json; charset=UTF-8' })
  })
  app.options('/resolve', () => allowed(ALLOW_JSON))
  app.all('/resolve', () => refuseMethod(ALLOW_JSON))
  return app
}

async function get(c: Context, options: DohOptions): Promise<Response> {
  const parameters = new URL(c.req.url).searchParams
  const messages = parameters.getAll('dns')
  const form = requireForm(c)
  if (messages.length === 0 && (form === 'json' || parameters.has('name'))) {
    return answerJson(c, options, { parameters, type: JSON_TYPE })
  }
  const message = readMessage(messages, parameters.has('name'))
  if (form === 'wire') return answerWire(c, options, message)
  const reply = await ask(c, options, message)
  return respond(c, options, { body: reply, type: JSON_TYPE, json: formatJsonReply(reply) })
}

/** Reads parameter `dns` of a GET request (RFC 8484 §4.1.1). @throws {HttpError} 400, 414 */
function readMessage(messages: readonly string[], hasName: boolean): Uint8Array {
  const [text] = messages
  if (text === undefined || text === '') {
    throw new HttpError(400, 'bad_parameter', 'Parameter "dns" is missing')
  }
  if (messages.length > 1 || hasName) {
    throw new HttpError(400, 'bad_parameter', 'One question at a time: "dns" once, or "name"')
  }
  if (text.length > DNS_PARAMETER_MAX) {
    throw new HttpError(414, 'uri_too_long', `"dns" is over ${DNS_PARAMETER_MAX} characters`)
  }
  const message = decodeBase64url(text)
  if (message !== undefined) return message
  throw new HttpError(400, 'bad_parameter', '"dns" is not base64url without padding')
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
  return respond(c, options, { body: await ask(c, options, message), type: WIRE_TYPE })
}

/** Answers a query of the JSON API, in JSON unless parameter `ct` requests the wire form. */
async function answerJson(
  c: Context,
  options: DohOptions,
  { parameters, type }: { readonly parameters: URLSearchParams; readonly type: string },
): Promise<Response> {
  const { message, form } = parseJsonQuery(parameters)
  const body = await ask(c, options, message)
  if (form === 'wire') return respond(c, options, { body, type: WIRE_TYPE })
  return respond(c, options, { body, type, json: formatJsonReply(body) })
}

async function ask(c: Context, options: DohOptions, message: Uint8Array): Promise<Uint8Array> {
  if (!isQuery(message)) throw badMessage()
  const reply = await options.answer(message, c)
  if (reply === undefined) throw noAnswer()
  return reply
}

type Answer = {
  readonly body: Uint8Array
  readonly type: string
  /** The text to send in place of the body. */
  readonly json?: string
}

function respond(c: Context, options: DohOptions, { body, type, json }: Answer): Response {
  const isPost = c.req.method === 'POST'
  const control = cacheControl(body, { isPrivate: options.isPrivate(c), isPost })
  const bytes = json === undefined ? new Uint8Array(body) : new TextEncoder().encode(json)
  const headers = answerHeaders(type, bytes.length, control)
  return new Response(bytes, { headers: { ...headers, ...options.headersOf?.(c) } })
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
