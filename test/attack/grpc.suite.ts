/**
 * `kubedoh serve` under attack by gRPC. Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { GRPC_PATH } from '../../src/dns/wire/grpc-message.ts'
import { exchange } from '../../src/server/upstream/exchange.ts'
import { freePort } from '../free-port.ts'
import { attack, REPEATED, SCALE, startWithTwin, type Target } from './harness.ts'
import { runServe } from './https-targets.ts'
import { NAME } from './target-cluster.ts'
import { faultOf, query } from './wire.ts'

const HOLD_MS = 3000
/**
 * The quiet client's p99. Without TLS, 16 KiB of one connection have a hundred calls, and those of
 * twelve connections take turns of 90 ms: measured were 50 to 360 ms, on two cores.
 */
const P99_MS_MAX = 1000
/** Connections of each kind, as in the floods over HTTPS. */
const EACH = 4
const ROWS: readonly {
  name: string
  kinds: readonly string[]
  addresses: number
}[] = [
  { name: 'calls', kinds: ['calls'], addresses: 1 },
  { name: 'responses never read', kinds: ['never read', 'no window'], addresses: 40 },
  {
    name: 'resets',
    kinds: ['reset', 'reset before their end', 'a window of a few bytes, then reset'],
    addresses: 40,
  },
  { name: 'calls without an end', kinds: ['without an end', 'cut'], addresses: 40 },
  {
    name: 'calls that are too long or compressed',
    kinds: ['too long by their size', 'too long by their bytes', 'compressed'],
    addresses: 40,
  },
]

describe('kubedoh serve under attack by gRPC', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
  let target: Target | undefined
  let port = 0

  /** Sends a query over gRPC, as a client that is new. */
  const ask = async (at = port): Promise<void> => {
    const message = query({ name: NAME })
    const url = `http://127.0.0.1:${at}${GRPC_PATH}`
    const upstream = { transport: 'grpc', address: '127.0.0.1', port: at, url } as const
    const reply = await exchange(upstream, message, { protocol: 'tcp', timeoutMs: 20_000 })
    assert.equal(faultOf(Buffer.from(reply), message), undefined)
  }

  beforeAll(async () => {
    const start = async () => {
      const [grpc, dns] = [await freePort(), await freePort()]
      const zone = 'bind 127.0.0.1\n  kubernetes cluster.local\n'
      const corefile = `grpc://.:${grpc} .:${dns} {\n  ${zone}}\n`
      const program = await runServe(mkdtempSync(join(folder, 'one-')), corefile)
      const probes = [{ kind: 'udp', port: dns, name: NAME, perSecond: 100 } as const]
      return { grpc, program, probes }
    }
    const started = await startWithTwin(start, async ({ grpc }) => {
      for (let i = 0; i < 500; i++) await ask(grpc)
    })
    target = started.target
    port = started.one.grpc
  })

  afterAll(async () => {
    await target?.stop()
    rmSync(folder, { recursive: true })
  })

  for (const { name, kinds, addresses } of ROWS) {
    const count = Math.round(EACH * kinds.length * SCALE)
    test(`${name}: ${count} connections`, REPEATED, async () => {
      if (target === undefined) throw new Error('the program did not start')
      await attack(target, {
        name,
        volume: `${count} connections, ${addresses} addresses`,
        module: import.meta.resolve('./grpc-attacks.ts'),
        run: 'grpcFlood',
        p99MsMax: P99_MS_MAX,
        argument: { port, count, holdMs: HOLD_MS, addresses, kinds, name: NAME },
      })
      await ask()
    })
  }
})
