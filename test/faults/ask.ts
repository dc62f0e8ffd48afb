/**
 * One query of the fault suite.
 * @module
 */
import { createSocket } from 'node:dgram'
import { query } from '../attack/wire.ts'
import { outcomeOf } from './outcome.ts'

const WAIT_MS = 500

/** Resolves with the outcome of a query for A over UDP; `lost` without a response. */
export function ask(port: number, name: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    const end = (outcome: string): void => {
      clearTimeout(timer)
      socket.close()
      resolve(outcome)
    }
    const timer = setTimeout(end, WAIT_MS, 'lost')
    socket.once('message', (response) => end(outcomeOf(response, name, 'udp')))
    socket.send(query({ name }), port, '127.0.0.1')
  })
}
