/**
 * Bounds the memory of requests that wait for their clients: for the rest of the body, or until the
 * client reads the response. Bounds for each connection do not bound a thousand of them: 16 bodies
 * of 64 KiB on each of 490 connections fill the 512 MiB of a gateway.
 * @module
 */
import { memoryBytes } from '../node/memory-bytes.ts'

/** Bytes of all requests that wait. */
const BYTES_MAX = 64 * 1024 * 1024
/** The same as a part of the memory limit, where that is less. */
const MEMORY_SHARE = 1 / 16
/** Part of the bound that is left after room was made: making room looks at all holders. */
const KEPT = 3 / 4

/** A connection, or a request on one of its own. */
export type RequestHolder = {
  /** Returns the bytes of its requests that wait for the client. */
  readonly heldBytes: () => number
  /** Ends these requests. */
  readonly dropRequests: () => void
}

/** The requests of all connections that wait for their clients. */
export class RequestMemory {
  private readonly bytesMax: number
  private readonly holders = new Set<RequestHolder>()
  /** At least the bytes of the holders: completed requests count until the next recount. */
  private bytes = 0

  /** @param bytesMax bytes of all requests that wait (default: by the memory limit) */
  constructor(bytesMax: number = Math.min(BYTES_MAX, memoryBytes() * MEMORY_SHARE)) {
    this.bytesMax = bytesMax
  }

  /** Adds a holder, until `delete`. */
  add(holder: RequestHolder): void {
    this.holders.add(holder)
  }

  /** Removes a holder. */
  delete(holder: RequestHolder): void {
    this.holders.delete(holder)
  }

  /** Counts bytes that a holder has buffered. The largest holders make room for them. */
  held(bytes: number): void {
    this.bytes += bytes
    if (this.bytes <= this.bytesMax) return
    const sizes = Array.from(this.holders, (holder) => ({ holder, bytes: holder.heldBytes() }))
    this.bytes = sizes.reduce((sum, one) => sum + one.bytes, 0)
    if (this.bytes <= this.bytesMax) return
    for (const { holder, bytes: freed } of sizes.sort((a, b) => b.bytes - a.bytes)) {
      if (this.bytes <= this.bytesMax * KEPT) return
      holder.dropRequests()
      this.bytes -= freed
    }
  }
}
