/**
 * The ClientTokens of `kubedoh export`.
 * @module
 */
import { sleep } from '../../cluster/api/backoff.ts'
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { ClientTokens } from '../../exporter/client-tokens.ts'
import { type GatewayClientOptions, sendTokens } from '../../exporter/gateway-client.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'

/** Names of Namespaces (RFC 1123). */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** What ClientTokens need. */
type ClientTokensParts = {
  /** `undefined` without an API server. */
  readonly api: ObjectApi | undefined
  readonly gateway: GatewayClientOptions
  readonly log: Log
  /** Whether this process sends the list. */
  readonly isLeader: () => boolean
  /** Whether it writes the statuses. */
  readonly isElected: () => boolean
}

/**
 * Creates the follower of ClientTokens of KUBEDOH_CLIENT_TOKENS; `undefined` without it.
 * @throws {CommandError} if it is invalid, or with flags that exclude it
 */
export function createClientTokens(
  input: Input,
  { api, gateway, log, isLeader, isElected }: ClientTokensParts,
): ClientTokens | undefined {
  const home = input.env('KUBEDOH_CLIENT_TOKENS')
  if (home === '') return undefined
  if (!NAMESPACE.test(home)) {
    throw new CommandError(`KUBEDOH_CLIENT_TOKENS "${home}": use the name of a namespace`)
  }
  if (api === undefined || input.isSet('once')) {
    const other = api === undefined ? '--objects' : '--once'
    throw new CommandError(`KUBEDOH_CLIENT_TOKENS needs to follow an API server; remove ${other}`)
  }
  return new ClientTokens({
    api,
    home,
    isLeader,
    isElected,
    send: (tokens, signal) => sendTokens(gateway, tokens, signal),
    onWarning: (message) => log({ level: 'warning', message }),
    onError: (message) => log({ level: 'error', message }),
    ...{ sleep, elapsed, random: Math.random, now: Date.now },
  })
}
