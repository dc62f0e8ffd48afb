/**
 * Receives and sends datagrams of one UDP socket, up to 64 per system call. A Node socket takes
 * 6 µs of CPU time per query, a batch a third of that.
 *
 * The kernel accesses the memory of this object only during a call, on the calling thread. Each
 * buffer whose address the kernel knows is a field, so that V8 does not collect it.
 * @module
 */
import { readUint16 } from '../../dns/bytes/bytes.ts'
import { ClientAddresses } from './client-address.ts'
import type { Mmsg } from './mmsg.ts'

/** Datagrams per call. */
export const BATCH_MAX = 64
/** Bytes received of a datagram. Truncates longer queries, which are then refused as malformed. */
export const RECEIVE_BYTES = 4096
/** The longest response that a batch sends. */
const SEND_BYTES = 4096

// Structures of recvmmsg(2), recvmsg(2), ip(7) and ipv6(7) on 64-bit machines, in 4-byte words.
const HEADER_WORDS = 16
const VECTOR_WORDS = 4
const NAME_WORDS = 8
const HEADER = { NAME: 0, NAME_BYTES: 2, VECTOR: 4, VECTORS: 6, LENGTH: 14 } as const
const VECTOR = { BASE: 0, LENGTH: 2 } as const
const SOCKADDR_IN6_BYTES = 28

const RECEIVED = 0
const SENT = RECEIVED + BATCH_MAX * HEADER_WORDS
const VECTORS = SENT + BATCH_MAX * HEADER_WORDS
const NAMES = VECTORS + 2 * BATCH_MAX * VECTOR_WORDS
const WORDS = NAMES + BATCH_MAX * NAME_WORDS

/** The datagrams of one system call, and the responses to them. */
export class DatagramBatch {
  private readonly mmsg: Mmsg
  private readonly fd: number
  private readonly words = new Int32Array(WORDS)
  private readonly bytes = new Uint8Array(this.words.buffer)
  private readonly addresses = new ClientAddresses()
  private readonly base: bigint
  private readonly sentBase: bigint
  private readonly buffers: Uint8Array[]
  private readonly responses = new Uint8Array(BATCH_MAX * SEND_BYTES)
  /** Index of the datagram that each queued response answers. */
  private readonly answered = new Uint8Array(BATCH_MAX)
  private pending = 0

  /** @param fd the descriptor of a bound UDP socket; do not use the batch after closing it */
  constructor(mmsg: Mmsg, fd: number) {
    this.mmsg = mmsg
    this.fd = fd
    this.base = mmsg.addressOf(this.words)
    this.sentBase = this.base + BigInt(4 * SENT)
    const responses = mmsg.addressOf(this.responses)
    this.buffers = Array.from({ length: BATCH_MAX }, () => new Uint8Array(RECEIVE_BYTES))
    for (let i = 0; i < BATCH_MAX; i++) {
      const received = RECEIVED + i * HEADER_WORDS
      const sent = SENT + i * HEADER_WORDS
      const into = VECTORS + i * VECTOR_WORDS
      const from = VECTORS + (BATCH_MAX + i) * VECTOR_WORDS
      this.setAddress(received + HEADER.NAME, this.base + BigInt(4 * (NAMES + i * NAME_WORDS)))
      this.setAddress(received + HEADER.VECTOR, this.base + BigInt(4 * into))
      this.setAddress(sent + HEADER.VECTOR, this.base + BigInt(4 * from))
      this.setAddress(from + VECTOR.BASE, responses + BigInt(i * SEND_BYTES))
      this.words[received + HEADER.VECTORS] = 1
      this.words[sent + HEADER.VECTORS] = 1
      this.words[into + VECTOR.LENGTH] = RECEIVE_BYTES
      this.setBuffer(i)
    }
  }

  /** Receives pending datagrams without waiting. Returns their number, 0 to 64. */
  receive(): number {
    // Drops what a failed batch has left.
    this.pending = 0
    // The kernel overwrites the size of the address buffer with the size of the address.
    for (let i = 0; i < BATCH_MAX; i++) {
      this.words[RECEIVED + i * HEADER_WORDS + HEADER.NAME_BYTES] = SOCKADDR_IN6_BYTES
    }
    return Math.max(0, this.mmsg.receive(this.fd, this.base, BATCH_MAX))
  }

  /** Returns a datagram's bytes, valid until the next `receive`. */
  message(index: number): Uint8Array {
    const size = this.words[RECEIVED + index * HEADER_WORDS + HEADER.LENGTH] ?? 0
    return (this.buffers[index] ?? this.bytes).subarray(0, size)
  }

  /** Returns the source port of a datagram. */
  port(index: number): number {
    return readUint16(this.bytes, 4 * (NAMES + index * NAME_WORDS) + 2)
  }

  /** Returns the source address of a datagram as text. */
  address(index: number): string {
    return this.addresses.format(this.words, NAMES + index * NAME_WORDS)
  }

  /**
   * Queues the response to a datagram.
   * @returns false when it is too long for a batch; the caller must send it
   */
  respond(index: number, response: Uint8Array, size: number): boolean {
    // Past the end of the arrays, the kernel would read garbage as addresses.
    if (size > SEND_BYTES || this.pending === BATCH_MAX) return false
    const slot = this.pending++
    const { words, responses } = this
    const start = slot * SEND_BYTES
    for (let i = 0; i < size; i++) responses[start + i] = response[i] ?? 0
    const sent = SENT + slot * HEADER_WORDS
    const received = RECEIVED + index * HEADER_WORDS
    words[sent + HEADER.NAME] = words[received + HEADER.NAME] ?? 0
    words[sent + HEADER.NAME + 1] = words[received + HEADER.NAME + 1] ?? 0
    words[sent + HEADER.NAME_BYTES] = words[received + HEADER.NAME_BYTES] ?? 0
    words[VECTORS + (BATCH_MAX + slot) * VECTOR_WORDS + VECTOR.LENGTH] = size
    this.answered[slot] = index
    return true
  }

  /**
   * Sends all queued responses.
   * @param unsent called with each response that the kernel refused (a full socket buffer, a
   * firewall, no route), and the index of its datagram
   */
  flush(unsent: (index: number, response: Uint8Array) => void): void {
    const count = this.pending
    this.pending = 0
    for (let done = 0; done < count; ) {
      const headers = this.sentBase + BigInt(4 * HEADER_WORDS * done)
      const sent = this.mmsg.send(this.fd, headers, count - done)
      if (sent > 0) {
        done += sent
        continue
      }
      const size = this.words[VECTORS + (BATCH_MAX + done) * VECTOR_WORDS + VECTOR.LENGTH] ?? 0
      unsent(
        this.answered[done] ?? 0,
        this.responses.slice(done * SEND_BYTES, done * SEND_BYTES + size),
      )
      done++
    }
  }

  private setBuffer(index: number): void {
    const buffer = this.buffers[index] ?? this.bytes
    this.setAddress(VECTORS + index * VECTOR_WORDS + VECTOR.BASE, this.mmsg.addressOf(buffer))
  }

  private setAddress(word: number, address: bigint): void {
    this.words[word] = Number(BigInt.asIntN(32, address))
    this.words[word + 1] = Number(BigInt.asIntN(32, address >> 32n))
  }
}
