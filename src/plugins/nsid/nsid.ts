/**
 * The `nsid` plugin: returns the identifier of this server on request (RFC 5001).
 * @module
 */

import { andThen } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkNoBlock, onlyDirective } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import { OPTION } from '../../dns/edns.ts'

/** Bytes of an identifier, so that it leaves room for an answer. */
const IDENTIFIER_BYTES_MAX = 255

/** Configures `nsid [WORD…]`; the machine's name when left out. */
const setup: Setup = (directives, { host }) => {
  const directive = onlyDirective(directives)
  checkNoBlock(directive)
  const [first] = directive.args
  const text = first ? directive.args.map((word) => word.text).join(' ') : host.hostname
  const data = new TextEncoder().encode(text)
  if (data.length > IDENTIFIER_BYTES_MAX) {
    const message = `the identifier has ${data.length} bytes, at most ${IDENTIFIER_BYTES_MAX}`
    throw configError(first ?? directive, message)
  }
  return {
    plugins: [
      {
        name: 'nsid',
        // Queries for an identifier take the slow path in any case.
        fastPath: {},
        serve: (request, next) =>
          request.query.wantsNsid
            ? andThen(next(request), (outcome) => identified(outcome, data))
            : next(request),
      },
    ],
  }
}

/** The entry of `nsid`. */
export const nsidPlugin: PluginEntry = {
  name: 'nsid',
  isAtEdge: true,
  setup,
}

function identified(outcome: Outcome, data: Uint8Array): Outcome {
  if (outcome.kind !== 'reply') return outcome
  const others = outcome.options.filter(({ code }) => code !== OPTION.NSID)
  const reply = { ...outcome, options: [...others, { code: OPTION.NSID, data }] }
  // What came from a server has an OPT record already.
  return outcome.origin === 'upstream' ? reply : { ...reply, dnssecOk: true }
}
