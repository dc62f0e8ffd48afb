/**
 * The followers of a Durable Object: isolates that watch it over WebSockets. The object may sleep
 * (hibernate) meanwhile.
 * @module
 */
import { isRecord } from '../src/dns/bytes/unknown.ts'
import { IS_ANYTHING_NEW, type Known, NOTHING_NEW } from './follow-object.ts'

/** Most isolates that follow an object at a time; others read again later. */
const FOLLOWERS_MAX = 4096
/** Most updates over one socket: isolates that do not read them fill little memory. */
const UPDATES_MAX = 16
/** Longest URL with what a follower knows. */
const URL_CHARS_MAX = 2048
/** Close code: the object has too many followers (RFC 6455 §7.4, IANA's registry). */
const TRY_AGAIN = 1013
const DONE = 1000
/** The object cannot read its store. */
const FAILED = 1011
/** A version, and the messages that bring a follower to it; none when it has that version. */
export type FollowerUpdate = {
  readonly version: string
  readonly messages: readonly (string | Uint8Array)[]
}

/** Returns what a follower lacks. */
type UpdateFor = (known: Known) => Promise<FollowerUpdate>

/** The followers of one object. They outlive its time in memory. */
export class Followers {
  private readonly state: Pick<
    DurableObjectState,
    'acceptWebSocket' | 'getWebSockets' | 'setWebSocketAutoResponse'
  >
  private readonly updateFor: UpdateFor

  constructor(state: Followers['state'], updateFor: UpdateFor) {
    this.state = state
    const pair = new WebSocketRequestResponsePair(IS_ANYTHING_NEW, NOTHING_NEW)
    state.setWebSocketAutoResponse(pair)
    this.updateFor = updateFor
  }

  /**
   * Answers the request of {@link followObject}: 400 for any other one, 503 when there are too
   * many.
   */
  async accept(request: Request): Promise<Response> {
    const known = readKnown(request)
    if (known === undefined) return new Response(null, { status: 400 })
    if (this.count() >= FOLLOWERS_MAX) return new Response(null, { status: 503 })
    const { 0: theirs, 1: ours } = new WebSocketPair()
    // First: what changes while the update is read is sent to this one, too.
    this.state.acceptWebSocket(ours)
    ours.serializeAttachment({ ...known, updates: 0 } satisfies Attachment)
    await this.tryBring(ours, this.updateFor)
    return new Response(null, { status: 101, webSocket: theirs })
  }

  /** Returns how many isolates follow. */
  count(): number {
    return this.state.getWebSockets().length
  }

  /** Sends each follower what has changed. */
  async notify(): Promise<void> {
    const updates = new Map<string, Promise<FollowerUpdate>>()
    const updateOnce: UpdateFor = (known) => {
      const key = JSON.stringify([known.subject, known.version])
      const update = updates.get(key) ?? this.updateFor(known)
      updates.set(key, update)
      return update
    }
    for (const socket of this.state.getWebSockets()) await this.tryBring(socket, updateOnce)
  }

  /** Ends all watches: what they are about is removed. */
  close(): void {
    for (const socket of this.state.getWebSockets()) socket.close(DONE, 'removed')
  }

  /** As {@link bring}; where it fails, closes the socket, which the isolate then logs. */
  private async tryBring(socket: WebSocket, updateFor: UpdateFor): Promise<void> {
    try {
      await this.bring(socket, updateFor)
    } catch {
      socket.close(FAILED)
    }
  }

  /** Brings a follower to the newest version, also while another call does so. */
  private async bring(socket: WebSocket, updateFor: UpdateFor): Promise<void> {
    let known = attachmentOf(socket)
    while (known !== undefined) {
      const update = await updateFor(known)
      const now = attachmentOf(socket)
      if (now?.version === known.version) {
        const isFirst = known.updates === 0
        if (isFirst || update.version !== known.version) send(socket, known, update)
        return
      }
      known = now
    }
  }
}

type Attachment = Known & { readonly updates: number }

function attachmentOf(socket: WebSocket): Attachment | undefined {
  const value: unknown = socket.deserializeAttachment()
  if (!isRecord(value) || typeof value.updates !== 'number') return undefined
  const { subject, version, updates } = value
  if (typeof subject !== 'string' || typeof version !== 'string') return undefined
  return { subject, version, updates }
}

function send(socket: WebSocket, known: Attachment, { version, messages }: FollowerUpdate): void {
  const updates = known.updates + 1
  socket.serializeAttachment({ subject: known.subject, version, updates })
  try {
    for (const message of messages.length > 0 ? messages : [NOTHING_NEW]) socket.send(message)
    if (updates >= UPDATES_MAX) socket.close(DONE, 'open another one')
  } catch {
    // The isolate has gone.
    socket.close(TRY_AGAIN)
  }
}

function readKnown({ url }: Request): Known | undefined {
  const { searchParams } = new URL(url)
  const [subject, version] = [searchParams.get('subject'), searchParams.get('version')]
  if (url.length > URL_CHARS_MAX || subject === null || version === null) return undefined
  return { subject, version }
}
