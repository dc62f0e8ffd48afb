/**
 * The `health` plugin: tells over HTTP that the process lives.
 * @module
 */
import {
  argTexts,
  checkArgs,
  onlyDirective,
  options,
  parseDuration,
  unknownOption,
} from '../corefile/arguments.ts'
import type { Setup } from './plugin.ts'

/** Configures `health [ADDRESS] { lameduck DURATION }`; `:8080` when left out. */
export const setupHealth: Setup = (directives) => {
  const directive = onlyDirective(directives)
  const [address] = checkArgs(directive, 1)
  let lameduckMs = 0
  for (const option of options(directive)) {
    if (option.name !== 'lameduck') throw unknownOption('health', option, ['lameduck'])
    argTexts(option, 1)
    for (const word of option.args) lameduckMs = parseDuration(word)
  }
  return { features: [{ kind: 'health', address: address?.text ?? ':8080', lameduckMs }] }
}
