/**
 * Ways to send a request to an app.
 * @module
 */
import { request as httpRequest } from 'node:http'
import fc from 'fast-check'
import type { Hono } from 'hono'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { HttpServer } from '../../../src/server/http/http-server.ts'

export { fakeApp, question, type ReplyText, record, replyOf, replyTo } from './fake-app.ts'

/** Any text, also what is no Unicode. */
export function anyText(): fc.Arbitrary<string> {
  const code = fc.oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0xffff }))
  return fc.array(code).map((codes) => String.fromCharCode(...codes))
}

/** The path that asks a message by GET. */
export function pathOf(message: Uint8Array): string {
  return `/dns-query?dns=${encodeBase64url(message)}`
}

/** A request. */
export type Ask = {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** The addresses to send to, and from. */
  readonly host?: string
  readonly localAddress?: string
}

/** What came back. */
export type Got = { readonly status: number; readonly headers: Headers; readonly body: Uint8Array }

/** Sends a request to an app within the process. */
export async function sendDirectly(app: Hono, ask: Ask): Promise<Got> {
  const { path, method = 'GET', headers = {}, body } = ask
  const init: RequestInit = { method, headers: { ...headers } }
  if (body !== undefined) init.body = new Uint8Array(body)
  const response = await app.request(path, init)
  const { status } = response
  return { status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) }
}

/** Sends a request to an app over HTTP, by a server that lives for this one request. */
export async function sendOverHttp(app: Hono, ask: Ask): Promise<Got> {
  const server = new HttpServer(app)
  const port = await server.listen('127.0.0.1', 0)
  try {
    return await sendTo(port, ask)
  } finally {
    await server.close()
  }
}

/** Sends a request to a server on this machine. */
export function sendTo(port: number, ask: Ask): Promise<Got> {
  const { method = 'GET', headers = {}, body, ...rest } = ask
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const to = { host: '127.0.0.1', ...rest, port, method }
    const request = httpRequest({ ...to, headers: { ...length, ...headers } }, (response) => {
      const chunks: Uint8Array[] = []
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const got = new Headers()
        for (let i = 0; i < response.rawHeaders.length; i += 2) {
          got.append(response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? '')
        }
        const { statusCode = 0 } = response
        resolve({ status: statusCode, headers: got, body: new Uint8Array(Buffer.concat(chunks)) })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}
