/**
 * Keeps tokens out of the log. A client that has only a token's hostname may look that name up by
 * the gateway itself, and plugins log query names.
 * @module
 */
import type { LogEvent } from '../../dns/telemetry/log.ts'
import type { Host } from '../../resolver/contract/host.ts'

/**
 * Returns what plugins log by, with `TOKEN` in place of what may be a token in a name.
 * @param domain TOKEN_DOMAIN, in lower case; '' changes nothing
 */
export function hidingTokens(
  { log, print }: Pick<Host, 'log' | 'print'>,
  domain: string,
): Pick<Host, 'log' | 'print'> {
  if (domain === '') return { log, print }
  const token = new RegExp(`[0-9a-z]{26}(?=\\.${domain.replaceAll('.', '\\.')})`, 'gi')
  const hide = <T>(value: T): T | string =>
    typeof value === 'string' ? value.replace(token, 'TOKEN') : value
  return {
    log: ({ level, message, ...facts }) => {
      const hidden = Object.entries(facts).map(([fact, value]) => [fact, hide(value)])
      const event: LogEvent = { level, message: hide(message), ...Object.fromEntries(hidden) }
      log(event)
    },
    print: (line) => print(hide(line)),
  }
}
