/**
 * The `errors` plugin: logs queries that failed, and why.
 * @module
 */
import { checkArgs, onlyDirective, options, unknownOption } from '../corefile/arguments.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { formatName } from '../dns/name.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType } from '../dns/rr-type.ts'
import { andThen, type Setup } from './plugin.ts'

/**
 * Whether a block's clients are told as well why an answer is poor, in extended errors (RFC 8914):
 * where `errors` tells it the log. CoreDNS has no such errors, and without `errors` nor have we.
 */
export function tellsWhy({ directives }: ServerBlock): boolean {
  return directives.some(({ name }) => name === 'errors')
}

/** Configures `errors`. */
export const setupErrors: Setup = (directives, { host }) => {
  const directive = onlyDirective(directives)
  checkArgs(directive, 0)
  for (const option of options(directive)) {
    if (option.name !== 'stacktrace') throw unknownOption('errors', option, ['stacktrace'])
  }
  return {
    plugins: [
      {
        name: 'errors',
        quick: {},
        serve: (request, next) =>
          andThen(next(request), (outcome) => {
            if (outcome.kind === 'failure' && outcome.reason !== undefined) {
              host.log({
                level: 'error',
                message: outcome.reason,
                plugin: 'errors',
                rcode: formatRcode(outcome.rcode),
                name: formatName(request.name),
                type: formatType(request.type),
              })
            }
            return outcome
          }),
      },
    ],
  }
}
