/**
 * `kubedoh serve` and the real CoreDNS get the same PROXY headers, and must name the same clients.
 * Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply } from '../message-text.ts'
import { ENDS, KIND, LOCAL, v1, v2, withTlvs } from '../proxy-headers.ts'
import { prepareCoreDns } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { frame, queryWith } from '../server/clients.ts'
import { findMissing } from './programs.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const NOTHING = Buffer.alloc(0)
/** Silence that counts as no response over UDP. */
const SILENCE_MS = 2000
/** The same of a connection, which a program closes that does not answer. */
const CONNECTION_MS = 15_000
const POLICIES = ['', 'default use', 'default ignore', 'default reject', 'default skip'] as const
/** The networks allowed by each port, beside one without the option. */
const ALLOWED = ['', 'allow 127.0.0.0/8', 'allow 192.0.2.0/24'] as const

type Ports = { readonly plain: number; readonly tls: number; readonly https: number }
type Pair = { readonly ours: Ports; readonly theirs: Ports }

/** Headers over streams, and whether CoreDNS gives their client no address at all. */
const STREAM_HEADERS: Readonly<Record<string, Buffer>> = {
  none: NOTHING,
  'version 1': v1(),
  'version 1 of IPv6': v1('TCP6 2001:db8::7 2001:db8::1 4711 53'),
  UNKNOWN: v1('UNKNOWN'),
  'UNKNOWN and more': v1('UNKNOWN what ever'),
  'a bad port': v1('TCP4 192.0.2.7 198.51.100.1 4711 070'),
  'a bad address': v1('TCP4 192.0.2.07 198.51.100.1 4711 53'),
  'too long a line': v1(`UNKNOWN ${'x'.repeat(200)}`),
  'version 2': v2(),
  'version 2 of IPv6': v2({ kind: KIND.TCP6, body: ENDS.IPv6 }),
  'version 2 of UDP': v2({ kind: KIND.UDP4 }),
  LOCAL: v2({ command: LOCAL, kind: KIND.UNSPEC, body: NOTHING }),
  'LOCAL with ends': v2({ command: LOCAL }),
  TLVs: v2({ body: withTlvs(900) }),
  'the most TLVs': v2({ body: withTlvs(4084) }),
  'too many TLVs': v2({ body: withTlvs(4085) }),
  'a lying length': v2({ length: 11 }),
  'no family': v2({ kind: KIND.UNSPEC }),
  'an unknown protocol': v2({ kind: 0x13 }),
  'an unknown command': v2({ command: 0x22 }),
}

/** Headers over UDP. LOCAL is missing: the page of the plugin says how CoreDNS differs. */
const DATAGRAM_HEADERS: Readonly<Record<string, Buffer>> = {
  none: NOTHING,
  'version 2': v2({ kind: KIND.UDP4 }),
  'version 2 of IPv6': v2({ kind: KIND.UDP6, body: ENDS.IPv6 }),
  TLVs: v2({ kind: KIND.UDP4, body: withTlvs(100) }),
  'version 2 of TCP': v2(),
  'version 1': v1(),
  'of a Unix socket': v2({ kind: KIND.DATAGRAM, body: ENDS.UNIX }),
  'a lying length': v2({ kind: KIND.UDP4, length: 100 }),
  'a length without end': v2({ kind: KIND.UDP4, length: 0xffff }),
}

/** Returns the client that a response of `whoami` names, or what else became of the query. */
function clientOf(message: Uint8Array | undefined): string {
  if (message === undefined || message.length < 12) return 'nothing'
  const reply = formatReply(message).join('\n')
  // CoreDNS takes an IPv4 client over UDP for an IPv6 one (`Family` in request/request.go).
  const address = /\sIN\s+A{1,4}\s+(?:::ffff:)?(\S+)/.exec(reply)?.[1]
  const port = /\sIN\s+SRV\s+0 0 (\d+)/.exec(reply)?.[1]
  // A peer without a header has a port of its own.
  return address === undefined
    ? `rcode ${(message[3] ?? 0) & 15}`
    : `${address} ${port === '4711' ? port : 'port'}`
}

async function overUdp(port: number, datagrams: readonly Buffer[]): Promise<string> {
  const socket = createSocket('udp4')
  const reply = new Promise<Buffer>((resolve) => socket.once('message', resolve))
  for (const one of datagrams) {
    socket.send(one, port, '127.0.0.1')
    await sleep(20)
  }
  const found = await Promise.race([reply, sleep(SILENCE_MS, undefined)])
  socket.close()
  return clientOf(found)
}

function overStream(socket: Socket, query: Uint8Array): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const end = (): void => {
      socket.destroy()
      resolve(Buffer.concat(chunks))
    }
    socket.on('error', end)
    socket.on('close', end)
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      setTimeout(end, 50)
    })
    setTimeout(end, CONNECTION_MS).unref()
    socket.write(query)
  })
}

async function overTcp(port: number, header: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const sent = Buffer.concat([header, frame(queryWith(1, 'example.org'))])
  return clientOf((await overStream(socket, sent)).subarray(2))
}

function secured(port: number, header: Buffer): Socket {
  const below = connect(port, '127.0.0.1')
  below.on('error', () => undefined)
  below.write(header)
  return connectTls({ socket: below, rejectUnauthorized: false })
}

