/**
 * The options of `loadbalance`.
 * @module
 */
import {
  argTexts,
  checkArgs,
  type Option,
  options,
  parseDuration,
  unknownOption,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { type Network, parseNetwork } from '../../dns/network.ts'

/** How addresses are ordered. */
export type Policy =
  | { readonly kind: 'round_robin' }
  | {
      readonly kind: 'weighted'
      /** The weights file. */
      readonly file: Word
      /** Interval between reloads in milliseconds; 0 disables them. */
      readonly reloadMs: number
    }

/** The merged options of a server block's directives; the last policy wins. */
export type LoadbalanceOptions = {
  readonly policy: Policy
  /** Networks whose addresses come first. */
  readonly preferred: readonly Network[]
}

const RELOAD_MS_DEFAULT = 30_000

/** Reads directives. @throws {ConfigError} with the place of what is wrong */
export function parseLoadbalance(
  directives: readonly [Directive, ...Directive[]],
): LoadbalanceOptions {
  let read: LoadbalanceOptions = { policy: { kind: 'round_robin' }, preferred: [] }
  for (const directive of directives) read = readDirective(directive, read.preferred)
  return read
}

function readDirective(
  directive: Directive,
  before: LoadbalanceOptions['preferred'],
): LoadbalanceOptions {
  const [policy, file] = directive.args
  if (policy?.text === 'weighted') {
    checkArgs(directive, 2)
    if (file === undefined) throw configError(policy, '"weighted" needs a weights file')
    return { policy: readWeighted(directive, file), preferred: [] }
  }
  if (policy !== undefined && policy.text !== 'round_robin') {
    throw configError(policy, `"${policy.text}" is neither "round_robin" nor "weighted"`)
  }
  checkArgs(directive, 1)
  return { policy: { kind: 'round_robin' }, preferred: [...before, ...readPreferred(directive)] }
}

function readWeighted(directive: Directive, file: Word): Policy {
  let reloadMs = RELOAD_MS_DEFAULT
  for (const option of options(directive)) {
    if (option.name !== 'reload') throw unknownOption('loadbalance weighted', option, ['reload'])
    argTexts(option, 1)
    for (const word of option.args) reloadMs = parseDuration(word)
  }
  return { kind: 'weighted', file, reloadMs }
}

function readPreferred(directive: Directive): Network[] {
  return options(directive).flatMap((option: Option) => {
    if (option.name !== 'prefer') throw unknownOption('loadbalance', option, ['prefer'])
    return option.args.map((word) => {
      const network = parseNetwork(word.text)
      if (network !== undefined) return network
      throw configError(word, `"${word.text}" is not a block of addresses such as 10.0.0.0/8`)
    })
  })
}
