/**
 * A client of etcd's JSON gateway: ranges, watches and leases over HTTP. Tries one endpoint after
 * the other.
 * @module
 */

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from 'node:http'
import { Agent as HttpsAgent, request as requestSecurely } from 'node:https'
import { readLines } from '../../cluster/api/watch-lines.ts'
import { configError } from '../../corefile/problem.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { EtcdConnection } from '../../resolver/plugins/etcd/options.ts'
import { tlsContext } from '../keys/tls-identity.ts'
import {
  parseError,
  parseKeyRange,
  parseTimeToLive,
  parseToken,
  parseWatchMessage,
  type RangePage,
  toBase64,
  type WatchMessage,
} from './etcd-json.ts'

/** Etcd is unreachable, or returns an error. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError'
  /** The gRPC status code, if etcd sent one. */
  readonly code: number | undefined

  constructor(message: string, code?: number) {
    super(message)
    this.code = code
  }
}

/** The code for a compacted revision: gRPC's OUT_OF_RANGE. */
export const CODE_COMPACTED = 11

/** A range of keys: from `first`, up to but without `end`. */
export type KeyRange = { readonly first: string; readonly end: string }

/** The requests that watching keys needs. All reject with `EtcdError`. */
export type EtcdApi = {
  /** Reads at most `countMax` keys in order, as of `revision`; 0 for the current one. */
  readonly range: (
    range: KeyRange,
    from: { readonly revision: number; readonly countMax: number },
    signal: AbortSignal,
  ) => Promise<RangePage>
  /** Watches changes since `revision`. Resolves when etcd ends the watch. */
  readonly watch: (
    range: KeyRange,
    revision: number,
    watcher: {
      readonly signal: AbortSignal
      readonly onMessage: (message: WatchMessage) => void
    },
  ) => Promise<void>
  /** Resolves with the remaining seconds of a lease; 0 or less if it has expired. */
  readonly timeToLive: (lease: string, signal: AbortSignal) => Promise<number>
}

/** Timeouts. */
export type EtcdTimes = {
  /** For a response to start, or to continue. */
  readonly answerMs?: number
  /** For any message of a watch. Etcd reports its progress every ten minutes. */
  readonly silenceMs?: number
}

const ANSWER_MS = 5000
const SILENCE_MS = 15 * 60_000
/** Silence after which keep-alive probes start; ten seconds later the connection counts as dead. */
const KEEPALIVE_MS = 10_000
/** Maximum size of a response, or of one message of a watch. */
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024
/** The bound of {@link readLines} for messages of a watch. */
const MESSAGE = {
  charsMax: MESSAGE_BYTES_MAX,
  tooLong: () => new EtcdError('a watch message is too large'),
}
/** Characters of a response that an error quotes. */
const REASON_CHARACTERS_MAX = 120
const CODE_PRECONDITION = 9

/** A client of one etcd. */
export class EtcdClient implements EtcdApi {
  private readonly connection: EtcdConnection
  private readonly times: Required<EtcdTimes>
  private readonly http = new HttpAgent({ keepAlive: true })
  private readonly https: HttpsAgent
  private turn = 0
  /** `undefined` before authentication; '' if etcd needs none. */
  private token: string | undefined

  /** @throws {ConfigError} if certificates and keys do not match */
  constructor(connection: EtcdConnection, { answerMs, silenceMs }: EtcdTimes = {}) {
    this.connection = connection
    this.times = { answerMs: answerMs ?? ANSWER_MS, silenceMs: silenceMs ?? SILENCE_MS }
    try {
      const secureContext = tlsContext(connection.tls)
      this.https = new HttpsAgent({ keepAlive: true, secureContext })
    } catch (error) {
      throw configError(connection, `cannot use the files of "tls": ${errorText(error)}`)
    }
  }

