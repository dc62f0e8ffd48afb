/**
 * Puts header blocks together from their frames (RFC 9113 §4.3), and has them decoded.
 * @module
 */
import { concatBytes } from '../bytes/bytes.ts'
import { CONTINUATIONS_MAX, HEADER_BLOCK_BYTES_MAX } from './bounds.ts'
import { ERROR_CODE, FLAG } from './frame.ts'
import { HeaderDecoder, type HeaderList, type Latin1 } from './header-decoder.ts'

/** A header block that is whole. */
export type HeaderBlock = {
  readonly streamId: number
  /** The flags of its HEADERS frame. */
  readonly flags: number
  readonly list: HeaderList
}

/** A block; `undefined` when more of it is to come; or the connection error that it is. */
export type BlockResult = HeaderBlock | undefined | number

/** The bytes from `start` to `end` of `bytes`, which stay as they are. */
export type Fragment = { readonly bytes: Uint8Array; readonly start: number; readonly end: number }

/** The header blocks of one connection: one after the other, nothing between their frames. */
export class HeaderBlocks {
  private readonly decoder: HeaderDecoder
  private readonly fragments: Uint8Array[] = []
  private size = 0
  private streamId = 0
  private flags = 0

  constructor(latin1: Latin1) {
    this.decoder = new HeaderDecoder(latin1)
  }

  /** Whether a block is begun: then no frame but its CONTINUATION may come (RFC 9113 §6.10). */
  get isOpen(): boolean {
    return this.fragments.length > 0
  }

  /** Whether a frame of this stream goes on with the block that is begun. */
  continues(streamId: number): boolean {
    return this.isOpen && streamId === this.streamId
  }

  /** Takes the fragment of a HEADERS frame. */
  begin(streamId: number, flags: number, fragment: Fragment): BlockResult {
    this.streamId = streamId
    this.flags = flags
    if ((flags & FLAG.END_HEADERS) !== 0) return this.decode(fragment)
    return this.hold(fragment)
  }

  /** Takes the fragment of a CONTINUATION frame; which it `continues` was looked at. */
  continue(flags: number, fragment: Fragment): BlockResult {
    const held = this.hold(fragment)
    if (held !== undefined || (flags & FLAG.END_HEADERS) === 0) return held
    const bytes = concatBytes(...this.fragments)
    this.fragments.length = 0
    this.size = 0
    return this.decode({ bytes, start: 0, end: bytes.length })
  }

  private hold({ bytes, start, end }: Fragment): BlockResult {
    this.size += end - start
    const isWithin = this.size <= HEADER_BLOCK_BYTES_MAX
    if (!isWithin || CONTINUATIONS_MAX < this.fragments.length) return ERROR_CODE.ENHANCE_YOUR_CALM
    this.fragments.push(bytes.subarray(start, end))
    return undefined
  }

  private decode({ bytes, start, end }: Fragment): BlockResult {
    const { streamId, flags } = this
    const list = this.decoder.decode(bytes, start, end)
    return list === undefined ? ERROR_CODE.COMPRESSION_ERROR : { streamId, flags, list }
  }
}
