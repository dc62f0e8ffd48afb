/**
 * The `ready` plugin: tells over HTTP whether all plugins can answer.
 * @module
 */
import { checkArgs, checkNoBlock, onlyDirective } from '../corefile/arguments.ts'
import type { Setup } from './plugin.ts'

/** Configures `ready [ADDRESS]`; `:8181` when left out. */
export const setupReady: Setup = (directives) => {
  const directive = onlyDirective(directives)
  const [address] = checkArgs(directive, 1)
  checkNoBlock(directive)
  return { features: [{ kind: 'ready', address: address?.text ?? ':8181' }] }
}
