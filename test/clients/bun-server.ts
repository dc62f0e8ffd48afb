/**
 * A program for Bun: serves an app that reads whole bodies over TLS, and prints its port. h2spec
 * sends bodies with late errors, and expects an error instead of a response.
 * @module
 */
import { findRuntime } from '../../src/server/http/fetch-runtime.ts'
import { FetchServer } from '../../src/server/http/fetch-server.ts'
import { SERVER } from '../certificates.ts'

const runtime = findRuntime()
if (runtime === undefined) throw new Error('Run this with Bun')
const fetch = async (request: Request): Promise<Response> => {
  await request.arrayBuffer()
  return new Response('an answer')
}
const tls = { ...SERVER, clientAuth: 'nocert' } as const
const server = new FetchServer(runtime, { app: { fetch }, direct: () => undefined, tls })
process.stdout.write(`port ${await server.listen('127.0.0.1', 0)}\n`)
