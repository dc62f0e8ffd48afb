/**
 * `kubedoh serve` under attack by gRPC. Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { GRPC_PATH } from '../../src/dns/wire/grpc-message.ts'
import { exchange } from '../../src/server/upstream/exchange.ts'
import { freePort } from '../free-port.ts'
import { attack, REPEATED, SCALE, startTarget, type Target } from './harness.ts'
import { SERVER_MIB } from './https-targets.ts'
import { type Program, startProgram } from './program.ts'
import { clusterObjects, NAME } from './target-cluster.ts'
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
  /** The same program without attacks: shows how slow the machine itself is. */
  let twin: Program | undefined
  let port = 0

  /** Sends a query over gRPC, as a client that is new. */
  const ask = async (): Promise<void> => {
    const message = query({ name: NAME })
    const url = `http://127.0.0.1:${port}${GRPC_PATH}`
    const upstream = { transport: 'grpc', address: '127.0.0.1', port, url } as const
    const reply = await exchange(upstream, message, { protocol: 'tcp', timeoutMs: 20_000 })
    assert.equal(faultOf(Buffer.from(reply), message), undefined)
  }

  /** Starts the program; returns it and its port of plain DNS. */
  const startServe = async (grpcPort: number): Promise<[program: Program, dns: number]> => {
    const dns = await freePort()
    const zone = 'bind 127.0.0.1\n  kubernetes cluster.local\n'
    const [conf, objects] = [join(folder, `Corefile-${dns}`), join(folder, 'objects.yaml')]
    writeFileSync(conf, `grpc://.:${grpcPort} .:${dns} {\n  ${zone}}\n`)
    const args = ['serve', '--conf', conf, '--objects', objects]
    return [await startProgram(args, { ready: /^ready/, memoryMib: SERVER_MIB }), dns]
  }

  beforeAll(async () => {
    port = await freePort()
    writeFileSync(join(folder, 'objects.yaml'), clusterObjects())
    const [program, dns] = await startServe(port)
    const [other, otherDns] = await startServe(await freePort())
    twin = other
    const probe = { kind: 'udp', name: NAME, perSecond: 100 } as const
    const probes = [
      { ...probe, port: dns },
      { ...probe, port: otherDns, isTwin: true },
    ]
    target = await startTarget(program, probes, async () => {
      for (let i = 0; i < 500; i++) await ask()
    })
  })

  afterAll(async () => {
    await target?.stop()
    await twin?.running.stop()
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
