/**
 * Sends requests to the Kubernetes API, and reads its watches, with the credentials of the official
 * client library, which no other file imports.
 * @module
 */
import http, { type IncomingMessage } from 'node:http'
import https, { type RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { causeText, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import {
  type ApiConnection,
  ApiError,
  type ApiRequest,
  ConnectionError,
  type Listed,
  type ObjectApi,
  type ObjectPage,
  STATUS_OK,
  type WatchEvent,
  type WatchOptions,
} from '../api/object-api.ts'
import { PROTOBUF, readEventMessage, readObject } from '../api/protobuf-objects.ts'
import { BodyTooLargeError, isText, readResponseBody } from '../api/response-body.ts'
import { readFrames } from '../api/watch-frames.ts'
import { readLines } from '../api/watch-lines.ts'

/** Context that the library invents if it finds no kubeconfig. */
const LAST_RESORT = 'loaded-context'
const STATUS_UNAUTHORIZED = 401
/** Interval of TCP keep-alive, client-go's: proxies end connections that are silent for long. */
const KEEP_ALIVE_MS = 30_000
const JSON_TYPE = 'application/json'
/** Objects of a page, as client-go requests them, until a page is too large. */
const PAGE_OBJECTS = 500
/** Bytes of a page of several objects: it is parsed in one turn of the event loop. */
const PAGE_BYTES_AIM = 4 * 1024 * 1024
/** Most bytes of a response. */
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 60_000
/**
 * Silence after which a watch counts as dead and is restarted from its last version. The server
 * sends a bookmark every minute: waiting for it costs nothing, unlike requests that would find out.
 */
const SILENCE_MS = 90_000
/** The same within a streamed list: a server that ignores the request for it sends nothing. */
const LIST_SILENCE_MS = 15_000
/** Range of the timeout that a watch requests; each draws its own. */
const WATCH_SECONDS_MIN = 300
const WATCH_SECONDS_SPREAD = 300

/** Opens the API without sending a request. @throws {ConnectionError} */
export function openApi(connection: ApiConnection): ObjectApi {
  let config = loadConfig(connection)
  const server = config.getCurrentCluster()?.server
  if (server === undefined) throw new ConnectionError(`${describe(connection)} names no cluster`)
  if (!URL.canParse(server)) {
    throw new ConnectionError(`${describe(connection)} names a server "${server}", not a URL`)
  }
  const exchange: Exchange = async (request, signal) => {
    const renew = (): void => {
      config = reload(connection, server) ?? config
    }
    try {
      const response = await send(config, server, request, signal)
      // The library keeps a token for a minute of the wall clock, which may be set back meanwhile.
      if (response.statusCode === STATUS_UNAUTHORIZED) renew()
      return response
    } catch (error) {
      // The library keeps certificates for ever: those of the authority may have been replaced.
      if (isOfCertificate(error)) renew()
      throw error
    }
  }
  const pageSizes = new Map<string, number>()
  return {
    host: new URL(server).host,
    list: (collection, token, signal, onBytes) =>
      listPage({ exchange, pageSizes, collection, onBytes }, token, signal),
    watch: (collection, options) => watch(exchange, collection, options),
    send: (request, signal) => sendOne(exchange, request, signal),
  }
}

/** Sends a request; the body of the response is not read yet. */
type Exchange = (
  request: Pick<ApiRequest, 'path' | 'body'> & {
    readonly method?: ApiRequest['method']
    /** Default: JSON. */
    readonly accept?: string
  },
  signal: AbortSignal,
) => Promise<IncomingMessage>

function loadConfig(connection: ApiConnection): KubeConfig {
  const config = new KubeConfig()
  try {
    switch (connection.kind) {
      case 'kubeconfig':
        config.loadFromFile(connection.path)
        break
      case 'endpoint':
        loadEndpoint(config, connection)
        break
      case 'default':
        loadDefault(config)
        break
    }
  } catch (error) {
    if (error instanceof ConnectionError) throw error
    // Only the first line: below it the library quotes the file, which may have keys.
    const [reason] = causeText(error).split('\n')
    throw new ConnectionError(`Cannot read ${describe(connection)}: ${reason}`, { cause: error })
  }
  if (connection.kind === 'kubeconfig' && connection.context !== undefined) {
    if (config.getContextObject(connection.context) === null) {
      throw new ConnectionError(`${describe(connection)} has no context "${connection.context}"`)
    }
    config.setCurrentContext(connection.context)
  }
  return config
}

/**
 * Reads the credentials for a server again; returns `undefined` if they cannot be read now, or if
 * the current context now names another server: its credentials must not be sent to this one.
 */
function reload(connection: ApiConnection, server: string): KubeConfig | undefined {
  try {
    const config = loadConfig(connection)
    return config.getCurrentCluster()?.server === server ? config : undefined
  } catch {
    return undefined
  }
}

/**
 * Refuses the library's fallback, a server on this machine, which would hide a missing kubeconfig.
 */
function loadDefault(config: KubeConfig): void {
  if (process.env.KUBERNETES_SERVICE_HOST !== undefined) {
    config.loadFromCluster()
    return
  }
  config.loadFromDefault()
  if (config.getCurrentContext() !== LAST_RESORT) return
  throw new ConnectionError(
    'Cannot find a cluster: there is no KUBECONFIG, no ~/.kube/config, and this is not a pod; ' +
      'pass --kubeconfig FILE, or with serve and export --objects FILE',
  )
}

function loadEndpoint(
  config: KubeConfig,
  { url, tls }: Extract<ApiConnection, { kind: 'endpoint' }>,
): void {
  const name = 'corefile'
  const server = url.replace(/\/$/, '')
  // The library refuses http:// unless it may skip certificate checks, which plain HTTP lacks.
  const skipTLSVerify = server.startsWith('http:')
  config.loadFromClusterAndUser(
    { name, server, skipTLSVerify, ...(tls && { caFile: tls.ca }) },
    { name, ...(tls && { certFile: tls.cert, keyFile: tls.key }) },
  )
}

function describe(connection: ApiConnection): string {
  switch (connection.kind) {
    case 'kubeconfig':
      return `kubeconfig ${connection.path}`
    case 'endpoint':
      return `endpoint ${connection.url}`
    case 'default':
      return 'the default kubeconfig'
  }
}

type Listing = {
  readonly exchange: Exchange
  readonly collection: Listed
  /** Objects to request at once, by path, of collections with large objects. */
  readonly pageSizes: Map<string, number>
  readonly onBytes: Parameters<ObjectApi['list']>[3]
}

/**
 * Reads a page; where it has too many bytes, one with half as many objects, and so on.
 * @throws {ApiError}
 */
async function listPage(
  { exchange, pageSizes, collection, onBytes }: Listing,
  continueToken: string,
  signal: AbortSignal,
): Promise<ObjectPage> {
  const accept = acceptFor(collection)
  for (;;) {
    const limit = pageSizes.get(collection.path) ?? PAGE_OBJECTS
    const path = pagePath(collection, continueToken, limit)
    const bytesMax = limit > 1 ? PAGE_BYTES_AIM : RESPONSE_BYTES_MAX
    try {
      return readPage(await sendOne(exchange, { path, accept, bytesMax, onBytes }, signal))
    } catch (error) {
      if (!(error instanceof BodyTooLargeError) || limit === 1) throw error
      pageSizes.set(collection.path, Math.floor(limit / 2))
    }
  }
}

function pagePath(
  { path, fieldSelector, labelSelector }: Listed,
  continueToken: string,
  limit: number,
): string {
  const query = new URLSearchParams({ limit: String(limit) })
  if (continueToken !== '') query.set('continue', continueToken)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  return `${path}?${query}`
}

/** Whether a TLS handshake failed. Otherwise plugins for credentials would run in each outage. */
function isOfCertificate(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(CERT_|DEPTH_ZERO_|ERR_SSL_|ERR_TLS_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}

/**
 * Sends a request with the credentials of a kubeconfig. The library's own way, undici's `fetch`,
 * loads 50 ms longer and takes a third more time for a list.
 */
async function send(
  config: KubeConfig,
  server: string,
  { method = 'GET', path, body, accept = JSON_TYPE }: Parameters<Exchange>[0],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers: Record<string, string> = { accept, 'user-agent': 'kubedoh' }
  if (body !== undefined) headers['content-type'] = JSON_TYPE
  // The time-out is for a proxy that does not answer.
  const options: RequestOptions = { method, headers, signal, timeout: REQUEST_TIMEOUT_MS }
  await config.applyToHTTPSOptions(options)
  const { request } = server.startsWith('http:') ? http : https
  return new Promise((resolve, reject) => {
    const sent = request(server + path, options, resolve)
    // Without a socket, as long as a proxy does not answer, a request does not notice its signal.
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    // An error after the response is one of its body.
    sent.on('error', reject)
    sent.on('close', () => {
      signal.removeEventListener('abort', abort)
      reject(new ApiError('the connection was closed'))
    })
    sent.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Servers that send no Protocol Buffers, or not for a kind, send JSON. */
function acceptFor({ hasProtobuf }: Listed): string {
  return hasProtobuf === true ? `${PROTOBUF},${JSON_TYPE}` : JSON_TYPE
}

function isProtobuf({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith(PROTOBUF) === true
}

type BodyOptions = {
  readonly bytesMax?: number
  /** Called with the size of the body before it is parsed. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** Reads a response as a whole; `undefined` without an object: a proxy may send anything. */
async function readValue(
  response: IncomingMessage,
  { bytesMax = RESPONSE_BYTES_MAX, onBytes = () => undefined }: BodyOptions = {},
): Promise<unknown> {
  const body = await readResponseBody(response, bytesMax)
  onBytes(body.length)
  if (isProtobuf(response)) return readObject(body)
  return isText(response) ? body.toString() : parseJson(body.toString())
}

/** Sends a request and reads the response as a whole. @throws {ApiError} */
async function sendOne(
  exchange: Exchange,
  { bytesMax, onBytes, ...request }: Parameters<Exchange>[0] & BodyOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const late = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const bounded = AbortSignal.any([signal, late])
    const response = await exchange(request, bounded)
    if (response.statusCode !== undefined && response.statusCode >= 300)
      throw await refusal(response)
    return await readValue(response, { ...(bytesMax !== undefined && { bytesMax }), onBytes })
  } catch (error) {
    throw toApiError(late.aborted ? late.reason : error)
  }
}

function readPage(body: unknown): ObjectPage {
  const { items, metadata } = recordOf(body)
  const { resourceVersion, continue: continueToken } = recordOf(metadata)
  if (!Array.isArray(items) || typeof resourceVersion !== 'string') {
    throw new ApiError('the answer is not a list')
  }
  const token = typeof continueToken === 'string' ? continueToken : ''
  return { items, resourceVersion, continueToken: token }
}

async function watch(
  exchange: Exchange,
  collection: Listed,
  { onEvent, onOpen, onBytes = () => undefined, signal, ...options }: WatchOptions,
): Promise<void> {
  if (signal.aborted) return
  const silence = new AbortController()
  const limit = (ms: number): NodeJS.Timeout => setTimeout(() => silence.abort(), ms).unref()
  let timer = limit(options.sendInitialEvents === true ? LIST_SILENCE_MS : SILENCE_MS)
  try {
    const path = watchPath(collection, options)
    const bounded = AbortSignal.any([signal, silence.signal])
    const response = await exchange({ path, accept: acceptFor(collection) }, bounded)
    if (response.statusCode !== STATUS_OK) throw await refusal(response)
    timer.refresh()
    onOpen()
    const take = (event: WatchEvent): unknown => {
      if (event.type === 'BOOKMARK') {
        clearTimeout(timer)
        timer = limit(SILENCE_MS)
      } else timer.refresh()
      return onEvent(event)
    }
    // What the connection still brings after the end is not read.
    const unlessEnded = <T extends { readonly length: number }>(read: (part: T) => WatchEvent) => {
      return (part: T): ReturnType<typeof take> => {
        if (signal.aborted) return undefined
        onBytes(part.length)
        // It may have ended the watch, for another thread to read the object.
        return signal.aborted ? undefined : take(read(part))
      }
    }
    if (isProtobuf(response)) await readFrames(response, unlessEnded(readEventMessage))
    else await readLines(response, unlessEnded(readEventLine))
  } catch (error) {
    // Silence on a broken connection is a usual end: the next watch continues from there.
    if (!signal.aborted && !silence.signal.aborted) throw toApiError(error)
  } finally {
    clearTimeout(timer)
  }
}

function watchPath(
  { path, fieldSelector, labelSelector }: Listed,
  {
    resourceVersion,
    sendInitialEvents,
  }: Pick<WatchOptions, 'resourceVersion' | 'sendInitialEvents'>,
): string {
  const timeoutSeconds = Math.round(WATCH_SECONDS_MIN + WATCH_SECONDS_SPREAD * Math.random())
  const query = new URLSearchParams({
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(timeoutSeconds),
  })
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (sendInitialEvents === true) {
    query.set('sendInitialEvents', 'true')
    query.set('resourceVersionMatch', 'NotOlderThan')
  }
  return `${path}?${query}`
}

/** @throws {ApiError} for a line that is not JSON: to skip it could miss a change */
function readEventLine(line: string): WatchEvent {
  const { type, object } = recordOf(parseJson(line))
  if (typeof type !== 'string') throw new ApiError('a line of the watch is not an event')
  return { type, object }
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  // No other part of the line has the path of a certificate or token that cannot be read.
  const isOfFile = error instanceof Error && 'path' in error
  const text = isOfFile ? error.message : causeText(error)
  return new ApiError(text, undefined, { cause: error })
}

/** Returns the error of a response, with the message of its Status (meta/v1), if it has one. */
async function refusal(response: IncomingMessage): Promise<ApiError> {
  const { statusCode: status, headers } = response
  const { message } = recordOf(await readValue(response).catch(() => undefined))
  const reason = typeof message === 'string' && message !== '' ? message : `HTTP status ${status}`
  const seconds = Number(headers['retry-after'])
  return new ApiError(reason, status, seconds > 0 ? { retryAfterMs: seconds * 1000 } : {})
}
