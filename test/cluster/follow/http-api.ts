/**
 * An HTTP server on loopback in place of an API server.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { TestContext } from 'vitest'
import type { Collection, ObjectApi, WatchEvent } from '../../../src/cluster/api/object-api.ts'
import { portOf, within } from '../../server/clients.ts'
import { SERVICES } from './mirror.ts'

/** A signal that ends nothing. */
export const NEVER: AbortSignal = new AbortController().signal

/** A list of nothing, as the server sends it. */
export const EMPTY_LIST = { items: [], metadata: { resourceVersion: '1' } } as const

/** What the server does with a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Keys of a server that asks its clients for a certificate as well. */
export type ServerKeys = { readonly cert: string; readonly key: string; readonly ca: string }

/** Starts a server, which runs until its test ends. @returns its URL */
export async function startHttpApi(
  t: TestContext,
  answer: Answer,
  keys?: ServerKeys,
): Promise<string> {
  const server =
    keys === undefined
      ? createServer(answer)
      : createTlsServer({ ...keys, requestCert: true, rejectUnauthorized: false }, answer)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  const scheme = keys === undefined ? 'http' : 'https'
  return `${scheme}://127.0.0.1:${portOf(server.address())}`
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Begins the answer to a watch. */
export function openWatch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
}

/** A line of a watch. */
export function watchLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

/** A watch from version 5, and what it reports, event by event. */
export function watchFrom(
  api: ObjectApi,
  { collection = SERVICES, signal = NEVER }: { collection?: Collection; signal?: AbortSignal } = {},
): { readonly done: Promise<void>; readonly seen: (WatchEvent | 'open')[] } {
  const seen: (WatchEvent | 'open')[] = []
  const done = api.watch(collection, {
    resourceVersion: '5',
    onEvent: (event) => seen.push(event),
    onOpen: () => seen.push('open'),
    signal,
  })
  return { done: within(done, 'the end of the watch'), seen }
}
