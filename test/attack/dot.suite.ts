/**
 * DNS over TLS of `kubedoh gateway` under attack, with tokens in the server names of handshakes.
 * Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { hostTokenOf } from '../../src/gateway/access/token.ts'
import { freePort } from '../free-port.ts'
import { parseQuestion } from '../message-text.ts'
import type { Guessed } from './dot-attacks.ts'
import {
  attack,
  type Probed,
  REPEATED,
  type Row,
  runAttacker,
  SCALE,
  startWithTwin,
  type Target,
} from './harness.ts'
import { createToken, type Served, startGateway, warmUp } from './https-targets.ts'
import { NAME, WIDE_NAME } from './target-cluster.ts'

const DOMAIN = 'doh.example.org'
/** The limit of each token, and of the refusals of each address. */
const PER_MINUTE = 30_000
/** Tokens of the attackers: enough that their limits stop no attack. */
const TOKENS = 20
/** What others wait for 500 handshakes at once, on a machine that is slow. */
const HANDSHAKES_MS = 2000
const REFUSED = 'rcode 5, no valid token'
const LIMITED = 'rcode 5, too many requests'

const STREAMS = import.meta.resolve('./stream-attacks.ts')
/** The start of a ClientHello. */
const HELLO = { sends: '1603010200010001fc0303', holdMs: 1500 }
const SILENT = { isTls: true, holdMs: 1500 }
/** One row holds longer than the server waits for a client that does not read. */
const UNREAD = {
  ...{ count: 300, isTls: true, name: WIDE_NAME, queriesEach: 2000 },
  ...{ reads: 'never', holdMs: 3000 },
}
/** A query with NSID (RFC 5001), which the fast path leaves to the slow one. */
const NSID = Buffer.from(parseQuestion(`${WIDE_NAME} A +nsid`).message).toString('hex')
const MALFORMED = { count: 10, messages: 10_000 * SCALE, isTls: true }

type DotGateway = Served & Probed & { readonly dot: number }

/** Starts a gateway; the quiet client's token is in a header and in the name of its handshakes. */
async function startDot(folder: string): Promise<DotGateway> {
  const dot = await freePort()
  const served = await startGateway(folder, {
    flags: ['--dot.listen', `127.0.0.1:${dot}`],
    variables: { TOKEN_DOMAIN: DOMAIN, REQUESTS_PER_MINUTE: `${PER_MINUTE}` },
  })
  const { attacked, headers } = served
  const probe = { name: NAME, perSecond: 20 }
  const token = headers.authorization?.slice('Bearer '.length) ?? ''
  const probes = [
    { ...probe, kind: 'tls', port: dot, serverName: await nameOf(token) },
    { ...probe, kind: 'https', port: attacked.port, headers },
  ] as const
  return { ...served, dot, probes }
}

async function nameOf(token: string): Promise<string> {
  return `${await hostTokenOf(token)}.${DOMAIN}`
}

describe('kubedoh gateway under attack by DNS over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
  let target: Target
  let dot = 0
  /** Names with tokens of the attackers. */
  const names: string[] = []

  beforeAll(async () => {
    const start = (): Promise<DotGateway> => startDot(mkdtempSync(join(folder, 'one-')))
    const running = await startWithTwin(start, async (one) => {
      await warmUp(one, true)
      const serverNames = [await nameOf(one.attacked.token)]
      const asked = { ...{ port: one.dot, isTls: true, serverNames }, name: NAME, reads: 'all' }
      const argument = { ...asked, count: 100, queriesEach: 50, holdMs: 10_000 }
      const about = { name: 'warm-up', volume: '', module: STREAMS, run: 'pipelined' }
      await runAttacker({ ...about, argument })
    })
    target = running.target
    dot = running.one.dot
    for (let i = 0; i < TOKENS; i++) {
      names.push(await nameOf(await createToken(running.one.attacked.port)))
    }
  })
  afterAll(async () => {
    await target?.stop()
    rmSync(folder, { recursive: true })
  })

  const rowOf = (name: string, run: string, argument: Volume, more: Partial<Row> = {}): Row => {
    const { addresses = 1, ...rest } = argument
    const count = Math.round(argument.count * SCALE)
    return {
      ...{ name, module: STREAMS, run, ...more },
      volume: `${count} connections, ${addresses} ${addresses === 1 ? 'address' : 'addresses'}`,
      argument: { ...rest, port: dot, count, addresses },
    }
  }
  const slow = { p99MsMax: HANDSHAKES_MS }
  const admitted = (): Volume => ({ ...UNREAD, serverNames: names })
  const rows: readonly (() => Row)[] = [
    () => rowOf('silent connections', 'hold', { count: 2000, holdMs: 1500 }),
    () => rowOf('silent connections', 'hold', { count: 4000, holdMs: 1500, addresses: 40 }),
    () => rowOf('handshakes that stop', 'hold', { ...HELLO, count: 2000 }),
    () => rowOf('silence after the handshake', 'hold', { ...SILENT, count: 500 }, slow),
    () =>
      rowOf('silence after the handshake', 'hold', { ...SILENT, count: 1200, addresses: 40 }, slow),
    () => rowOf('responses never read', 'pipelined', { ...admitted(), holdMs: 6000 }, slow),
    () =>
      rowOf(
        'responses by the slow path never read',
        'pipelined',
        { ...admitted(), sends: NSID },
        slow,
      ),
    () => rowOf('refusals never read', 'pipelined', { ...UNREAD, addresses: 40 }, slow),
    () => rowOf('malformed messages', 'malformed', { ...MALFORMED, serverNames: names }),
    () => rowOf('malformed messages without a token', 'malformed', MALFORMED),
  ]
  for (const [i, row] of rows.entries()) {
    test(`${i + 1}: ${row().name}, ${row().volume}`, REPEATED, async () => {
      await attack(target, row())
    })
  }

  test('refuses guessed tokens with a reason, counts them, and logs none', REPEATED, async () => {
    const queriesEach = 20
    const more = { module: import.meta.resolve('./dot-attacks.ts') }
    const guesses = { count: 2000, atOnce: 16, queriesEach, name: NAME, domain: DOMAIN }
    let printed = ''
    const { stdout, stderr } = target.program.running.child
    for (const stream of [stdout, stderr]) {
      stream?.on('data', (chunk) => {
        printed += String(chunk).toLowerCase()
      })
    }
    const startMs = Date.now()
    const result = await attack(target, rowOf('guesses of tokens', 'guess', guesses, more))
    const minutes = (Date.now() - startMs) / 60_000
    assert.ok(isGuessed(result))
    const { labels, unknown, misspelt } = result
    process.stdout.write(`${JSON.stringify({ unknown, misspelt })}\n`)
    // A wrong letter is no guess: no token has such a name.
    assert.deepEqual(misspelt, { [REFUSED]: (labels.length / 2) * queriesEach })
    const { [REFUSED]: counted = 0, [LIMITED]: limited = 0, ...others } = unknown
    assert.deepEqual(others, {})
    assert.ok(limited > 0 && counted <= PER_MINUTE * (minutes + 0.2))
    for (const label of labels) assert.ok(!printed.includes(label), 'the log has a guess')
  })
})

type Volume = {
  readonly count: number
  readonly addresses?: number
  readonly [key: string]: unknown
}

function isGuessed(value: unknown): value is Guessed {
  return typeof value === 'object' && value !== null && 'misspelt' in value
}
