/**
 * Times an exchange with a server by what its sockets report.
 * @module
 */
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'

/** What a new socket is published on, and the events that come before a query can be written. */
const SOCKETS = ['udp.socket', 'net.client.socket'] as const
const OPEN_EVENTS = ['connect', 'secureConnect'] as const
/** Published by `fetch` when a request is written. */
const REQUEST_SENT = 'undici:client:sendHeaders'

/**
 * Runs an exchange, and resolves with its result and the milliseconds since its last query was
 * sent, as dig counts them: loading code and opening connections is not in them.
 * @param now milliseconds of any clock
 */
export async function timeExchange<T>(
  run: () => Promise<T>,
  now: () => number = () => performance.now(),
): Promise<{ readonly result: T; readonly tookMs: number }> {
  let sentMs = now()
  const mark = (): void => {
    sentMs = now()
  }
  const watch: ChannelListener = (message) => {
    const { socket } = { socket: undefined, ...Object(message) }
    if (!(socket instanceof EventEmitter)) return
    for (const event of OPEN_EVENTS) socket.once(event, mark)
  }
  for (const channel of SOCKETS) subscribe(channel, watch)
  subscribe(REQUEST_SENT, mark)
  try {
    const result = await run()
    return { result, tookMs: now() - sentMs }
  } finally {
    for (const channel of SOCKETS) unsubscribe(channel, watch)
    unsubscribe(REQUEST_SENT, mark)
  }
}
