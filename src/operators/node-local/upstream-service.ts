/**
 * Waits for the DNS servers behind a node's cache.
 * @module
 */
import { connect } from 'node:net'
import type { Log } from '../../dns/telemetry/log.ts'

const ATTEMPT_MS = 500
const PAUSE_MS = 100

/**
 * Resolves once a TCP connection to a server succeeds, or with a warning after `boundMs`; at once
 * for ''. A connection to a Service that kube-proxy does not know is refused, or stays unanswered.
 */
export async function waitForServer(
  host: string,
  log: Log,
  { port = 53, boundMs = 10_000 }: { readonly port?: number; readonly boundMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + boundMs
  while (host !== '' && !(await accepts(host, port))) {
    if (performance.now() > deadline) {
      return log({ level: 'warning', message: `${host} accepts no connections on port ${port}` })
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: ATTEMPT_MS })
  return new Promise((resolve) => {
    const end = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}
