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
import { startProgram } from './program.ts'
import { clusterObjects, NAME } from './target-cluster.ts'
import { faultOf, query } from './wire.ts'

const HOLD_MS = 3000
const ROWS: readonly {
  name: string
  kinds: readonly string[]
  count: number
  addresses: number
}[] = [
  { name: 'calls', kinds: ['calls'], count: 20, addresses: 1 },
  { name: 'responses never read', kinds: ['never read', 'no window'], count: 60, addresses: 40 },
  {
    name: 'resets',
    kinds: ['reset', 'reset before their end', 'a window of a few bytes, then reset'],
    count: 30,
    addresses: 40,
  },
  { name: 'calls without an end', kinds: ['without an end', 'cut'], count: 60, addresses: 40 },
  {
    name: 'calls that are too long or compressed',
    kinds: ['too long by their size', 'too long by their bytes', 'compressed'],
    count: 30,
    addresses: 40,
  },
]

describe('kubedoh serve under attack by gRPC', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
  let target: Target
  let port = 0

  /** Sends a query over gRPC, as a client that is new. */
  const ask = async (): Promise<void> => {
    const message = query({ name: NAME })
    const url = `http://127.0.0.1:${port}${GRPC_PATH}`
    const upstream = { transport: 'grpc', address: '127.0.0.1', port, url } as const
    const reply = await exchange(upstream, message, { protocol: 'tcp', timeoutMs: 20_000 })
    assert.equal(faultOf(Buffer.from(reply), message), undefined)
  }

  beforeAll(async () => {
    port = await freePort()
    const dns = await freePort()
    const zone = 'bind 127.0.0.1\n  kubernetes cluster.local\n'
    writeFileSync(join(folder, 'objects.yaml'), clusterObjects())
    writeFileSync(join(folder, 'Corefile'), `grpc://.:${port} .:${dns} {\n  ${zone}}\n`)
    const files = ['--conf', join(folder, 'Corefile'), '--objects', join(folder, 'objects.yaml')]
    const options = { ready: /^ready/, memoryMib: SERVER_MIB }
    const program = await startProgram(['serve', ...files], options)
    const probes = [{ kind: 'udp', port: dns, name: NAME, perSecond: 100 }] as const
    target = await startTarget(program, probes, async () => {
      for (let i = 0; i < 500; i++) await ask()
    })
  })

  afterAll(async () => {
    await target.stop()
    rmSync(folder, { recursive: true })
  })

  for (const { name, kinds, count, addresses } of ROWS) {
    test(`${name}: ${count} connections`, REPEATED, async () => {
      const scaled = Math.round(count * SCALE)
      await attack(target, {
        name,
        volume: `${scaled} connections, ${addresses} addresses`,
        module: import.meta.resolve('./grpc-attacks.ts'),
        run: 'grpcFlood',
        argument: { port, count: scaled, holdMs: HOLD_MS, addresses, kinds, name: NAME },
      })
      await ask()
    })
  }
})
