/**
 * A Corefile as it was read: server blocks, their directives, and the lines within them.
 * @module
 */
import type { Position } from './problem.ts'
import type { ZoneKey } from './zone-key.ts'

/** A word within a directive. */
export type Word = Position & { readonly text: string }

/** A line of a block: its words, and the block that its last word opened. */
export type Line = { readonly words: readonly Word[]; readonly lines: readonly Line[] }

/** A directive: the name of a plugin, what follows it, and its block. */
export type Directive = Position & {
  readonly name: string
  readonly args: readonly Word[]
  readonly lines: readonly Line[]
}

/** Zones and ports, and the plugins that serve them. */
export type ServerBlock = Position & {
  readonly keys: readonly ZoneKey[]
  readonly directives: readonly Directive[]
}
