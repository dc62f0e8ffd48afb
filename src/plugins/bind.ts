/**
 * The `bind` plugin: the addresses or interfaces to listen on.
 * @module
 */
import { argTexts, onlyDirective, options, unknownOption } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'
import type { Setup } from './plugin.ts'

/** Configures `bind ADDRESS|INTERFACE… { except ADDRESS|INTERFACE… }`. */
export const setupBind: Setup = (directives) => {
  const directive = onlyDirective(directives)
  if (directive.args.length === 0) {
    throw configError(directive, '"bind" needs an address or an interface')
  }
  const except = options(directive).flatMap((option) => {
    if (option.name !== 'except') throw unknownOption('bind', option, ['except'])
    return argTexts(option, 1, Infinity)
  })
  const addresses = directive.args.map(({ text }) => text)
  return { features: [{ kind: 'bind', addresses, except }] }
}
