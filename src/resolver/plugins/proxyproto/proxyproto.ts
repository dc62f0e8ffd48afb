/**
 * The `proxyproto` plugin: from whom PROXY headers count (github.com/coredns/coredns,
 * plugin/proxyproto/setup.go).
 * @module
 */

import {
  checkArgs,
  type OptionReaders,
  onlyWord,
  parseChoice,
  parseCount,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import {
  isInNetwork,
  type Network,
  parseClientAddress,
  parseNetwork,
} from '../../../dns/names/network.ts'
import type { ProxyHeaders, ProxyPolicy } from '../../contract/feature.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Default of `udp_session_tracking` (plugin/pkg/proxyproto/udp_session.go). */
const SESSIONS = 10_240
const SESSIONS_MAX = 1_000_000
const POLICIES = ['use', 'ignore', 'reject', 'skip'] as const

type Draft = {
  readonly allowed: readonly Network[]
  readonly otherwise?: ProxyPolicy
  readonly sessionMs: number
  readonly sessionsMax: number
}

const READERS: OptionReaders<Draft> = {
  allow: ({ args }, { allowed }) => ({
    allowed: [
      ...allowed,
      ...args.map((word) => {
        const network = parseNetwork(word.text)
        if (network !== undefined) return network
        throw configError(word, `"${word.text}" is not a network such as 192.0.2.0/24`)
      }),
    ],
  }),
  default: (option) => {
    const word = onlyWord(option)
    return { otherwise: parseChoice({ ...word, text: word.text.toLowerCase() }, POLICIES) }
  },
  udp_session_tracking: (option) => {
    const [ttl, most, ...others] = option.args
    if (ttl === undefined || others.length > 0) {
      throw configError(option, '"udp_session_tracking" takes a duration and a number of sessions')
    }
    const sessionsMax = most === undefined ? SESSIONS : parseCount(most, 1, SESSIONS_MAX)
    return { sessionMs: parseDuration(ttl), sessionsMax }
  },
}

/** Configures `proxyproto { allow NETWORK… default POLICY udp_session_tracking TTL [COUNT] }`. */
export const proxyprotoPlugin: PluginEntry = {
  name: 'proxyproto',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'PROXY_PROTOCOL and TRUSTED_PROXIES say it for its own listener',
  },
  isApart: true,
  setup: (directives) => {
    let draft: Draft = { allowed: [], sessionMs: 0, sessionsMax: SESSIONS }
    for (const directive of directives) {
      checkArgs(directive, 0)
      draft = readOptions(directive, READERS, draft)
    }
    return { features: [{ kind: 'proxyproto', headers: headersOf(draft) }] }
  },
}

/** Without `allow`, `default` holds for all, and headers of all count without either. */
function headersOf({ allowed, otherwise, sessionMs, sessionsMax }: Draft): ProxyHeaders {
  const ofOthers = otherwise ?? (allowed.length === 0 ? 'use' : 'ignore')
  const policyOf = (address: string): ProxyPolicy => {
    const bytes = allowed.length === 0 ? undefined : parseClientAddress(address)
    const isAllowed = bytes !== undefined && allowed.some((one) => isInNetwork(bytes, one))
    return isAllowed ? 'use' : ofOthers
  }
  return { policyOf, sessionMs, sessionsMax }
}