async function overTls(port: number, header: Buffer): Promise<string> {
  const reply = await overStream(secured(port, header), frame(queryWith(1, 'example.org')))
  return clientOf(reply.subarray(2))
}

async function overHttps(port: number, header: Buffer): Promise<string> {
  const dns = Buffer.from(queryWith(1, 'example.org')).toString('base64url')
  const request = `GET /dns-query?dns=${dns} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const reply = await overStream(secured(port, header), Buffer.from(request))
  const end = reply.indexOf('\r\n\r\n')
  return clientOf(end < 0 ? undefined : reply.subarray(end + 4))
}

describeUnless(findMissing('go'), 'kubedoh and CoreDNS get the same PROXY headers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-proxyproto-'))
  const pairs = new Map<string, Pair>()
  const running: Running[] = []

  /** Returns a server's Corefile with a port for each of the options, for one of the programs. */
  const corefileOf = (who: keyof Pair): string =>
    [...pairs]
      .map(([options, pair]) => {
        const { plain, tls, https } = pair[who]
        const lines = options.replaceAll(', ', '\n    ')
        const common = `bind 127.0.0.1\n  proxyproto {\n    ${lines}\n  }\n  whoami\n`
        const secret = `tls ${folder}/cert.pem ${folder}/key.pem\n  `
        return (
          `.:${plain} {\n  ${common}}\n` +
          `tls://.:${tls} {\n  ${secret}${common}}\n` +
          `https://.:${https} {\n  ${secret}${common}}\n`
        )
      })
      .join('')

  beforeAll(async () => {
    const portsOf = async (): Promise<Ports> => ({
      plain: await freePort(),
      tls: await freePort(),
      https: await freePort(),
    })
    for (const allow of ALLOWED) {
      for (const policy of POLICIES) {
        const options = [allow, policy].filter((one) => one !== '').join(', ')
        pairs.set(options, { ours: await portsOf(), theirs: await portsOf() })
      }
    }
    const sessions = 'allow 127.0.0.0/8, udp_session_tracking 1m'
    pairs.set(sessions, { ours: await portsOf(), theirs: await portsOf() })
    writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
    writeFileSync(join(folder, 'key.pem'), SERVER.key)
    const [ours, theirs] = [join(folder, 'ours'), join(folder, 'theirs')]
    writeFileSync(ours, corefileOf('ours'))
    writeFileSync(theirs, corefileOf('theirs'))
    const own = start(KUBEDOH, ['serve', '--conf', ours])
    const coredns = start(prepareCoreDns(), ['-conf', theirs])
    running.push(own, coredns)
    await Promise.all([own.line(/^ready/), coredns.line(/CoreDNS-/)])
  })
  afterAll(async () => {
    await Promise.all(running.map((one) => one.stop()))
    rmSync(folder, { recursive: true })
  })

  const at = (options: string): Pair => pairs.get(options) ?? assert.fail(options)
  const both = async (
    { ours, theirs }: Pair,
    kind: keyof Ports,
    ask: (port: number) => Promise<string>,
  ): Promise<readonly [string, string]> => Promise.all([ask(ours[kind]), ask(theirs[kind])])

  /** The headers' clients at both programs, in a table that shows each difference. */
  const compare = async (
    headers: Readonly<Record<string, Buffer>>,
    pair: Pair,
    [kind, ask]: readonly [keyof Ports, (port: number, header: Buffer) => Promise<string>],
  ): Promise<void> => {
    const rows = await Promise.all(
      Object.entries(headers).map(async ([name, header]) => {
        return [name, ...(await both(pair, kind, (port) => ask(port, header)))] as const
      }),
    )
    const own = rows.map(([name, ours]) => `${name}: ${ours}`)
    assert.deepEqual(
      own,
      rows.map(([name, , theirs]) => `${name}: ${theirs}`),
    )
    assert.ok(new Set(rows.map(([, ours]) => ours)).size > 1, own.join('; '))
  }

  for (const allow of ALLOWED) {
    for (const policy of POLICIES) {
      const options = [allow, policy].filter((one) => one !== '').join(', ')
      describe(`with ${options === '' ? 'no options' : `"${options}"`}`, () => {
        test('over UDP', () =>
          compare(DATAGRAM_HEADERS, at(options), [
            'plain',
            (port, header) => overUdp(port, [Buffer.concat([header, queryWith(1, 'example.org')])]),
          ]))
        test('over TCP', () => compare(STREAM_HEADERS, at(options), ['plain', overTcp]))
      })
    }
  }

  for (const [kind, ask] of [
    ['tls', overTls],
    ['https', overHttps],
  ] as const) {
    test(`over ${kind}`, () => compare(STREAM_HEADERS, at(''), [kind, ask]))
  }

  test('datagrams without a header have the one before', async () => {
    const pair = at('allow 127.0.0.0/8, udp_session_tracking 1m')
    const query = Buffer.from(queryWith(1, 'example.org'))
    const header = v2({ kind: KIND.UDP4 })
    const ask = (port: number): Promise<string> => overUdp(port, [header, query])
    assert.deepEqual(await both(pair, 'plain', ask), ['192.0.2.7 4711', '192.0.2.7 4711'])
    const plain = at('allow 127.0.0.0/8')
    assert.deepEqual(await both(plain, 'plain', ask), ['127.0.0.1 port', '127.0.0.1 port'])
  })
})
