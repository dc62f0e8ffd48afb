/**
 * A DNS server on loopback that answers every name with an address of its own, or misbehaves.
 * @module
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import packet from 'dns-packet'
import { frame } from '../attack/wire.ts'
import { freePort } from '../free-port.ts'
import { derivedAddress } from './derived-address.ts'

/**
 * Ways to misbehave. `dead` has no socket, `silent` sends nothing, `slow` answers in time, `late`
 * does not, `lying` sends what a client must not believe, `forged` sends the same before the truth,
 * `truncating` answers over TCP only, `failing` sends SERVFAIL.
 */
export const BEHAVIORS = [
  'dead',
  'silent',
  'slow',
  'late',
  'lying',
  'forged',
  'truncating',
  'failing',
] as const

/** How an upstream behaves. */
export type Behavior = (typeof BEHAVIORS)[number] | 'healthy' | 'flapping'

const SLOW_MS_MAX = 1200
/** Beyond the time that a query has at one upstream. */
const LATE_MS = 2300
const LATE_MS_MAX = 3500
const FLAP_MS_MAX = 250
const TRUTH_MS = 20

type Reply = (message: Buffer) => void

/** The upstream. */
export class FaultyUpstream {
  readonly port: number
  private readonly random: () => number
  private udp: UdpSocket | undefined
  private tcp: Server | undefined
  private readonly connections = new Set<Socket>()
  private behavior: Behavior = 'healthy'
  private flapTimer: NodeJS.Timeout | undefined

  private constructor(port: number, random: () => number) {
    this.port = port
    this.random = random
  }

  /** Starts a healthy one. */
  static async start(random: () => number): Promise<FaultyUpstream> {
    const upstream = new FaultyUpstream(await freePort(), random)
    await upstream.open()
    return upstream
  }

  /** Behaves like this from now on. */
  async become(behavior: Behavior): Promise<void> {
    clearTimeout(this.flapTimer)
    if (behavior === 'flapping') {
      await this.flap()
      return
    }
    this.behavior = behavior
    if (behavior === 'dead') await this.close()
    else await this.open()
  }

  /** Stops. */
  async stop(): Promise<void> {
    clearTimeout(this.flapTimer)
    await this.close()
  }

  private async flap(): Promise<void> {
    const all: readonly Behavior[] = [...BEHAVIORS, 'healthy', 'healthy']
    await this.become(all[Math.floor(this.random() * all.length)] ?? 'healthy')
    this.flapTimer = setTimeout(() => void this.flap(), this.random() * FLAP_MS_MAX)
  }

  private async open(): Promise<void> {
    if (this.udp !== undefined) return
    const udp = createSocket('udp4')
    const tcp = createServer((socket) => this.accept(socket))
    this.udp = udp
    this.tcp = tcp
    udp.on('message', (message, { port, address }) => {
      const send: Reply = (reply) => {
        // The socket may be closed by now.
        if (this.udp !== undefined) this.udp.send(reply, port, address, () => undefined)
      }
      const other: Reply = (reply) => {
        const socket = createSocket('udp4')
        socket.send(reply, port, address, () => socket.close())
      }
      this.answer(message, { isTcp: false, send, other })
    })
    udp.on('error', () => undefined)
    udp.bind(this.port, '127.0.0.1')
    tcp.listen(this.port, '127.0.0.1')
    await Promise.all([once(udp, 'listening'), once(tcp, 'listening')])
  }

  private async close(): Promise<void> {
    const { udp, tcp } = this
    this.udp = undefined
    this.tcp = undefined
    for (const socket of this.connections) socket.destroy()
    if (udp === undefined || tcp === undefined) return
    const closed = Promise.all([once(udp, 'close'), once(tcp, 'close')])
    udp.close()
    tcp.close()
    await closed
  }

  private accept(socket: Socket): void {
    this.connections.add(socket)
    socket.on('close', () => this.connections.delete(socket))
    socket.on('error', () => undefined)
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        const send: Reply = (reply) => void socket.write(frame(reply))
        this.answer(received.subarray(2, end), { isTcp: true, send, other: () => undefined })
        received = received.subarray(end)
      }
    })
  }

  private answer(
    message: Buffer,
    {
      isTcp,
      send,
      other,
    }: { readonly isTcp: boolean; readonly send: Reply; readonly other: Reply },
  ): void {
    const truth = replyTo(message)
    const later = (ms: number): void => void setTimeout(send, ms, truth)
    switch (this.behavior) {
      case 'slow':
        later(this.random() * SLOW_MS_MAX)
        return
      case 'late':
        later(LATE_MS + this.random() * (LATE_MS_MAX - LATE_MS))
        return
      case 'forged':
        later(TRUTH_MS)
        this.lie(message, send, other)
        return
      case 'lying':
        this.lie(message, send, other)
        return
      case 'truncating':
        send(isTcp ? truth : replyTo(message, { flags: packet.TRUNCATED_RESPONSE, answers: [] }))
        return
      case 'failing':
        send(replyTo(message, { flags: 2, answers: [] }))
        return
      case 'healthy':
        send(truth)
    }
  }

  /** Sends one thing that is no answer to the query. */
  private lie(message: Buffer, send: Reply, other: Reply): void {
    const [question] = packet.decode(message).questions ?? []
    const name = question?.name ?? ''
    const answers = [{ type: 'A', name, ttl: 60, data: '203.0.113.1' }] as const
    const forged = replyTo(message, { answers })
    const changed = (offset: number, mask: number): Buffer => {
      const reply = Buffer.from(forged)
      reply.writeUInt8(reply.readUInt8(offset) ^ mask, offset)
      return reply
    }
    const elsewhere = [{ type: 'A', name: `x${name}`, ttl: 60, data: '203.0.113.1' }] as const
    const lies: readonly (() => void)[] = [
      () => send(changed(1, 1 + Math.floor(255 * this.random()))),
      // A query, not a response.
      () => send(changed(2, 0x80)),
      // Another QNAME.
      () => send(changed(13, 1)),
      // Another QTYPE: the question ends with type and class.
      () => send(changed(message.indexOf(0, 12) + 2, 0x1c)),
      () => send(Buffer.from(Array.from({ length: 40 }, () => 256 * this.random()))),
      () => other(forged),
      () => other(replyTo(message, { answers: elsewhere })),
      // Broken, but from the right sender and with the right ID: it ends the exchange.
      () => send(forged.subarray(0, Math.floor(forged.length * this.random()))),
    ]
    const count = this.behavior === 'lying' ? lies.length : lies.length - 1
    lies[Math.floor(this.random() * count)]?.()
  }
}

function replyTo(
  message: Buffer,
  change: { readonly flags?: number; readonly answers?: readonly packet.Answer[] } = {},
): Buffer {
  const { id, questions = [] } = packet.decode(message)
  const name = questions[0]?.name ?? ''
  const truth = [{ type: 'A', name, ttl: 60, data: derivedAddress(name) }] as const
  const { flags = 0, answers = truth } = change
  return packet.encode({
    type: 'response',
    ...(id !== undefined && { id }),
    flags: flags | packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE,
    questions: [...questions],
    answers: [...answers],
  })
}
