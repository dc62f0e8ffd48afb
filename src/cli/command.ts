/**
 * What a command is, and lists of them.
 * @module
 */
import type { Output } from '../server/node/output.ts'
import type { FlagName, Input } from './flags/flags.ts'

/** A command of `kubedoh`. */
export type CliCommand = {
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

/** Commands that help shows under one title. */
export type Purpose = { readonly title: string; readonly commands: readonly CliCommand[] }

/** All commands, as help, completion and the manual list them. */
export type CommandList = {
  /** In the order of help. */
  readonly commands: readonly CliCommand[]
  /** Summaries of the groups of two-word commands, by the first word. */
  readonly groups: Readonly<Record<string, string>>
}
