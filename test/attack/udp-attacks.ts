/**
 * Attacks over UDP on DNS servers, each run by `attacker.ts`.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { spoilt } from './stream-attacks.ts'
import { query } from './wire.ts'

/** The target and the volume. */
export type Datagrams = {
  /** Address of the target (default: 127.0.0.1). */
  readonly to?: string
  /** The source address (default: 127.0.0.1 to that). */
  readonly from?: string
  readonly port: number
  readonly count: number
  /** Datagrams per burst, before a pause of 1 ms: the receive buffer is finite. */
  readonly burst: number
}

/** Sends malformed messages. */
export async function malformed(options: Datagrams): Promise<void> {
  await flood(options, spoilt)
}

/** Queries one name, or different names when it has a `#`. Does not wait for responses. */
export async function ask(
  options: Datagrams & { readonly name: string; readonly udpBytes?: number },
): Promise<{ readonly answers: number; readonly bytesPerByte: number }> {
  const { name, udpBytes } = options
  let sent = 0
  let sentBytes = 0
  const { answers, bytes } = await flood(options, () => {
    const edns = udpBytes === undefined ? {} : { udpBytes }
    const message = query({ id: sent & 0xffff, name: name.replace('#', String(sent++)), ...edns })
    sentBytes += message.length
    return message
  })
  return { answers, bytesPerByte: bytes / sentBytes }
}

/** Sends one datagram again and again. */
export async function repeat(options: Datagrams & { readonly sends: string }): Promise<void> {
  const datagram = Buffer.from(options.sends, 'hex')
  await flood(options, () => datagram)
}

/** Queries names whose upstream, which is this process, never answers. */
export async function silentUpstream(
  options: Datagrams & { readonly name: string; readonly upstreamPort: number },
): Promise<void> {
  const upstream = createSocket('udp4')
  upstream.bind(options.upstreamPort, '127.0.0.1')
  await once(upstream, 'listening')
  await ask(options)
  await sleep(3000)
  upstream.close()
}

async function flood(
  { to = '127.0.0.1', from, port, count, burst }: Datagrams,
  next: () => Buffer,
): Promise<{ readonly answers: number; readonly bytes: number }> {
  const socket: Socket = createSocket('udp4')
  socket.on('error', () => undefined)
  let answers = 0
  let bytes = 0
  socket.on('message', ({ length }) => {
    answers++
    bytes += length
  })
  socket.bind(0, from ?? (to === '127.0.0.1' ? to : '0.0.0.0'))
  await once(socket, 'listening')
  for (let i = 0; i < count; i++) {
    socket.send(next(), port, to, () => undefined)
    if (i % burst === burst - 1) await sleep(1)
  }
  await sleep(500)
  socket.close()
  return { answers, bytes }
}
