/**
 * A server for tests on loopback, and raw bytes that are sent to it.
 * @module
 */
import { connect } from 'node:net'
import type { Hono } from 'hono'
import { type HttpOptions, HttpServer } from '../../src/server/http/http-server.ts'
import { within } from './clients.ts'

/** Runs a function with a server on loopback. */
export async function withServer(
  app: Hono,
  run: (port: number) => Promise<void>,
  options: HttpOptions = {},
): Promise<void> {
  const server = new HttpServer(app, options)
  const port = await server.listen('127.0.0.1', 0)
  try {
    await run(port)
  } finally {
    await server.close()
  }
}

/** Sends raw bytes; resolves with all that the server sends before it closes. */
export function sendRaw(
  port: number,
  first: string,
  next: (write: (text: string) => boolean, end: () => void) => void = () => undefined,
): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  const closed = new Promise<string>((resolve) => {
    // A server may close before it has read everything; the client then gets ECONNRESET.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(first, 'latin1', () => {
    const write = (more: string): boolean => socket.writable && socket.write(more, 'latin1')
    next(write, () => socket.end())
    socket.on('drain', () => next(write, () => socket.end()))
  })
  return within(closed, 'the end')
}

/** Returns the status line of a response. */
export function statusOf(text: string): string {
  return text.slice(0, text.indexOf('\r\n'))
}
