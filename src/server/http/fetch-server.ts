/**
 * Serves an app on Bun and Deno with the runtime's own HTTP server, which is four times as fast
 * there as `node:http`. It does not report client certificates.
 * @module
 */
import { createSecureContext } from 'node:tls'
import { sleep } from '../../cluster/api/backoff.ts'
import { clientNetwork } from '../../dns/names/network.ts'
import { errorResponse, HttpError } from '../../gateway/doh/http-error.ts'
import type { TrustedProxies } from '../../gateway/doh/trusted-proxies.ts'
import type { TlsService } from '../../resolver/contract/feature.ts'
import { contextOptions } from '../keys/tls-service.ts'
import { FairQueue } from '../sockets/fair-queue.ts'
import type { FetchListener, FetchRuntime, RemoteEnd } from './fetch-runtime.ts'
import { type App, type Direct, type Ends, type Ready, unmapped } from './http-request.ts'
import type { ListenOptions } from './http-server.ts'
import { RequestMemory } from './request-memory.ts'

/** Time for a request with a body; the runtimes themselves bound only the pauses within it. */
const BODY_TIMEOUT_MS = 15_000

/** Milliseconds that the runtime needs to write a response, about. */
const RESPONSE_COST_MS = 0.02

/** Shares the event loop between the clients of all servers in the process. */
const QUEUE = new FairQueue()

/** Shared by all servers of the process, because its memory is. */
const REQUEST_MEMORY = new RequestMemory()

/** Bytes that a body counts at most: those of a DNS message. */
const BODY_BYTES_MAX = 65_535
/** Bytes that a body without a Content-Length counts: large bodies make room before it. */
const UNSAID_BYTES = 16_384

/** The client's end once the connection is closed. */
const NOWHERE: RemoteEnd = { address: '', port: 0 }

/** What to serve. */
export type FetchServerOptions = {
  readonly app: App
  /** Answers common requests without the app. */
  readonly direct: Direct
  /** Certificate and key; plain HTTP when undefined. */
  readonly tls: TlsService | undefined
  /** Bounds bodies that wait for the rest (default: one bound for the process). */
  readonly requestMemory?: RequestMemory
  /** Returns the proxies, which name the client of each request; none by default. */
  readonly proxies?: (() => TrustedProxies | undefined) | undefined
}

/** A server for one app. */
export class FetchServer {
  private readonly runtime: FetchRuntime
  private readonly options: FetchServerOptions
  private tls: TlsService | undefined
  private listener: FetchListener | undefined
  private host: string | undefined
  private how: ListenOptions = {}
  private readonly headers = new WeakMap<object, Headers>()

  /** @throws {Error} when the certificate or key is invalid */
  constructor(runtime: FetchRuntime, options: FetchServerOptions) {
    this.runtime = runtime
    this.options = options
    this.tls = options.tls
    if (options.tls !== undefined) createSecureContext(contextOptions(options.tls))
  }

  /**
   * Starts to listen.
   * @returns the port
   * @throws {Error} when the address is in use
   */
  async listen(host: string | undefined, port: number, how: ListenOptions = {}): Promise<number> {
    this.host = host
    this.how = how
    return this.bind(port)
  }

  /**
   * Presents another certificate on new connections. The runtimes cannot change it while they
   * listen, so this closes and reopens the port; open connections stay.
   * @throws {Error} when the certificate or key is invalid, or another process has taken the port
   */
  renew(tls: TlsService): void {
    if (tls.cert === this.tls?.cert && tls.key === this.tls.key) return
    createSecureContext(contextOptions(tls))
    this.tls = tls
    if (this.listener === undefined) return
    const { port } = this.listener
    void this.listener.stop(false)
    this.bind(port)
  }

  /** Stops listening; open connections stay. Resolves when the runtime has closed the last one. */
  async stopListening(): Promise<void> {
    await this.listener?.stop(false)
  }

  /** Does nothing: the runtimes cannot ask clients to open other connections. */
  leave(): void {}

  /** Stops listening. Resolves when the last connection has closed, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    const limit = new AbortController()
    await Promise.race([this.stopListening(), sleep(limitMs, limit.signal)])
    limit.abort()
  }

  /** Stops listening and closes all connections. */
  async close(): Promise<void> {
    await this.listener?.stop(true)
  }

  private bind(port: number): number {
    const { host, tls } = this
    const at = {
      ...(host !== undefined && { hostname: host }),
      ...(tls !== undefined && { tls: { cert: tls.cert, key: tls.key } }),
      port,
      ...this.how,
    }
    const memory = this.options.requestMemory ?? REQUEST_MEMORY
    this.listener = this.runtime.listen(at, (request, remote) =>
      inTurn(
        () => this.clientOf(request, remote),
        () => inTime(request, this.answer(request, remote), memory),
      ),
    )
    return this.listener.port
  }

