/**
 * Asks an upstream over UDP.
 * @module
 */
import { createSocket } from 'node:dgram'
import { answers } from './answers.ts'

/** Answers to something else that a socket takes before it gives up (RFC 5452 §9.3). */
const STRAYS_MAX = 20

/** Whom to ask, and how long to wait. */
export type UdpExchange = {
  /** An address. */
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
  /** The address to ask from; the system's choice when left out. */
  readonly sourceAddress?: string | undefined
}

/**
 * Sends a query and resolves with the answer to it. A socket of its own for each query, so that
 * each has a port that nobody can guess (RFC 5452 §9.2). What does not answer is passed over.
 * @throws {Error} that says what went wrong
 */
export function exchangeUdp(
  message: Uint8Array,
  { address, port, timeoutMs, sourceAddress }: UdpExchange,
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
    if (sourceAddress !== undefined) socket.bind({ address: sourceAddress })
    socket.connect(port, address)
  })
}
