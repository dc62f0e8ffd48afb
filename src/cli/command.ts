/**
 * What a command is.
 * @module
 */
import type { Output } from '../server/node/output.ts'
import type { FlagName, Input } from './flags/flags.ts'

/** A command of `kubedoh`. */
export type Command = {
  /** One or two words. */
  readonly name: string
  /** One line in the imperative. */
  readonly summary: string
  /** Names of its arguments: `[NAME]` is optional, `NAME...` can be repeated. */
  readonly args?: readonly string[]
  readonly flags?: readonly FlagName[]
  readonly required?: readonly FlagName[]
  /** Whether `--conf` defaults to `./Corefile`. */
  readonly readsCorefile?: true
  /** Shell lines to copy. */
  readonly examples: readonly string[]
  /** Lines printed below the examples. */
  readonly notes?: readonly string[]
  readonly run: (input: Input, output: Output) => Promise<void>
}