  private answer(request: Request, remote: () => RemoteEnd | null): Response | Promise<Response> {
    const { headers, method, url } = request
    const { app, direct } = this.options
    const ends = (): Ends => {
      const { address, port } = remote() ?? NOWHERE
      return {
        address: unmapped(address),
        port,
        localAddress: this.host ?? '',
        localPort: this.listener?.port ?? 0,
      }
    }
    const answer = direct({
      method,
      path: url.slice(url.indexOf('/', url.indexOf('//') + 2)),
      header: (name) => headers.get(name) ?? (name === 'host' ? hostOf(url) : undefined),
      // Lazy: looking it up takes longer than answering.
      get address() {
        return ends().address
      },
      ends,
    })
    // Bun passes on requests with no host or a bad one, whose URL is only a path.
    if (answer === undefined && !URL.canParse(url)) {
      return errorResponse(new HttpError(400, 'bad_host', 'The request names no valid host'))
    }
    if (answer === undefined) {
      const { address: remoteAddress, port: remotePort, localAddress, localPort } = ends()
      return app.fetch(request, {
        incoming: { socket: { remoteAddress, remotePort, localAddress, localPort } },
      })
    }
    if (method === 'POST') return this.answerPost(request, answer)
    const ready = answer()
    return ready instanceof Promise ? ready.then((one) => this.respond(one)) : this.respond(ready)
  }

  private clientOf({ headers }: Request, remote: () => RemoteEnd | null): string {
    const { address } = remote() ?? NOWHERE
    const sent = { header: (name: string) => headers.get(name) }
    const forwarded = this.options.proxies?.()?.find(address, sent)
    return clientNetwork(forwarded?.address ?? address)
  }

  /** Reads the body without a bound: `direct` has checked its Content-Length. */
  private async answerPost(
    request: Request,
    answer: NonNullable<ReturnType<Direct>>,
  ): Promise<Response> {
    return this.respond(await answer(new Uint8Array(await request.arrayBuffer())))
  }

  /** Creates a response. Caches `Headers` objects: they cost more than everything else here. */
  private respond({ status, headers, body }: Ready): Response {
    const known = this.headers.get(headers)
    const created = known ?? new Headers(headers)
    if (known === undefined) this.headers.set(headers, created)
    return new Response(isUnshared(body) ? body : new Uint8Array(body), {
      status,
      headers: created,
    })
  }
}

/** Returns the host of a request, which HTTP/2 has in no header. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined
}

/** Whether a response may copy these bytes itself, as the Fetch standard says. */
function isUnshared(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
}

/**
 * Answers at once while this iteration of the event loop has time left, otherwise in turns.
 * @param clientOf returns the client whose turn the request takes
 */
function inTurn(
  clientOf: () => string,
  answer: () => Response | Promise<Response>,
): Response | Promise<Response> {
  if (QUEUE.hasTime) return QUEUE.runNow(answer, RESPONSE_COST_MS)
  const { promise, resolve } = Promise.withResolvers<Response>()
  QUEUE.run(clientOf(), () => resolve(answer()), RESPONSE_COST_MS)
  return promise
}

/**
 * Answers 408 when the response takes too long, and 503 when the bodies that wait take too much
 * memory; Bun then closes the connection.
 */
function inTime(
  { method, headers }: Request,
  response: Response | Promise<Response>,
  memory: RequestMemory,
): Response | Promise<Response> {
  const isWaiting = response instanceof Promise && method !== 'GET' && method !== 'HEAD'
  if (!isWaiting) return response
  const { promise, resolve } = Promise.withResolvers<Response>()
  const close = { connection: 'close' }
  const timer = setTimeout(() => {
    resolve(errorResponse(new HttpError(408, 'too_slow', 'The request took too long', close)))
  }, BODY_TIMEOUT_MS)
  // The runtime does not say how much has arrived.
  const bytes = Math.min(Number(headers.get('content-length')) || UNSAID_BYTES, BODY_BYTES_MAX)
  const holder = {
    heldBytes: () => bytes,
    dropRequests: () => {
      const message = 'Too many requests wait for their bodies'
      resolve(errorResponse(new HttpError(503, 'busy', message, close)))
    },
  }
  memory.add(holder)
  memory.held(bytes)
  return Promise.race([response, promise]).finally(() => {
    clearTimeout(timer)
    memory.delete(holder)
  })
}
