/**
 * The open streams of an HTTP/2 connection. Finds out by itself which ones have closed: a listener
 * per stream takes 1 µs, a twentieth of a request.
 * @module
 */

/** The part of an HTTP/2 stream that this module uses. */
export type Stream = {
  /** Whether the stream has closed. */
  readonly destroyed: boolean
}

/** One stream. */
export type OpenStream<S extends Stream> = {
  readonly stream: S
  /** When its headers arrived, in milliseconds. */
  readonly startMs: number
  /** Bytes of its body that the server buffers. */
  heldBytes: number
  /** Memory that it takes until its client sends or reads the rest; 0 while it waits for us. */
  memoryBytes: number
}

/**
 * Closed streams that are forgotten, if there are any, for each new one. Two, so that their number
 * does not grow beyond that of the open ones.
 */
const FORGOTTEN_PER_NEW = 2

/** Open streams, in no order. */
export class OpenStreams<S extends Stream> {
  /**
   * Also holds streams that have closed lately. Not a `Map`: V8 keeps the previous tables of a map,
   * with the streams in them, until a major collection, and minor collections take a third longer.
   */
  private readonly streams: OpenStream<S>[] = []
  private place = 0

  /** Number of streams in memory, those that have closed lately included. */
  get size(): number {
    return this.streams.length
  }

  /** Adds a stream. Looks at a few others, and forgets those that have closed. */
  add(stream: S, startMs: number): OpenStream<S> {
    for (let i = 0; i < FORGOTTEN_PER_NEW; i++) this.visitOne()
    const one = { stream, startMs, heldBytes: 0, memoryBytes: 0 }
    this.streams.push(one)
    return one
  }

  /** Forgets all streams that have closed. Returns the others; valid until the next call. */
  all(): readonly OpenStream<S>[] {
    for (this.place = 0; this.place < this.streams.length; ) this.visitOne()
    return this.streams
  }

  /** Returns the bytes of all bodies of open streams. */
  heldBytes(): number {
    return this.all().reduce((sum, one) => sum + one.heldBytes, 0)
  }

  /** Looks at one stream, and replaces it by the last one if it has closed. */
  private visitOne(): void {
    const { streams } = this
    const one = streams[this.place]
    if (one === undefined) this.place = 0
    else if (!one.stream.destroyed) this.place++
    else {
      const last = streams.pop()
      if (last !== undefined && last !== one) streams[this.place] = last
    }
  }
}
