/**
 * Asks upstreams over UDP, TCP and HTTPS.
 * @module
 */
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { LOWER, octet, readUint16, writeUint16 } from '../dns/bytes.ts'
import { askDoh } from '../doh/doh-client.ts'
import type { ExchangeOptions, Upstream } from '../plugins/host.ts'
import { MessageStream } from './message-stream.ts'

/** Answers to something else that a UDP socket takes before it gives up (RFC 5452 §9.3). */
const STRAYS_MAX = 20

/** Sends a query and resolves with the answer to it. @throws {Error} that says what went wrong */
export function exchange(
  upstream: Upstream,
  message: Uint8Array,
  options: ExchangeOptions,
): Promise<Uint8Array> {
  if (upstream.transport === 'https') {
    const signal = AbortSignal.timeout(options.timeoutMs)
    return askDoh(upstream.url ?? '', message, { fetch, signal })
  }
  return options.protocol === 'udp'
    ? exchangeUdp(upstream, message, options)
    : exchangeTcp(upstream, message, options)
}

/**
 * A socket of its own for each query, so that each has a port that nobody can guess (RFC 5452
 * §9.2). What does not answer this query is passed over.
 */
function exchangeUdp(
  { address, port }: Upstream,
  message: Uint8Array,
  { timeoutMs }: ExchangeOptions,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    const finish = (settle: () => void): void => {
      clearTimeout(timer)
      socket.close()
      settle()
    }
    const fail = (text: string): void => {
      finish(() => {
        reject(new Error(text))
      })
    }
    const timer = setTimeout(() => {
      fail('no answer over UDP in time')
    }, timeoutMs)
    let strays = 0
    socket.on('error', (error) => {
      fail(error.message)
    })
    socket.on('message', (reply) => {
      if (answers(reply, message)) {
        finish(() => {
          resolve(reply)
        })
      } else if (++strays > STRAYS_MAX) fail('too many answers to other questions')
    })
    // No callback: with one, an unreachable network would not come as an 'error' event.
    socket.on('connect', () => {
      socket.send(message)
    })
    socket.connect(port, address)
  })
}

function exchangeTcp(
  { address, port }: Upstream,
  message: Uint8Array,
  { timeoutMs }: ExchangeOptions,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, timeout: timeoutMs, noDelay: true })
    const timer = setTimeout(() => {
      socket.destroy(new Error('no answer over TCP in time'))
    }, timeoutMs)
    const stream = new MessageStream((reply) => {
      if (!answers(reply, message)) return
      clearTimeout(timer)
      socket.destroy()
      resolve(reply)
    })
    socket.on('connect', () => {
      const framed = new Uint8Array(2 + message.length)
      writeUint16(framed, 0, message.length)
      framed.set(message, 2)
      socket.write(framed)
    })
    socket.on('data', (chunk) => {
      const isSound = typeof chunk !== 'string' && stream.push(chunk)
      if (!isSound) socket.destroy(new Error('the upstream sent an empty message'))
    })
    socket.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      reject(new Error('the upstream closed the connection'))
    })
  })
}

/** Whether a message is a response with the query's ID and its question, letter case aside. */
function answers(reply: Uint8Array, query: Uint8Array): boolean {
  if (reply.length < 12 || readUint16(reply, 0) !== readUint16(query, 0)) return false
  if ((readUint16(reply, 2) & 0x8000) === 0) return false
  if (readUint16(reply, 4) === 0) return true
  let end = 12
  while ((query[end] ?? 0) !== 0) end += (query[end] ?? 0) + 1
  if (reply.length < end + 5) return false
  for (let i = 12; i < end + 5; i++) {
    const fold = i < end
    const isSame = fold
      ? octet(LOWER, octet(reply, i)) === octet(LOWER, octet(query, i))
      : reply[i] === query[i]
    if (!isSame) return false
  }
  return true
}

const drawn = new Uint16Array(32_768)
let drawnLeft = 0

/** An unpredictable number from 0 to 65535, for message IDs. Numbers are drawn many at a time. */
export function random16(): number {
  if (drawnLeft === 0) {
    crypto.getRandomValues(drawn)
    drawnLeft = drawn.length
  }
  return drawn[--drawnLeft] ?? 0
}
