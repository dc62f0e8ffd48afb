/**
 * Plain HTTP for the apps of this project on Bun, by its own server: twice as quick there as Node's
 * module is. Over TLS our own HTTP/2 is the quicker one (`bun-tls-server.ts`).
 * @module
 */
import { errorResponse, HttpError } from '../doh/http-error.ts'
import type { BunListen } from './bun-tls-server.ts'
import type { App, Direct, Head, Ready } from './http-request.ts'

/** Seconds that a connection may be idle; Bun takes up to 255. */
const IDLE_SECONDS = 15

/** Time for a request with a body: Bun bounds headers in all, and bodies only between bytes. */
const BODY_TIMEOUT_MS = 15_000

/** What this module uses of Bun (https://bun.com/reference/bun/serve). */
export type Bun = BunListen & { readonly serve: (options: BunOptions) => BunServing }

type BunOptions = {
  readonly hostname?: string
  readonly port: number
  readonly idleTimeout: number
  readonly fetch: (request: Request, serving: BunServing) => Response | Promise<Response>
  readonly error: () => Response
}

type BunServing = {
  readonly port: number
  readonly stop: (closesConnections: boolean) => Promise<void> | void
  readonly requestIP: (request: Request) => { address: string; port: number } | null
}

/** Finds the runtime; `undefined` on others. */
export function findBun(): Bun | undefined {
  const found: unknown = Reflect.get(globalThis, 'Bun')
  return isBun(found) ? found : undefined
}

function isBun(found: unknown): found is Bun {
  return (
    typeof found === 'object' &&
    found !== null &&
    'serve' in found &&
    typeof found.serve === 'function' &&
    'listen' in found &&
    typeof found.listen === 'function'
  )
}

/** A server for one app, by HTTP/1.1. */
export class BunServer {
  private readonly bun: Bun
  private readonly app: App
  private readonly direct: Direct
  private serving: BunServing | undefined
  private readonly headers = new WeakMap<object, Headers>()

  /** @param direct answers common requests in place of the app */
  constructor(bun: Bun, app: App, direct: Direct) {
    this.bun = bun
    this.app = app
    this.direct = direct
  }

  /**
   * Begins to listen. Resolves with the port.
   * @throws {Error} when the address is taken
   */
  async listen(host: string | undefined, port: number): Promise<number> {
    this.serving = this.bun.serve({
      ...(host !== undefined && { hostname: host }),
      port,
      idleTimeout: IDLE_SECONDS,
      fetch: (request, serving) => inTime(request, this.answer(request, serving)),
      error: () => new Response(null, { status: 500 }),
    })
    return this.serving.port
  }

  /** Does nothing: there is no certificate. */
  renew(): void {}

  /** Takes no more requests, and ends the connections there are. */
  async close(): Promise<void> {
    await this.serving?.stop(true)
  }

  private answer(request: Request, serving: BunServing): Response | Promise<Response> {
    const { headers, method, url } = request
    const ends = (): ReturnType<Head['ends']> => endsOf(request, serving)
    const answer = this.direct({
      method,
      path: url.slice(url.indexOf('/', url.indexOf('//') + 2)),
      header: (name) => headers.get(name) ?? undefined,
      // To tell it takes longer than to find the answer.
      get address() {
        return ends().address
      },
      ends,
    })
    // Without a host, or with a bad one, there is no URL; Bun passes such requests on.
    if (answer === undefined && !URL.canParse(url)) {
      return errorResponse(new HttpError(400, 'bad_host', 'The request names no valid host'))
    }
    if (answer === undefined) {
      const { address: remoteAddress, port: remotePort, localPort } = ends()
      return this.app.fetch(request, {
        incoming: { socket: { remoteAddress, remotePort, localPort } },
      })
    }
    if (method === 'POST') return this.answerPost(request, answer)
    const ready = answer()
    return ready instanceof Promise ? ready.then((one) => this.respond(one)) : this.respond(ready)
  }

  /** The size of the body was told beforehand, and is within bounds: else it is the app's. */
  private async answerPost(
    request: Request,
    answer: NonNullable<ReturnType<Direct>>,
  ): Promise<Response> {
    return this.respond(await answer(new Uint8Array(await request.arrayBuffer())))
  }

  /** Headers are made once for all that have the same: to make them takes longest of all. */
  private respond({ status, headers, body }: Ready): Response {
    const known = this.headers.get(headers)
    const made = known ?? new Headers(headers)
    if (known === undefined) this.headers.set(headers, made)
    return new Response(new Uint8Array(body), { status, headers: made })
  }
}

/** Answers 408 in place of a response that comes too late; Bun then closes the connection. */
function inTime(
  { method }: Request,
  response: Response | Promise<Response>,
): Response | Promise<Response> {
  const isWaiting = response instanceof Promise && method !== 'GET' && method !== 'HEAD'
  if (!isWaiting) return response
  const { promise, resolve } = Promise.withResolvers<Response>()
  const timer = setTimeout(() => {
    const close = { connection: 'close' }
    resolve(errorResponse(new HttpError(408, 'too_slow', 'The request took too long', close)))
  }, BODY_TIMEOUT_MS)
  return Promise.race([response, promise]).finally(() => clearTimeout(timer))
}

function endsOf(request: Request, serving: BunServing): ReturnType<Head['ends']> {
  const remote = serving.requestIP(request)
  const { address = '', port = 0 } = remote ?? {}
  return { address, port, localAddress: '', localPort: serving.port }
}
