/**
 * The `nsid` plugin: returns the server's identifier on request (RFC 5001).
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import { OPTION } from '../../../dns/wire/edns.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Bound of an identifier in bytes, which leaves room for the answer. */
const IDENTIFIER_BYTES_MAX = 255

/** Configures `nsid [WORD…]` (default: the hostname). */
export const nsidPlugin: PluginEntry = {
  name: 'nsid',
  setup: (directives, { host }) => {
    const words = onlyArgs(directives)
    const texts = words.length === 0 ? [host.hostname] : words.map(({ text }) => text)
    const data = new TextEncoder().encode(texts.join(' '))
    if (data.length > IDENTIFIER_BYTES_MAX) {
      const message = `the identifier has ${data.length} bytes, more than ${IDENTIFIER_BYTES_MAX}`
      throw configError(words[0] ?? directives[0], message)
    }
    return {
      plugin: {
        name: 'nsid',
        // Queries with NSID always take the slow path.
        fastPath: {},
        serve: (request, next) =>
          request.query.wantsNsid
            ? andThen(next(request), (outcome) => identified(outcome, data))
            : next(request),
      },
    }
  },
}

function identified(outcome: Outcome, data: Uint8Array): Outcome {
  if (outcome.kind !== 'reply') return outcome
  const others = outcome.options.filter(({ code }) => code !== OPTION.NSID)
  const reply = { ...outcome, options: [...others, { code: OPTION.NSID, data }] }
  // Upstream replies keep their own OPT record.
  return outcome.origin === 'upstream' ? reply : { ...reply, dnssecOk: true }
}
