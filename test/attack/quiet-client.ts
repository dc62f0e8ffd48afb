/**
 * A well-behaved client in its own process, so that neither attacks nor the test delay it. Runs
 * each probe at a steady rate, and sends the results when the parent requests them.
 * `quiet-client.ts PROBES`, with the probes as JSON.
 * @module
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { errorText } from '../../src/dns/bytes/unknown.ts'
import { faultOf, frame, query } from './wire.ts'

/** One repeated query. Each query has its own connection, except over UDP, and if it says so. */
export type Probe = {
  readonly kind: 'udp' | 'tcp' | 'tls' | 'https' | 'h2'
  readonly port: number
  /** A name with addresses. */
  readonly name: string
  readonly perSecond: number
  /** Whether this probes the twin of the attacked program. */
  readonly isTwin?: boolean
  /** For TLS: the name in the handshake, SNI (default: none). */
  readonly serverName?: string
  /** For HTTPS/1.1: whether queries share connections. */
  readonly staysConnected?: boolean
  /** For HTTPS (default: `/dns-query`). */
  readonly path?: string
  /** For HTTPS: additional request headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The result of one query; `fault` is absent when the response was right. */
export type Sample = {
  readonly kind: Probe['kind']
  readonly isTwin: boolean
  readonly startMs: number
  readonly ms: number
  readonly fault?: string
}

/** Source address: attacks come from other addresses. */
export const QUIET_ADDRESS = '127.0.0.9'
const SERVER_ADDRESS = '127.0.0.1'
/** How long a stub resolver waits for a response (resolv.conf(5)). */
const PATIENCE_MS = 5000

type Ask = (message: Buffer) => Promise<Buffer>

function askUdp({ port }: Probe): Ask {
  const waiting = new Map<number, (response: Buffer) => void>()
  const socket: UdpSocket = createSocket('udp4')
  socket.on('message', (response) => {
    const id = response.length < 2 ? -1 : response.readUInt16BE(0)
    waiting.get(id)?.(response)
    waiting.delete(id)
  })
  socket.bind(0, QUIET_ADDRESS)
  return (message) =>
    new Promise((resolve) => {
      waiting.set(message.readUInt16BE(0), resolve)
      socket.send(message, port, SERVER_ADDRESS)
    })
}

function askStream({ kind, port, serverName = '' }: Probe): Ask {
  return (message) =>
    new Promise((resolve, reject) => {
      const at = { host: SERVER_ADDRESS, port, localAddress: QUIET_ADDRESS }
      const options = { servername: serverName, rejectUnauthorized: false }
      const socket = kind === 'tls' ? connectTls({ ...at, ...options }) : connect(at)
      const timer = setTimeout(() => socket.destroy(), PATIENCE_MS)
      let received = Buffer.alloc(0)
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, Buffer.from(chunk)])
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
        resolve(received.subarray(2))
        socket.destroy()
      })
      socket.on('error', reject)
      socket.on('close', () => {
        clearTimeout(timer)
        reject(new Error('connection closed'))
      })
      socket.write(frame(message))
    })
}

function askHttps({ port, path = '/dns-query', headers = {}, staysConnected = false }: Probe): Ask {
  const agent = staysConnected && new Agent({ keepAlive: true })
  return (message) =>
    new Promise((resolve, reject) => {
      const type = { 'content-type': 'application/dns-message' }
      const request = requestHttps({
        ...{ host: SERVER_ADDRESS, port, localAddress: QUIET_ADDRESS, path, method: 'POST' },
        ...{ rejectUnauthorized: false, agent, headers: { ...headers, ...type } },
      })
      const timer = setTimeout(() => request.destroy(), PATIENCE_MS)
      request.on('error', reject)
      request.on('close', () => clearTimeout(timer))
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode === 200) resolve(Buffer.concat(chunks))
          else reject(new Error(`status ${response.statusCode}`))
        })
      })
      request.end(message)
    })
}

function askHttp2({ port, path = '/dns-query', headers = {} }: Probe): Ask {
  return (message) =>
    new Promise((resolve, reject) => {
      const at = { host: SERVER_ADDRESS, port, localAddress: QUIET_ADDRESS }
      const session = connectHttp2(`https://${SERVER_ADDRESS}:${port}`, {
        createConnection: () =>
          connectTls({ ...at, rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
      })
      const timer = setTimeout(() => session.destroy(), PATIENCE_MS)
      session.on('error', reject)
      session.on('close', () => {
        clearTimeout(timer)
        reject(new Error('connection closed'))
      })
      const stream = session.request({
        ...{ ':path': path, ':method': 'POST', 'content-type': 'application/dns-message' },
        ...headers,
      })
      const chunks: Buffer[] = []
      stream.on('error', reject)
      stream.on('response', ({ ':status': status }) => {
        if (status !== 200) reject(new Error(`status ${status}`))
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        resolve(Buffer.concat(chunks))
        session.destroy()
      })
      stream.end(message)
    })
}

const WAYS: Readonly<Record<Probe['kind'], (probe: Probe) => Ask>> = {
  udp: askUdp,
  tcp: askStream,
  tls: askStream,
  https: askHttps,
  h2: askHttp2,
}

/** Rejects after a stub resolver's timeout. */
function inTime(answering: Promise<Buffer>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS)
    answering.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

async function sample(probe: Probe, ask: Ask, id: number): Promise<Sample> {
  const message = query({ id, name: probe.name })
  const startMs = Date.now()
  const begin = performance.now()
  const fault = await inTime(ask(message)).then(
    (response) => faultOf(response, message),
    (error: unknown) => errorText(error),
  )
  const ms = performance.now() - begin
  const { kind, isTwin = false } = probe
  return { kind, isTwin, startMs, ms, ...(fault !== undefined && { fault }) }
}

/** Sends queries until the parent exits, but for the time from `pause` to the next `collect`. */
function run(probes: readonly Probe[]): void {
  let samples: Sample[] = []
  const pending = new Set<Promise<void>>()
  let id = 0
  let isPaused = false
  for (const probe of probes) {
    const ask = WAYS[probe.kind](probe)
    setInterval(() => {
      if (isPaused) return
      id = (id + 1) & 0xffff
      const asked = sample(probe, ask, id).then((one) => {
        samples.push(one)
        pending.delete(asked)
      })
      pending.add(asked)
    }, 1000 / probe.perSecond)
  }
  process.on('message', (message) => {
    isPaused = message === 'pause'
    if (isPaused) return
    void Promise.all(pending).then(() => {
      process.send?.(samples)
      samples = []
    })
  })
  process.on('disconnect', () => process.exit())
}

if (process.argv[1] === import.meta.filename) run(JSON.parse(process.argv[2] ?? '[]'))
