/**
 * The Kubernetes API by the official client library, which no other file imports.
 * @module
 */
import {
  HttpMethod,
  IsomorphicFetchHttpLibrary,
  KubeConfig,
  RequestContext,
  Watch,
} from '@kubernetes/client-node'
import { causeText, parseJson, recordOf } from '../bytes/unknown.ts'
import {
  type ApiConnection,
  ApiError,
  type Collection,
  ConnectionError,
  type ObjectApi,
  type ObjectPage,
  type WatchOptions,
} from './object-api.ts'

/** Context that the library invents if it finds no kubeconfig. */
const LAST_RESORT = 'loaded-context'
const PAGE_OBJECTS = 500
const LIST_TIMEOUT_MS = 60_000
/** Silence after which a watch is restarted. The server sends a bookmark about every minute. */
const SILENCE_MS = 150_000
/** Range of the timeout that a watch requests; each draws its own. */
const WATCH_SECONDS_MIN = 300
const WATCH_SECONDS_SPREAD = 300

/** Opens the API without sending a request. @throws {ConnectionError} */
export function openApi(connection: ApiConnection): ObjectApi {
  const config = loadConfig(connection)
  const server = config.getCurrentCluster()?.server
  if (server === undefined) throw new ConnectionError(`${describe(connection)} names no cluster`)
  if (!URL.canParse(server)) {
    throw new ConnectionError(`${describe(connection)} names a server "${server}", not a URL`)
  }
  return {
    host: new URL(server).host,
    list: (collection, continueToken, signal) =>
      list(config, pageUrl(server, collection, continueToken), signal),
    watch: (collection, options) => watch(config, collection, options),
  }
}

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
    'No cluster is named: there is no KUBECONFIG, no ~/.kube/config, and this is not a pod; ' +
      'give --kubeconfig FILE, or --objects FILE for objects from files',
  )
}

function loadEndpoint(
  config: KubeConfig,
  { url, tls }: Extract<ApiConnection, { kind: 'endpoint' }>,
): void {
  const name = 'corefile'
  const server = url.replace(/\/$/, '')
  // The library refuses http:// unless told not to check certificates, of which there are none.
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

function pageUrl(server: string, collection: Collection, continueToken: string): string {
  const { path, fieldSelector } = collection
  const url = new URL(server + path)
  url.searchParams.set('limit', String(PAGE_OBJECTS))
  if (continueToken !== '') url.searchParams.set('continue', continueToken)
  if (fieldSelector !== undefined) url.searchParams.set('fieldSelector', fieldSelector)
  return url.toString()
}

async function list(config: KubeConfig, url: string, signal: AbortSignal): Promise<ObjectPage> {
  try {
    const request = new RequestContext(url, HttpMethod.GET)
    request.setHeaderParam('accept', 'application/json')
    request.setSignal(AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]))
    await config.applySecurityAuthentication(request)
    const response = await new IsomorphicFetchHttpLibrary().send(request).toPromise()
    // A proxy before the API server may send anything.
    const body = parseJson(await response.body.text())
    if (response.httpStatusCode === 200) return readPage(body)
    throw new ApiError(statusMessage(body, response.httpStatusCode), response.httpStatusCode)
  } catch (error) {
    throw toApiError(error)
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
  config: KubeConfig,
  { path, fieldSelector }: Collection,
  { resourceVersion, onEvent, onOpen, signal }: WatchOptions,
): Promise<void> {
  const watcher = new Watch(config)
  // The library ends watches after 30 s of silence, without an option for it.
  Object.assign(watcher, { requestTimeoutMs: SILENCE_MS })
  const timeoutSeconds = Math.round(WATCH_SECONDS_MIN + WATCH_SECONDS_SPREAD * Math.random())
  const query = { resourceVersion, allowWatchBookmarks: true, timeoutSeconds, fieldSelector }
  if (signal.aborted) return
  await new Promise<void>((resolve, reject) => {
    let opened: AbortController | undefined
    // Before the response the library returns nothing to abort; then the caller stops waiting.
    const abort = (): void => {
      opened?.abort()
      end(undefined)
    }
    const end = (error: unknown): void => {
      signal.removeEventListener('abort', abort)
      if (isUsualEnd(error) || signal.aborted) resolve()
      else reject(toApiError(error))
    }
    const relay = (type: string, object: unknown): void => {
      if (!signal.aborted) onEvent({ type, object })
    }
    signal.addEventListener('abort', abort)
    watcher.watch(path, query, relay, end).then((controller) => {
      opened = controller
      if (signal.aborted) controller.abort()
      if (!controller.signal.aborted) onOpen()
    }, end)
  })
}

/** Returns whether a watch ended normally: by its timeout, or by silence on a broken connection. */
function isUsualEnd(error: unknown): boolean {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
  return error === null || error === undefined || isTimeout
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { statusCode } = recordOf(error)
  const status = typeof statusCode === 'number' ? statusCode : undefined
  return new ApiError(causeText(error), status, { cause: error })
}

/** Returns the message of a Status object (meta/v1). */
function statusMessage(body: unknown, httpStatus: number): string {
  const { message } = recordOf(body)
  return typeof message === 'string' && message !== '' ? message : `HTTP status ${httpStatus}`
}
