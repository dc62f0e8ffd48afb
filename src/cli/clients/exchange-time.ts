/**
 * Measures the time of an exchange with a server from the events of its sockets.
 * @module
 */
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'

/** Diagnostics channels of new sockets, and the events after which a query can be written. */
const SOCKETS = ['udp.socket', 'net.client.socket'] as const
const OPEN_EVENTS = ['connect', 'secureConnect'] as const
/** Diagnostics channel of `fetch` for requests that are being written. */
const REQUEST_SENT = 'undici:client:sendHeaders'

/**
 * Runs an exchange and resolves with its result and the milliseconds since its last query was sent.
 * Excludes loading code and opening connections, as dig's query time does.
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
