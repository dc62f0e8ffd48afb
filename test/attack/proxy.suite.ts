/**
 * `kubedoh serve` under attack by PROXY headers, from strangers and by way of a load balancer. Run
 * by `npm run test:attack`.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { KIND, v1, v2, withTlvs } from '../proxy-headers.ts'
import { type DnsPorts, startDnsTarget } from './dns-targets.ts'
import { attack, REPEATED, type Row, SCALE, type Target } from './harness.ts'

const STREAMS = import.meta.resolve('./stream-attacks.ts')
const UDP = import.meta.resolve('./udp-attacks.ts')

/** Headers that a server must not wait for, or must not believe. */
const LYING = v2({ length: 4096 })
const ENDLESS = v2({ length: 0xffff })
const CUT = v1().subarray(0, 20)
const UDP_HEADER = v2({ kind: KIND.UDP4, body: withTlvs(400) })

describe('kubedoh serve under attack by PROXY headers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-proxy-attack-'))
  let target: Target
  let [dns, dot] = [0, 0]

  beforeAll(async () => {
    // Attackers at 127.0.1.x are load balancers; those at 127.0.0.1 and the quiet client are not.
    const block =
      'bind 127.0.0.1\n  proxyproto {\n    allow 127.0.1.0/24\n    default reject\n  }\n' +
      '  kubernetes cluster.local\n'
    const corefileOf = (ports: DnsPorts): string =>
      `.:${ports.dns} {\n  ${block}}\ntls://.:${ports.dot} {\n  tls cert.pem key.pem\n  ${block}}\n`
    ;({ target, dns, dot } = await startDnsTarget(folder, corefileOf))
  })
  afterAll(async () => {
    await target?.stop()
    rmSync(folder, { recursive: true })
  })

  const held = (name: string, sends: Buffer, more: { port: number; addresses?: number }): Row => ({
    name,
    volume: `${4000 * SCALE} connections`,
    module: STREAMS,
    run: 'hold',
    argument: { count: 4000 * SCALE, holdMs: 4000, sends: sends.toString('hex'), ...more },
  })
  const flooded = (name: string, sends: Buffer, from: string): Row => ({
    name,
    volume: `${50_000 * SCALE}`,
    module: UDP,
    run: 'repeat',
    argument: { port: dns, count: 50_000 * SCALE, burst: 20, sends: sends.toString('hex'), from },
  })
  const rows: readonly (() => Row)[] = [
    () => held('headers of strangers', v1(), { port: dns }),
    () => held('headers of strangers before TLS', v2(), { port: dot }),
    () => held('headers that are cut', CUT, { port: dns, addresses: 40 }),
    () => held('headers that are cut, of strangers', CUT, { port: dns }),
    () => held('lengths that lie', LYING, { port: dot, addresses: 40 }),
    () => held('TLVs without end', ENDLESS, { port: dns, addresses: 40 }),
    () => ({
      name: 'headers a byte at a time',
      volume: `${2000 * SCALE} connections`,
      module: STREAMS,
      run: 'dribble',
      argument: {
        port: dns,
        count: 2000 * SCALE,
        holdMs: 7000,
        addresses: 8,
        sends: v2({ body: withTlvs(100) }).toString('hex'),
      },
    }),
    () => flooded('version 1 by UDP', v1(), '127.0.1.1'),
    () => flooded('headers of strangers by UDP', UDP_HEADER, '127.0.0.1'),
    () => flooded('headers by UDP that are cut', UDP_HEADER.subarray(0, 200), '127.0.1.1'),
    () => flooded('TLVs without end by UDP', ENDLESS, '127.0.1.1'),
  ]
  for (const [i, row] of rows.entries()) {
    test(`${i + 1}: ${row().name}`, REPEATED, async () => {
      await attack(target, row())
    })
  }
})
