/**
 * Queries over UDP for the slow path. During a flood of them, the fast path goes on to answer at
 * once: only so many milliseconds of each turn of the event loop are theirs. The newest goes first,
 * because its client still waits; the oldest are dropped. Waiting queries are bytes in one buffer:
 * as objects they would double the time, by V8's garbage collections.
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import type { Series } from '../../dns/telemetry/metrics.ts'
import { awake } from '../node/elapsed.ts'

/** Time for these queries in a turn of the event loop; the last one may exceed it. */
const SLICE_MS = 5
/** Queries that wait. */
const WAITING_MAX = 4096
/** Bytes of a query that can wait; a longer one, which no resolver sends, is dropped. */
const MESSAGE_BYTES_MAX = 512
/** Age at which a query is dropped: resolvers ask again, or another server, after 1 to 5 s. */
const AGE_MS_MAX = 2000

/** Answers messages for the slow path, and sends the responses. */
export type SlowAnswers = {
  /** Must not throw. May keep the message. */
  readonly answerSlowly: (message: Uint8Array, address: string, port: number) => void
}

/** Answers such queries, for all sockets of a thread. */
export class SlowQueries {
  /** How long the query has waited that is being answered. */
  waitedMs = 0
  private readonly dropped: Pick<Series, 'value'>
  private readonly now: () => number
  // A ring of queries, from the oldest to the newest; its 2 MiB are allocated at the first one.
  private messages = EMPTY
  private readonly sizes = new Uint16Array(WAITING_MAX)
  private readonly ports = new Uint16Array(WAITING_MAX)
  private readonly sinceMs = new Float64Array(WAITING_MAX)
  private readonly addresses: string[] = []
  private readonly servers: SlowAnswers[] = []
  /** The place after the newest one. */
  private end = 0
  private count = 0
  private spentMs = 0
  private isScheduled = false
  private readonly runSlice = (): void => {
    this.isScheduled = false
    this.spentMs = 0
    while (this.count > 0 && this.spentMs < SLICE_MS) this.answerNewest()
    if (this.count > 0) this.schedule()
    else this.spentMs = 0
  }

  /**
   * @param dropped counts queries that get no response
   * @param now milliseconds of a monotonic clock
   */
  constructor(dropped: Pick<Series, 'value'>, now: () => number = awake) {
    this.dropped = dropped
    this.now = now
  }

  /** Whether no query waits. */
  get isEmpty(): boolean {
    return this.count === 0
  }

  /** Has a message answered, now if this turn has time left, else in a later one. Copies it. */
  take(server: SlowAnswers, message: Uint8Array, address: string, port: number): void {
    this.schedule()
    if (this.spentMs < SLICE_MS) this.answer(server, message.slice(), address, port)
    else this.push(server, message, address, port)
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(this.runSlice)
  }

  private push(server: SlowAnswers, message: Uint8Array, address: string, port: number): void {
    const { length } = message
    if (length > MESSAGE_BYTES_MAX || this.count === WAITING_MAX) this.dropped.value++
    if (length > MESSAGE_BYTES_MAX) return
    const { end } = this
    if (this.messages === EMPTY) this.messages = new Uint8Array(WAITING_MAX * MESSAGE_BYTES_MAX)
    this.messages.set(message, end * MESSAGE_BYTES_MAX)
    this.sizes[end] = length
    this.ports[end] = port
    this.sinceMs[end] = this.now()
    this.addresses[end] = address
    this.servers[end] = server
    this.end = (end + 1) % WAITING_MAX
    this.count = Math.min(this.count + 1, WAITING_MAX)
  }

  private answerNewest(): void {
    const at = (this.end + WAITING_MAX - 1) % WAITING_MAX
    this.end = at
    const server = this.servers[at]
    if (server === undefined || this.now() - (this.sinceMs[at] ?? 0) > AGE_MS_MAX) {
      // The others are older.
      this.dropped.value += this.count
      this.count = 0
      return
    }
    this.count--
    const start = at * MESSAGE_BYTES_MAX
    const message = this.messages.slice(start, start + (this.sizes[at] ?? 0))
    this.waitedMs = this.now() - (this.sinceMs[at] ?? 0)
    this.answer(server, message, this.addresses[at] ?? '', this.ports[at] ?? 0)
    this.waitedMs = 0
  }

  private answer(server: SlowAnswers, message: Uint8Array, address: string, port: number): void {
    const startMs = this.now()
    server.answerSlowly(message, address, port)
    this.spentMs += this.now() - startMs
  }
}
