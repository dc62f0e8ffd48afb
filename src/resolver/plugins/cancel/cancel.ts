/**
 * The `cancel` plugin: bounds the time for a response.
 * @module
 */

import { checkArgs, checkNoBlock, parseDuration } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import type { Host } from '../../contract/host.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Clients give up after five seconds. */
const TIMEOUT_MS_DEFAULT = 5001

/** Configures `cancel [TIMEOUT]`; 5001ms by default. The last directive counts. */
export const cancelPlugin: PluginEntry = {
  name: 'cancel',
  setup: (directives, { host }) => {
    const timeouts = directives.map(parseTimeout)
    const timeoutMs = timeouts.at(-1) ?? TIMEOUT_MS_DEFAULT
    return {
      plugin: {
        name: 'cancel',
        fastPath: {},
        serve: (request, next) => {
          const outcome = next(request)
          return outcome instanceof Promise ? bounded(outcome, timeoutMs, host) : outcome
        },
      },
    }
  },
}

function parseTimeout(directive: Directive): number {
  const [word] = checkArgs(directive, 1)
  checkNoBlock(directive)
  if (word === undefined) return TIMEOUT_MS_DEFAULT
  const timeoutMs = parseDuration(word)
  if (timeoutMs <= 0) throw configError(word, `"${word.text}" is not a positive time-out`)
  return timeoutMs
}

/** Fails after a time-out, and ignores a later outcome. */
function bounded(outcome: Promise<Outcome>, timeoutMs: number, host: Host): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const callOff = host.after(timeoutMs, () => {
      resolve(failure(RCODE.SERVFAIL, `no answer within ${timeoutMs}ms`))
    })
    void outcome.finally(callOff).then(resolve, reject)
  })
}
