/**
 * Runs all h2spec cases, including strict ones, against our HTTP/2 servers. Run by
 * `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, it } from 'vitest'
import { HttpServer } from '../../src/server/http-server.ts'
import { SERVER } from '../certificates.ts'
import { prepareH2spec } from '../cluster/binaries.ts'
import { describeUnless } from '../describe-unless.ts'
import { findMissing } from './programs.ts'

/** Sections of h2spec, and the number of cases in each. */
const SECTIONS = { generic: 44, http2: 95, hpack: 7 } as const
const PATIENCE_MS = 120_000

/**
 * Cases where nghttp2, and so `node:http2`, ignores what RFC 9113 calls a connection error. None
 * reaches a request or costs more than reading the frame.
 */
const LENIENT: Readonly<Record<string, string>> = {
  'closed: Sends a DATA frame after sending RST_STREAM frame':
    '§5.1: the frame may have been on its way; nghttp2 drops it and counts its bytes',
  'closed: Sends a HEADERS frame after sending RST_STREAM frame':
    '§5.1: as above; the header block is decoded, as HPACK needs it, and dropped',
  'closed: Sends a DATA frame': '§5.1: nghttp2 forgets closed streams, and drops the frame',
  'closed: Sends a HEADERS frame': '§5.1: as above; no request begins on the stream',
  'Sends stream identifier that is numerically smaller than previous':
    '§5.1.1: taken for a frame on a stream that is closed; no request begins',
  'Sends PRIORITY frame that depend on itself':
    '§5.3.1 of RFC 7540: RFC 9113 §5.3 deprecates priorities, and nghttp2 ignores the frame',
  'Sends a PRIORITY frame with 0x0 stream identifier': '§6.3: ignored like any PRIORITY frame',
  'Sends a PING frame with ACK': '§6.7: an answer that nobody waits for; it gets none',
  'Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream':
    '§6.9.1: the stream has its response already, so that nghttp2 has forgotten its window',
}

/** The same where it depends on timing: whether the response has ended when the frame arrives. */
const SOMETIMES: Readonly<Record<string, string>> = {
  'Sends a DATA frame on the stream that is not in "open" or "half-closed (local)" state':
    '§6.1: once the response has ended, nghttp2 forgets the stream, and drops the frame',
}

describeUnless(findMissing('go'), 'h2spec', () => {
  // h2spec sends bodies with late errors, and expects an error instead of a response.
  const app = {
    fetch: async (request: Request): Promise<Response> => {
      await request.arrayBuffer()
      return new Response('an answer')
    },
  }
  const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' } })
  const lenient = new Set<string>()
  let port = 0
  beforeAll(async () => {
    port = await server.listen('127.0.0.1', 0)
  })
  afterAll(() => server.close())

  for (const [section, count] of Object.entries(SECTIONS)) {
    it(`finds only the known lenient cases: ${section}`, async () => {
      const flags = ['--tls', '--insecure', '--strict', '--port', String(port)]
      const output = await outputOf(prepareH2spec(), [section, ...flags])
      assert.match(output, new RegExp(`${count} tests, \\d+ passed, 0 skipped, \\d+ failed`))
      const failed = new Set(
        [...output.matchAll(/× \d+: (.*)/g)].map(([, name = '']) => name.trim()),
      )
      const unknown = [...failed].filter((name) => !(name in LENIENT || name in SOMETIMES))
      assert.deepEqual(unknown, [])
      for (const name of failed) if (name in LENIENT) lenient.add(name)
    })
  }

  it('finds each listed case, so the list is up to date', () => {
    assert.deepEqual([...lenient].sort(), Object.keys(LENIENT).sort())
  })
})

/** Runs a program; resolves with its output for any exit status. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS }, (_, stdout) => resolve(stdout))
  })
}
