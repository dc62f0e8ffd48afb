/**
 * The `errors` plugin: logs queries that failed, and why.
 * @module
 */
import { checkArgs, onlyDirective, options, unknownOption } from '../corefile/arguments.ts'
import { formatName } from '../dns/name.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType } from '../dns/rr-type.ts'
import { andThen, type Setup } from './plugin.ts'

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
