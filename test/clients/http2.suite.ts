/**
 * Runs all h2spec cases, including strict ones, against our HTTP/2 servers: those of Node and of
 * Bun. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { HttpServer } from '../../src/server/http/http-server.ts'
import { SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { prepareH2spec } from '../real-cluster/binaries.ts'
import { start } from '../real-cluster/processes.ts'
import { BUN, missingRuntime } from '../runtimes.ts'
import { findMissing } from './programs.ts'

/** Sections of h2spec, and the number of cases in each. */
const SECTIONS = { generic: 44, http2: 95, hpack: 7 } as const
const PATIENCE_MS = 120_000

/** Names of cases, and why each harms nobody. */
type Reasons = Readonly<Record<string, string>>
type Running = { readonly port: number; readonly close: () => Promise<unknown> }

/**
 * Cases where nghttp2, and so `node:http2`, ignores what RFC 9113 calls a connection error. None
 * reaches a request or costs more than reading the frame.
 */
const LENIENT_ON_NODE: Reasons = {
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
const SOMETIMES_ON_NODE: Reasons = {
  'Sends a DATA frame on the stream that is not in "open" or "half-closed (local)" state':
    '§6.1: once the response has ended, nghttp2 forgets the stream, and drops the frame',
  'half closed (remote): Sends a HEADERS frame':
    '§5.1: once the response has ended, nghttp2 forgets the stream, and drops the frame',
}

const LENIENT_ON_BUN: Reasons = {
  'Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream':
    '§6.9.1: the stream has its response already, so that Bun has forgotten its window',
}

const SERVERS: readonly {
  readonly name: string
  readonly missing: string | false
  readonly open: () => Promise<Running>
  readonly lenient: Reasons
  readonly sometimes: Reasons
}[] = [
  {
    name: 'the server on Node',
    missing: false,
    open: openOnNode,
    lenient: LENIENT_ON_NODE,
    sometimes: SOMETIMES_ON_NODE,
  },
  {
    name: 'the server on Bun',
    missing: missingRuntime(BUN),
    open: openOnBun,
    lenient: LENIENT_ON_BUN,
    sometimes: {},
  },
]

for (const { name, missing, open, lenient, sometimes } of SERVERS) {
  describeUnless(findMissing('go') ?? missing, `h2spec against ${name}`, () => {
    const found = new Set<string>()
    let server: Running | undefined
    beforeAll(async () => {
      server = await open()
    })
    afterAll(() => server?.close())

    for (const [section, count] of Object.entries(SECTIONS)) {
      it(`finds only the known lenient cases: ${section}`, async () => {
        const flags = ['--tls', '--insecure', '--strict', '--port', String(server?.port)]
        const output = await outputOf(prepareH2spec(), [section, ...flags])
        assert.match(output, new RegExp(`${count} tests, \\d+ passed, 0 skipped, \\d+ failed`))
        const failed = [...output.matchAll(/× \d+: (.*)/g)].map(([, one = '']) => one.trim())
        const unknown = failed.filter((one) => !(one in lenient || one in sometimes))
        for (const one of failed) if (one in lenient) found.add(one)
        assert.deepEqual(unknown, [])
      })
    }

    it('finds each listed case, so the list is up to date', () => {
      assert.deepEqual([...found].sort(), Object.keys(lenient).sort())
    })
  })
}

async function openOnNode(): Promise<Running> {
  // h2spec sends bodies with late errors, and expects an error instead of a response.
  const app = {
    fetch: async (request: Request): Promise<Response> => {
      await request.arrayBuffer()
      return new Response('an answer')
    },
  }
  const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' } })
  return { port: await server.listen('127.0.0.1', 0), close: () => server.close() }
}

async function openOnBun(): Promise<Running> {
  const program = join(import.meta.dirname, 'bun-server.ts')
  const server = start(BUN.command, [...BUN.args, program])
  const line = await server.line(/^port /)
  return { port: Number(line.slice('port '.length)), close: () => server.stop() }
}

/** Runs a program; resolves with its output for any exit status. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PATIENCE_MS }, (_, stdout) => resolve(stdout))
  })
}
