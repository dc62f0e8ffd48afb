/**
 * HTTP for the apps of this project on Bun, by its own server: several times as quick there as
 * Node's modules are.
 * @module
 */
import type { TlsService } from '../plugins/plugin.ts'
import type { App, Direct, Head, Ready } from './http-request.ts'

/** Seconds that a connection may be idle; Bun takes up to 255. */
const IDLE_SECONDS = 15

/** What this module uses of Bun (https://bun.com/reference/bun/serve). */
export type Bun = { readonly serve: (options: BunOptions) => BunServing }

type BunOptions = {
  readonly hostname?: string
  readonly port: number
  readonly idleTimeout: number
  /** HTTP/2 beside HTTP/1.1. */
  readonly http2?: boolean
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly fetch: (request: Request, serving: BunServing) => Response | Promise<Response>
  readonly error: () => Response
}

type BunServing = {
  readonly port: number
  readonly stop: (closesConnections: boolean) => Promise<void> | void
  readonly requestIP: (request: Request) => { address: string; port: number } | null
}

/** How to serve. */
export type BunServerOptions = {
  /** For HTTPS; certificates of clients are not asked for. */
  readonly tls?: Pick<TlsService, 'cert' | 'key'>
  /** Answers common requests in place of the app. */
  readonly direct: Direct
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
    typeof found.serve === 'function'
  )
}

/** A server for one app: HTTP/1.1, and with TLS HTTP/2 as well. */
export class BunServer {
  private readonly bun: Bun
  private readonly app: App
  private readonly options: BunServerOptions
  private serving: BunServing | undefined
  private readonly headers = new WeakMap<object, Headers>()

  constructor(bun: Bun, app: App, options: BunServerOptions) {
    this.bun = bun
    this.app = app
    this.options = options
  }

  /**
   * Begins to listen. Resolves with the port.
   * @throws {Error} when the address is taken, or certificate and key are not good
   */
  async listen(host: string | undefined, port: number): Promise<number> {
    const { tls } = this.options
    this.serving = this.bun.serve({
      ...(host !== undefined && { hostname: host }),
      port,
      idleTimeout: IDLE_SECONDS,
      ...(tls && { tls: { cert: tls.cert, key: tls.key }, http2: true }),
      fetch: (request, serving) => this.answer(request, serving),
      error: () => new Response(null, { status: 500 }),
    })
    return this.serving.port
  }

  /** Takes no more requests, and ends the connections there are. */
  async close(): Promise<void> {
    await this.serving?.stop(true)
  }

  private answer(request: Request, serving: BunServing): Response | Promise<Response> {
    const { headers, method, url } = request
    const ends = (): ReturnType<Head['ends']> => endsOf(request, serving)
    const answer = this.options.direct({
      method,
      path: url.slice(url.indexOf('/', url.indexOf('//') + 2)),
      header: (name) => headers.get(name) ?? undefined,
      // To tell it takes longer than to find the answer.
      get address() {
        return ends().address
      },
      ends,
    })
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

function endsOf(request: Request, serving: BunServing): ReturnType<Head['ends']> {
  const remote = serving.requestIP(request)
  const { address = '', port = 0 } = remote ?? {}
  return { address, port, localAddress: '', localPort: serving.port }
}
