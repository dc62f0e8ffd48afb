/**
 * The HTTP servers of Bun and Deno: HTTP/1.1 and, over TLS, HTTP/2.
 * @module
 */
import type { TlsService } from '../../resolver/contract/feature.ts'

/** Seconds that a connection may be idle on Bun; its maximum is 255. */
const IDLE_SECONDS = 15

/**
 * Interval of wake-ups of Bun's event loop while it serves TLS, which take 1.4 % of a core. Without
 * them, Bun 1.4 continues at most five TLS handshakes per iteration, the newest first, and sleeps
 * although others wait: while thousands of clients connect, a handshake waits for seconds.
 */
const WAKE_MS = 2

/** The client's end of a connection. */
export type RemoteEnd = { readonly address: string; readonly port: number }

/** Answers a request. Calling `remote` takes longer than most answers. */
export type FetchHandler = (
  request: Request,
  remote: () => RemoteEnd | null,
) => Response | Promise<Response>

/** Where to listen, and the certificate; plain HTTP without one. */
export type FetchListen = {
  /** All addresses by default. */
  readonly hostname?: string
  readonly port: number
  readonly tls?: Pick<TlsService, 'cert' | 'key'>
  /** Whether `::` means IPv6 addresses only (default: both families). */
  readonly ipv6Only?: boolean
  /** Whether other sockets listen on the same port (default: no). */
  readonly reusePort?: boolean
}

/** A listener. */
export type FetchListener = {
  readonly port: number
  /** Stops listening. @param closesConnections whether to close open connections too */
  readonly stop: (closesConnections: boolean) => Promise<void> | void
}

/** A runtime whose server calls a function for each request. */
export type FetchRuntime = {
  /** Starts to listen. @throws {Error} when the address is in use */
  readonly listen: (at: FetchListen, handler: FetchHandler) => FetchListener
}

/** What this module uses of Bun (https://bun.com/reference/bun/serve). */
type Bun = { readonly serve: (options: BunOptions) => BunServing }

type BunOptions = {
  readonly hostname?: string
  readonly port: number
  readonly tls?: Pick<TlsService, 'cert' | 'key'>
  readonly ipv6Only?: boolean
  readonly reusePort?: boolean
  readonly http2: boolean
  readonly idleTimeout: number
  readonly fetch: (request: Request, serving: BunServing) => Response | Promise<Response>
  readonly error: () => Response
}

type BunServing = FetchListener & { readonly requestIP: (request: Request) => RemoteEnd | null }

/** What this module uses of Deno (https://docs.deno.com/api/deno/~/Deno.serve). */
type Deno = { readonly serve: (options: DenoOptions, handler: DenoHandler) => DenoServing }

type DenoOptions = Partial<Pick<TlsService, 'cert' | 'key'>> & {
  readonly hostname?: string
  readonly port: number
  readonly reusePort?: boolean
  readonly signal: AbortSignal
  readonly onListen: () => void
  readonly onError: () => Response
}

type DenoHandler = (
  request: Request,
  info: { readonly remoteAddr: { readonly hostname: string; readonly port: number } },
) => Response | Promise<Response>

type DenoServing = {
  readonly addr: { readonly port: number }
  readonly shutdown: () => Promise<void>
  readonly finished: Promise<void>
}

/** Returns the server of Bun or Deno; `undefined` on Node. */
export function findRuntime(globals: object = globalThis): FetchRuntime | undefined {
  const [bun, deno]: readonly unknown[] = [
    Reflect.get(globals, 'Bun'),
    Reflect.get(globals, 'Deno'),
  ]
  if (hasServe<Bun>(bun)) return bunRuntime(bun)
  if (hasServe<Deno>(deno)) return denoRuntime(deno)
  return undefined
}

function hasServe<T>(found: unknown): found is T {
  return (
    typeof found === 'object' &&
    found !== null &&
    'serve' in found &&
    typeof found.serve === 'function'
  )
}

function bunRuntime(bun: Bun): FetchRuntime {
  return {
    listen: (at, handler) => {
      const serving = bun.serve({
        ...at,
        http2: at.tls !== undefined,
        idleTimeout: IDLE_SECONDS,
        fetch: (request, serving) => handler(request, () => serving.requestIP(request)),
        error: failure,
      })
      const waking = at.tls && setInterval(ignore, WAKE_MS).unref()
      const stop = (closesConnections: boolean): Promise<void> | void => {
        clearInterval(waking)
        return serving.stop(closesConnections)
      }
      return { port: serving.port, stop }
    },
  }
}

function denoRuntime(deno: Deno): FetchRuntime {
  return {
    listen: ({ tls, ...at }, handler) => {
      const abort = new AbortController()
      const options = { ...at, ...tls, signal: abort.signal, onListen: ignore, onError: failure }
      const serving = deno.serve(options, (request, { remoteAddr: { hostname, port } }) =>
        handler(request, () => ({ address: hostname, port })),
      )
      let isEnding = false
      const stop = (closesConnections: boolean): Promise<void> | void => {
        // Deno throws at `abort` after `shutdown`; the process ends what is open then.
        if (isEnding) return
        isEnding = true
        if (!closesConnections) return serving.shutdown()
        abort.abort()
        return serving.finished
      }
      return { port: serving.addr.port, stop }
    },
  }
}

function failure(): Response {
  return new Response(null, { status: 500 })
}

function ignore(): void {}
