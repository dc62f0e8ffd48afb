/**
 * A manifest as stores keep it: its signature in the first line, then its bytes.
 * @module
 */
import { concatBytes } from '../../dns/bytes/bytes.ts'
import type { SignedManifest, StoredManifest } from '../../gateway/snapshots/store.ts'

const NEWLINE = 0x0a

/** Joins a signature and a manifest. */
export function joinManifest({ bytes, signature }: SignedManifest): Uint8Array {
  return concatBytes(new TextEncoder().encode(`${signature}\n`), bytes)
}

/** Splits what {@link joinManifest} returned; the signature of other bytes is wrong. */
export function splitManifest(generation: number, bytes: Uint8Array): StoredManifest {
  const end = bytes.indexOf(NEWLINE)
  const signature = new TextDecoder().decode(bytes.subarray(0, Math.max(0, end)))
  return { generation, signature, bytes: bytes.slice(end + 1) }
}
