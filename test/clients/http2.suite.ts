/**
 * h2spec asks our HTTP/2 all its cases, strict ones among them. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { HttpServer } from '../../src/server/http-server.ts'
import { SERVER } from '../certificates.ts'
import { prepareH2spec } from '../cluster/binaries.ts'
import { findMissing } from './programs.ts'

/** Its sections, and how many cases each of them has. */
const SECTIONS = { generic: 44, http2: 95, hpack: 7 } as const
const PATIENCE_MS = 120_000

describe('h2spec', { skip: findMissing('go') ?? false }, () => {
  // It sends bodies that go wrong late, and wants that to be told in place of an answer.
  const app = {
    fetch: async (request: Request): Promise<Response> => {
      await request.arrayBuffer()
      return new Response('an answer')
    },
  }
  const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' } })
  let port = 0
  before(async () => {
    port = await server.listen('127.0.0.1', 0)
  })
  after(() => server.close())

  for (const [section, count] of Object.entries(SECTIONS)) {
    it(`finds nothing wrong: ${section}`, async () => {
      const flags = ['--tls', '--insecure', '--strict', '--port', String(port)]
      const output = await outputOf(prepareH2spec(), [section, ...flags])
      assert.match(output, new RegExp(`${count} tests, ${count} passed, 0 skipped, 0 failed`))
    })
  }
})

/** Runs a program and resolves with what it printed, whatever its status. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS }, (_, stdout) => resolve(stdout))
  })
}
