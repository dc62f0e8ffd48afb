/**
 * An isolate's end of a watch: it follows a Durable Object over a WebSocket. The object may sleep
 * (hibernate) meanwhile, which costs nothing; a call that waits would keep it in memory, 11,000
 * GB-s a day.
 * @module
 */
import { errorText, recordOf } from '../src/dns/bytes/unknown.ts'
import type { After } from '../src/gateway/timing/within.ts'

/** The message for a follower that lacks nothing. */
export const NOTHING_NEW = '{}'
/**
 * Sent at the end of a watch. The platform answers it by {@link NOTHING_NEW} and lets the object
 * sleep: whatever has changed was sent before.
 */
export const IS_ANYTHING_NEW = '?'
const DONE = 1000
/** What the platform says of an object of an earlier build, as a deployment has it for a while. */
const CANNOT_FOLLOW = 'does not export a fetch() function'

/** What a follower is about, such as the key of its cluster, and the version that it has. */
export type Known = { readonly subject: string; readonly version: string }

/** The methods of the platform's WebSocket in use. */
type FollowSocket = {
  binaryType: 'blob' | 'arraybuffer'
  readonly accept: () => void
  readonly addEventListener: (
    type: 'message' | 'close' | 'error',
    listener: (event: object) => void,
  ) => void
  readonly send: (message: string) => void
  readonly close: (code: number) => void
}

/** How a Worker reaches an object. */
export type FollowedObject = {
  readonly fetch: (
    url: string,
    init: { readonly headers: Record<string, string> },
  ) => Promise<{ readonly status: number; readonly webSocket?: FollowSocket | null }>
}

/** Returns whether an error of {@link followObject} says that the object cannot be followed. */
export function cannotFollow(error: unknown): boolean {
  return errorText(error).includes(CANNOT_FOLLOW)
}

/** What an isolate does with a message; returns whether an update is complete with it. */
type OnMessage = (message: string | Uint8Array) => Promise<boolean> | boolean

/**
 * Follows an object for `waitMs`, with 0 until the first update. Calls `onMessage` with each
 * message, one call after the other. At the end, sees whether the connection is still there.
 * @throws {Error} when the object refuses, or a message cannot be used
 */
export async function followObject(
  object: FollowedObject,
  known: Known,
  waitMs: number,
  { after, onMessage }: { readonly after: After; readonly onMessage: OnMessage },
): Promise<void> {
  const url = `https://object/follow?${new URLSearchParams(known)}`
  const { webSocket: socket, status } = await object.fetch(url, {
    headers: { upgrade: 'websocket' },
  })
  if (!socket) throw new Error(`cannot follow the object: status ${status}`)
  const ended = Promise.withResolvers<void>()
  let isEnding = waitMs === 0
  let taken: Promise<void> = Promise.resolve()
  const take = async (message: string | Uint8Array): Promise<void> => {
    if ((await onMessage(message)) && isEnding) ended.resolve()
  }
  socket.addEventListener('message', (event) => {
    const { data } = recordOf(event)
    const message = data instanceof ArrayBuffer ? new Uint8Array(data) : String(data)
    taken = taken.then(() => take(message))
    taken.catch(ended.reject)
  })
  socket.addEventListener('close', () => void taken.then(ended.resolve, ended.reject))
  socket.addEventListener('error', () => ended.reject(new Error('the object has closed the watch')))
  socket.binaryType = 'arraybuffer'
  socket.accept()
  const cancel = after(waitMs, () => {
    if (waitMs === 0) return
    isEnding = true
    socket.send(IS_ANYTHING_NEW)
  })
  try {
    await ended.promise
  } finally {
    cancel()
    socket.close(DONE)
  }
}
