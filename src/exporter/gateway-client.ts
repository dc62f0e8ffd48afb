/**
 * A client of a gateway's publishing routes.
 * @module
 */
import { causeText, isTexts, parseJson, recordOf } from '../dns/bytes/unknown.ts'
import {
  formatSentTokens,
  parseOutcomes,
  type SentToken,
  type TokenOutcome,
} from '../snapshot/format/client-tokens.ts'
import { formatPublication, type Publication } from '../snapshot/format/publication.ts'
import { parseVersions, READS_HEADER } from '../snapshot/format/versions.ts'

/** A gateway refuses a request, or is unreachable. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  /** HTTP status, or `undefined` without a response. */
  readonly status: number | undefined

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** The manifest of a cluster on a gateway. */
export type PublishedState = {
  /** Entity tag of the manifest. */
  readonly etag: string
  readonly generation: number
  /** When the exporter last confirmed it, in milliseconds since 1970. */
  readonly timeMs: number
}

/** The result of publishing a manifest. */
export type ManifestResult =
  | { readonly kind: 'stored'; readonly etag: string }
  | { readonly kind: 'missing'; readonly sha256s: readonly string[] }
  /** Another exporter has published in the meantime. */
  | { readonly kind: 'changed' }
  /** Its time is before that of the published manifest. */
  | { readonly kind: 'older'; readonly message: string }

/** One cluster on one gateway. */
export type GatewayClient = {
  /** Reads the published manifest, unless `signal` ends it; `undefined` if there is none. */
  readonly state: (signal?: AbortSignal) => Promise<PublishedState | undefined>
  /**
   * Versions of snapshots that the gateway reads, as of its last response; before any, what a
   * gateway reads that names none.
   */
  readonly reads: () => readonly number[]
  readonly putShard: (sha256: string, bytes: Uint8Array) => Promise<void>
  /** @param expected entity tag of the manifest that this one replaces */
  readonly putManifest: (
    bytes: Uint8Array,
    signature: string,
    expected: string | undefined,
  ) => Promise<ManifestResult>
  /**
   * Sends shards and the manifest that lists them in one request. Returns `undefined` if the
   * gateway is older than this route, or a proxy before it takes no such body (nginx's bound is
   * 1 MiB); nothing is stored then.
   */
  readonly putPublication: (
    publication: Publication,
    signature: string,
    expected: string | undefined,
  ) => Promise<ManifestResult | undefined>
}

const STATUS_TOO_LARGE = 413

/** Address and credentials of the gateway. */
export type GatewayClientOptions = {
  /** `https://HOST`, optionally with a path above the routes. */
  readonly url: string
  readonly cluster: string
  readonly token: string
  readonly fetch?: typeof fetch
}

const TIMEOUT_MS = 30_000

/**
 * Sends the ClientTokens of a cluster, which replace those that the gateway has.
 * @throws {GatewayError} with status 403 where the gateway takes none of this cluster
 */
export async function sendTokens(
  options: GatewayClientOptions,
  tokens: readonly SentToken[],
  signal: AbortSignal,
): Promise<readonly TokenOutcome[]> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'PUT', body: formatSentTokens(tokens), headers, signal }
  const answer = await ask(options, `${baseOf(options)}/client-tokens`, init)
  if (answer.status !== 200) throw refusal(answer)
  return parseOutcomes(answer.body)
}

/** Returns a client. All its methods throw {@link GatewayError}. */
export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  const base = baseOf(options)
  let reads = parseVersions(null)
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const answer = await ask(options, base + path, init)
    // A proxy's error says nothing of the gateway.
    if (answer.status < 300 || errorOf(answer).code !== undefined) reads = answer.reads
    return answer
  }
  return {
    reads: () => reads,
    state: async (signal) => {
      const answer = await send('', signal && { signal })
      if (answer.status === 404) return undefined
      const { generation, time } = recordOf(answer.body)
      if (answer.status !== 200 || typeof generation !== 'number') throw refusal(answer)
      const timeMs = Date.parse(String(time))
      return { etag: answer.etag, generation, timeMs: Number.isNaN(timeMs) ? 0 : timeMs }
    },
    putShard: async (sha256, bytes) => {
      const answer = await send(`/shards/${sha256}`, { method: 'PUT', body: new Uint8Array(bytes) })
      if (answer.status >= 300) throw refusal(answer)
    },
    putManifest: async (bytes, signature, expected) => {
      const headers = { 'content-type': 'application/json', ...conditions(signature, expected) }
      const init = { method: 'PUT', body: new Uint8Array(bytes), headers }
      return manifestResult(await send('/manifest', init))
    },
    putPublication: async (publication, signature, expected) => {
      const headers = conditions(signature, expected)
      const body = formatPublication(publication)
      const answer = await send('/publication', { method: 'PUT', body, headers })
      const isTooLarge = answer.status === STATUS_TOO_LARGE
      if (isTooLarge || errorOf(answer).code === 'not_found') return undefined
      return manifestResult(answer)
    },
  }
}

function baseOf({ url, cluster }: GatewayClientOptions): string {
  return `${url.replace(/\/+$/, '')}/v1/clusters/${cluster}`
}

function conditions(signature: string, expected: string | undefined): Record<string, string> {
  const condition = expected === undefined ? { 'if-none-match': '*' } : { 'if-match': expected }
  return { 'kubedoh-signature': signature, ...condition }
}

function manifestResult(answer: Answer): ManifestResult {
  if (answer.status < 300) return { kind: 'stored', etag: answer.etag }
  const { code } = errorOf(answer)
  if (answer.status === 412 || code === 'not_newer') return { kind: 'changed' }
  if (code === 'older_time') return { kind: 'older', message: refusal(answer).message }
  const { missing } = recordOf(answer.body)
  if (answer.status === 409 && isTexts(missing)) return { kind: 'missing', sha256s: missing }
  throw refusal(answer)
}

type Answer = {
  readonly status: number
  readonly etag: string
  readonly reads: readonly number[]
  readonly body: unknown
}

async function ask(
  { token, fetch: send = fetch }: GatewayClientOptions,
  url: string,
  init: RequestInit,
): Promise<Answer> {
  const late = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await send(url, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: init.signal ? AbortSignal.any([init.signal, late]) : late,
    })
    const text = await response.text()
    const etag = response.headers.get('etag') ?? ''
    const reads = parseVersions(response.headers.get(READS_HEADER))
    return { status: response.status, etag, reads, body: parseJson(text) }
  } catch (error) {
    // The error about a token that is invalid in a header would quote the token.
    const text = token === '' ? causeText(error) : causeText(error).replaceAll(token, '…')
    const message = `${new URL(url).origin} cannot be reached: ${text}`
    throw new GatewayError(message, undefined, { cause: error })
  }
}

function refusal(answer: Answer): GatewayError {
  const { message } = errorOf(answer)
  const text = typeof message === 'string' ? message : 'its answer is not a gateway’s'
  return new GatewayError(`The gateway answers ${answer.status}: ${text}`, answer.status)
}

function errorOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(body).error)
}
