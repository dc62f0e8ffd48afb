/**
 * Bounds the request bodies that a process buffers before they are complete. Bounds for each
 * connection do not bound a thousand of them: 490 connections with 16 bodies of 64 KiB ended a
 * gateway in 512 MiB.
 * @module
 */

/** Bytes of unfinished bodies in all connections. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

/** A connection, or a request on one of its own. */
export type BodyHolder = {
  /** Returns the bytes of its unfinished bodies. */
  readonly heldBytes: () => number
  /** Ends the requests with unfinished bodies. */
  readonly dropBodies: () => void
}

/** The unfinished bodies of all connections. */
export class BodyBudget {
  private readonly bytesMax: number
  private readonly holders = new Set<BodyHolder>()
  /** At least what the holders have: bodies that were completed still count, until a recount. */
  private bytes = 0

  constructor(bytesMax: number = BODY_BYTES_MAX) {
    this.bytesMax = bytesMax
  }

  /** Adds a holder, until `delete`. */
  add(holder: BodyHolder): void {
    this.holders.add(holder)
  }

  delete(holder: BodyHolder): void {
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
      if (this.bytes <= this.bytesMax) return
      holder.dropBodies()
      this.bytes -= freed
    }
  }
}
