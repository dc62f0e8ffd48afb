/**
 * `kubedoh serve` under attack by PROXY headers, from strangers and by way of a load balancer. Run
 * by `npm run test:attack`.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { KIND, v1, v2, withTlvs } from '../proxy-headers.ts'
import { attack, REPEATED, type Row, SCALE, startTarget, type Target } from './harness.ts'
import { SERVER_MIB } from './https-targets.ts'
import { type Program, startProgram } from './program.ts'
import type { Probe } from './quiet-client.ts'
import { clusterObjects, NAME } from './target-cluster.ts'

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
  /** The same server without attacks: shows how slow the machine itself is. */
  let twin: Program | undefined
  let [dns, dot] = [0, 0]

  beforeAll(async () => {
    ;[dns, dot] = [await freePort(), await freePort()]
    writeFileSync(join(folder, 'objects.yaml'), clusterObjects())
    writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
    writeFileSync(join(folder, 'key.pem'), SERVER.key)
    // Attackers at 127.0.1.x are load balancers; those at 127.0.0.1 and the quiet client are not.
    const block =
      'bind 127.0.0.1\n  proxyproto {\n    allow 127.0.1.0/24\n    default reject\n  }\n' +
      '  kubernetes cluster.local\n'
    const startServe = (plain: number, secure: number): Promise<Program> => {
      const conf = join(folder, `Corefile-${plain}`)
      const corefile = `.:${plain} {\n  ${block}}\ntls://.:${secure} {\n  tls cert.pem key.pem\n  ${block}}\n`
      writeFileSync(conf, corefile)
      const args = ['serve', '--conf', conf, '--objects', join(folder, 'objects.yaml')]
      return startProgram(args, { ready: /^ready/, memoryMib: SERVER_MIB })
    }
    const probesOf = (plain: number, secure: number): Probe[] => [
      { kind: 'udp', port: plain, name: NAME, perSecond: 200 },
      { kind: 'tcp', port: plain, name: NAME, perSecond: 50 },
      { kind: 'tls', port: secure, name: NAME, perSecond: 20 },
    ]
    const [twinDns, twinDot] = [await freePort(), await freePort()]
    const program = await startServe(dns, dot)
    twin = await startServe(twinDns, twinDot)
    const twinProbes = probesOf(twinDns, twinDot).map((one) => ({ ...one, isTwin: true }))
    target = await startTarget(program, [...probesOf(dns, dot), ...twinProbes], async () => {})
  })
  afterAll(async () => {
    await target?.stop()
    await twin?.running.stop()
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
