/**
 * The syntax tree of a Corefile: server blocks, their directives, and the lines in those.
 * @module
 */
import type { Position } from './problem.ts'
import type { ZoneKey } from './zone-key.ts'

/** A word of a directive. */
export type Word = Position & { readonly text: string }

/** A line of a block: its words, and the block that it opens. */
export type Line = { readonly words: readonly Word[]; readonly lines: readonly Line[] }

/** A directive: the name of a plugin, its arguments, and its block. */
export type Directive = Position & {
  readonly name: string
  readonly args: readonly Word[]
  readonly lines: readonly Line[]
}

/** A server block: zones with ports, and the directives that serve them. */
export type ServerBlock = Position & {
  readonly keys: readonly ZoneKey[]
  readonly directives: readonly Directive[]
}
