/**
 * The end of a login in the browser: a server on loopback that the issuer redirects to (RFC 8252
 * §7.3).
 * @module
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { isRecord } from '../../dns/bytes/unknown.ts'
import { CommandError, listenMessage } from '../../server/node/output.ts'

const PATH = '/callback'
const HEAD_BYTES_MAX = 16 * 1024
const REQUEST_MS_MAX = 10_000
const CONNECTIONS_MAX = 16
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  // The URL has the code.
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/** Whether the redirect of a login ended it: what the page says. */
type Outcome = 'done' | 'refused' | 'foreign'

/** A server that waits for the redirect of one login. */
export class LoopbackRedirect {
  /** Where the issuer redirects to. */
  readonly url: string
  private readonly server: Server

  /**
   * Listens on an address of this machine.
   * @throws {CommandError} when the address is in use
   */
  static async listen(host: string, port: number): Promise<LoopbackRedirect> {
    const server = createServer({ maxHeaderSize: HEAD_BYTES_MAX, requestTimeout: REQUEST_MS_MAX })
    server.maxConnections = CONNECTIONS_MAX
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', (error) => {
      reject(new CommandError(listenMessage(error, `${host}:${port}`)))
    })
    server.listen(port, host, resolve)
    await promise
    return new LoopbackRedirect(server, host)
  }

  private constructor(server: Server, host: string) {
    const address = server.address()
    const port = isRecord(address) ? address.port : ''
    this.server = server
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${PATH}`
  }

  /**
   * Resolves with the URL of the redirect that has the state of the login. Others get an error:
   * any page may send the browser here, and must not end the login.
   * @throws {CommandError} when the signal aborts first
   */
  async wait(state: string, signal: AbortSignal): Promise<URL> {
    const { promise, resolve, reject } = Promise.withResolvers<URL>()
    this.server.on('request', ({ method, url: target = '' }, response) => {
      const url = URL.canParse(target, this.url) ? new URL(target, this.url) : undefined
      if (method !== 'GET' || url?.pathname !== PATH) {
        response.writeHead(404, HEADERS).end()
        return
      }
      const isOwn = url.searchParams.get('state') === state
      const outcome = url.searchParams.has('error') ? 'refused' : 'done'
      respond(response, isOwn ? outcome : 'foreign')
      if (isOwn) response.once('close', () => resolve(url))
    })
    const giveUp = (): void => reject(new CommandError('Nobody logged in within the time allowed'))
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}

const WORDS: Readonly<Record<Outcome, readonly [status: number, title: string, text: string]>> = {
  done: [200, 'You can close this window', 'kubedoh goes on in the terminal.'],
  refused: [200, 'No login', 'The terminal has the reason. You can close this window.'],
  foreign: [400, 'Not this login', 'The answer belongs to another login. Use the newest page.'],
}

function respond(response: ServerResponse, outcome: Outcome): void {
  const [status, title, text] = WORDS[outcome]
  response.writeHead(status, HEADERS).end(pageOf(title, text))
}

function pageOf(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · kubedoh</title>
<style>
  :root { color-scheme: light dark; --line: #d4d9e2; --quiet: #566074; }
  @media (prefers-color-scheme: dark) { :root { --line: #39414f; --quiet: #a3adbf; } }
  body { min-height: 90vh; margin: 0; display: grid; place-items: center;
    font: 1rem/1.5 system-ui, sans-serif; }
  main { max-width: 26rem; margin: 1rem; padding: 2rem 2.5rem; border: 1px solid var(--line);
    border-radius: .75rem; }
  h1 { margin: 0 0 .5rem; font-size: 1.25rem; }
  p { margin: 0; color: var(--quiet); }
</style>
<main>
  <h1>${title}</h1>
  <p>${text}</p>
</main>
`
}
