/**
 * The `minimal` plugin: removes authority and additional records from positive responses.
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Configures `minimal`. */
export const minimalPlugin: PluginEntry = {
  name: 'minimal',
  counts: 'first',
  setup: (directives) => {
    onlyArgs(directives, 0)
    return {
      plugin: {
        name: 'minimal',
        fastPath: {
          configure: (how) => {
            how.isMinimal = true
          },
        },
        serve: (request, next) => andThen(next(request), minimize),
      },
    }
  },
}

/** Keeps the SOA record of negative responses and the records of referrals. */
function minimize(outcome: Outcome): Outcome {
  if (outcome.kind !== 'reply' || outcome.rcode !== RCODE.NOERROR) return outcome
  const isMeaningful = outcome.authority.some(({ type }) => type === TYPE.SOA || type === TYPE.NS)
  if (outcome.answer.length === 0 && isMeaningful) return outcome
  // Truncation removes additional records, from the end.
  const truncated = outcome.truncated && outcome.additional.length === 0
  return { ...outcome, authority: [], additional: [], truncated }
}
