/**
 * Literals of a connection's header blocks as they came last. Most clients send some fields as the
 * same bytes with each request, and let no table keep them: tokens, above all (RFC 7541 §7.1.3).
 * @module
 */
import { LITERAL_BYTES_KEPT, LITERALS_KEPT, PATH_BYTES_KEPT } from './bounds.ts'
import type { HeaderField } from './header-field.ts'
import { STATIC_INDEX_MAX } from './static-table.ts'

/** A field whose name has an index, and its value as a string literal. */
export type KnownLiteral = {
  readonly index: number
  /** The literal with its length. */
  readonly octets: Uint8Array
  readonly field: HeaderField
}

/** The last literals of names in the static table. */
export class KnownLiterals {
  private readonly byIndex: (KnownLiteral | undefined)[] = new Array(LITERALS_KEPT)

  /**
   * Finds the field whose value stands at `start` of `bytes`, when it is the one that came last.
   * Takes as long wherever bytes differ: some are secrets.
   */
  find(index: number, bytes: Uint8Array, start: number, end: number): KnownLiteral | undefined {
    const known = this.byIndex[index % LITERALS_KEPT]
    if (known === undefined || known.index !== index) return undefined
    const { octets } = known
    const size = octets.length
    if (size > end - start) return undefined
    let difference = 0
    for (let i = 0; i < size; i++) difference |= (bytes[start + i] ?? 0) ^ (octets[i] ?? 0)
    return difference === 0 ? known : undefined
  }

  /** Keeps a literal, the bytes from `start` to `end` of `bytes`, in place of the one before. */
  note(
    index: number,
    { bytes, start, end }: { readonly bytes: Uint8Array; readonly start: number; end: number },
    field: HeaderField,
  ): void {
    // Longer paths have a message in them, and are seldom the same.
    const most = field.name === ':path' ? PATH_BYTES_KEPT : LITERAL_BYTES_KEPT
    if (index > STATIC_INDEX_MAX || end - start > most) return
    const octets = Uint8Array.from(bytes.subarray(start, end))
    this.byIndex[index % LITERALS_KEPT] = { index, octets, field }
  }
}