  async range(
    { first, end }: KeyRange,
    { revision, countMax }: { readonly revision: number; readonly countMax: number },
    signal: AbortSignal,
  ): Promise<RangePage> {
    const range = { key: toBase64(first), range_end: toBase64(end) }
    const body = { ...range, revision: String(revision), limit: String(countMax) }
    return parseKeyRange(await this.ask('/v3/kv/range', body, signal))
  }

  async watch(
    { first, end }: KeyRange,
    revision: number,
    { signal, onMessage }: Parameters<EtcdApi['watch']>[2],
  ): Promise<void> {
    const range = { key: toBase64(first), range_end: toBase64(end) }
    const create = { ...range, start_revision: String(revision), progress_notify: true }
    await this.attempt(async () => {
      const response = await this.send('/v3/watch', { create_request: create }, signal)
      response.setTimeout(this.times.silenceMs)
      await readLines(response, (line) => onMessage(parseWatchMessage(parseJson(line))), MESSAGE)
    })
  }

  async timeToLive(lease: string, signal: AbortSignal): Promise<number> {
    return parseTimeToLive(await this.ask('/v3/lease/timetolive', { ID: lease }, signal))
  }

  close(): void {
    this.http.destroy()
    this.https.destroy()
  }

  private ask(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return this.attempt(async () => parseJson(await wholeOf(await this.send(path, body, signal))))
  }

  /** After a failure, uses the next endpoint and discards the token, which may be the cause. */
  private async attempt<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      this.turn++
      this.token = undefined
      throw error instanceof EtcdError ? error : new EtcdError(errorText(error))
    }
  }

  private async send(path: string, body: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const { credentials } = this.connection
    if (credentials !== undefined) this.token ??= await this.authenticate(credentials, signal)
    return this.post(path, body, signal)
  }

  /** Authenticates. An etcd without authentication says so; then requests have no token. */
  private async authenticate(
    { username, password }: { readonly username: string; readonly password: string },
    signal: AbortSignal,
  ): Promise<string> {
    try {
      const body = { name: username, password }
      const response = await this.post('/v3/auth/authenticate', body, signal)
      return parseToken(parseJson(await wholeOf(response)))
    } catch (error) {
      if (error instanceof EtcdError && error.code === CODE_PRECONDITION) return ''
      throw error
    }
  }

  private async post(path: string, body: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const { endpoints } = this.connection
    const url = new URL(path, endpoints[this.turn % endpoints.length])
    const text = JSON.stringify(body)
    const options = {
      method: 'POST',
      signal,
      timeout: this.times.answerMs,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        // A member without a quorum then ends its watches instead of staying silent.
        'grpc-metadata-hasleader': 'true',
        ...(this.token && { authorization: this.token }),
      },
    }
    const sent =
      url.protocol === 'https:'
        ? requestSecurely(url, { ...options, agent: this.https })
        : request(url, { ...options, agent: this.http })
    const response = await responseTo(sent, text)
    if (response.statusCode === 200) return response
    const { reason, code } = refusalOf(await wholeOf(response))
    throw new EtcdError(`${url.origin}: ${reason}`, code)
  }
}

function responseTo(sent: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let begun: IncomingMessage | undefined
    sent.on('response', (response) => {
      begun = response
      resolve(response)
    })
    sent.on('error', reject)
    sent.on('socket', (socket) => socket.setKeepAlive(true, KEEPALIVE_MS))
    sent.on('timeout', () => {
      const late = begun ?? sent
      late.destroy(new EtcdError('no response in time'))
    })
    sent.end(body)
  })
}

async function wholeOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length > MESSAGE_BYTES_MAX) throw new EtcdError('the response is too large')
  }
  return text
}

/** Parses an error. Errors from before the JSON gateway are a line of text. */
function refusalOf(text: string): ReturnType<typeof parseError> {
  try {
    return parseError(JSON.parse(text))
  } catch {
    return { reason: text.slice(0, REASON_CHARACTERS_MAX).trim(), code: undefined }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const start = text.slice(0, REASON_CHARACTERS_MAX).trim()
    throw new EtcdError(`the response is not JSON: ${start}`)
  }
}
