/**
 * The `forward` directive's options (github.com/coredns/coredns, plugin/forward/setup.go).
 * @module
 */

import type { Upstream, UpstreamOptions } from '../../chain/host.ts'
import {
  argTexts,
  type Option,
  onlyWord,
  parseCount,
  parseDuration,
  readOptions,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseZones } from '../../corefile/zone-key.ts'
import { parseAddress } from '../../dns/address.ts'
import { parseName, ROOT } from '../../dns/name.ts'
import { parseRcode, RCODE } from '../../dns/rcode.ts'
import { tlsIdentity } from '../../plugin-kit/tls-files.ts'
import { parseResolver, parseUpstreams } from './upstreams.ts'

/** The order in which to try upstreams. */
export type Policy = 'random' | 'round_robin' | 'sequential'

/** The options of a `forward` directive. */
export type ForwardOptions = {
  readonly from: Uint8Array
  readonly upstreams: readonly Upstream[]
  readonly except: readonly Uint8Array[]
  readonly protocol: 'as-client' | 'udp' | 'tcp'
  readonly policy: Policy
  /** Consecutive failures after which an upstream counts as down; 0 for never. */
  readonly failuresMax: number
  /** Failed attempts for one query; 0 for as many as its time allows. */
  readonly attemptsMax: number
  readonly readTimeoutMs: number
  readonly healthCheckMs: number
  readonly healthCheckName: Uint8Array
  readonly healthCheckRecurses: boolean
  /** Concurrent queries; 0 for no bound. */
  readonly concurrentMax: number
  readonly failsFast: boolean
  /** Response codes after which the next upstream gets the query. */
  readonly failover: readonly number[]
  /** Response codes with which the query goes to the next `forward` of the block. */
  readonly next: readonly number[]
  /** Whether it goes there for NODATA as well. */
  readonly nextOnNodata: boolean
  readonly connections: Omit<UpstreamOptions, 'onConnection'>
}

/** Arguments that name upstreams. */
const WORDS_MAX = 15
const COUNT_MAX = 0xffffffff

type Draft = { -readonly [Key in keyof ForwardOptions]: ForwardOptions[Key] } & {
  serverName?: string
  token?: string
  /** Reads certificate files. */
  readonly readOwn: ReadText
}
/** Reads a file; `undefined` if it does not exist. */
type ReadText = (path: string) => string | undefined
type Reader = (option: Option, draft: Draft) => void

/**
 * Reads `forward FROM TO… { … }`.
 * @param readText reads files that list name servers
 * @param readOwn reads certificate files, relative to the folder of the block's `root`
 * @throws {ConfigError} with the position of the mistake
 */
export function parseForward(
  directive: Directive,
  readText: ReadText,
  readOwn: ReadText = readText,
): ForwardOptions {
  const [from, first, ...more] = directive.args
  if (from === undefined || first === undefined) {
    throw configError(directive, '"forward" needs a zone and at least one upstream')
  }
  if (more.length >= WORDS_MAX) {
    throw configError(directive, `${more.length + 1} upstreams, at most ${WORDS_MAX}`)
  }
  const upstreams = parseUpstreams([first, ...more], readText)
  const draft: Draft = {
    ...defaults(upstreams.length),
    from: parseZones(from.text, from)[0] ?? ROOT,
    upstreams,
    readOwn,
  }
  readOptions(directive, READERS, draft)
  return finish(draft, directive)
}

function defaults(upstreamCount: number): Omit<ForwardOptions, 'from' | 'upstreams'> {
  return {
    except: [],
    protocol: 'as-client',
    policy: 'random',
    failuresMax: 2,
    attemptsMax: 2 * upstreamCount,
    readTimeoutMs: 2000,
    healthCheckMs: 500,
    healthCheckName: ROOT,
    healthCheckRecurses: true,
    concurrentMax: 0,
    failsFast: false,
    failover: [],
    next: [],
    nextOnNodata: false,
    connections: {
      tls: {},
      expireMs: 10_000,
      ageMsMax: 0,
      idleMax: 0,
      dohMethod: 'POST',
      resolvers: [],
    },
  }
}

/** Checks and combines options that depend on each other. */
function finish(
  { serverName, token, readOwn: _, ...draft }: Draft,
  directive: Directive,
): ForwardOptions {
  const { ageMsMax, expireMs } = draft.connections
  if (ageMsMax > 0 && ageMsMax < expireMs) {
    throw configError(directive, `"max_age" must not be less than "expire", ${expireMs} ms`)
  }
  if (token !== undefined) {
    const others = draft.upstreams.filter(({ transport }) => transport !== 'https')
    if (others.length > 0) throw configError(directive, '"token" needs https:// upstreams only')
    draft.upstreams = draft.upstreams.map((one) => ({ ...one, token }))
  }
  if (serverName === undefined) return draft
  const named = draft.upstreams.find((one) => one.serverName !== undefined)
  if (named !== undefined) {
    const names = `"tls_servername ${serverName}" or "%${named.serverName}"`
    throw configError(directive, `two certificate names: leave out ${names}`)
  }
  const upstreams = draft.upstreams.map((one) =>
    one.transport === 'dns' ? one : { ...one, serverName },
  )
  return { ...draft, upstreams }
}

const READERS: Readonly<Record<string, Reader>> = {
  except: (option, draft) => {
    argTexts(option, 1, Infinity)
    const zones = option.args.flatMap((word) => parseZones(word.text, word))
    draft.except = [...draft.except, ...zones]
  },
  force_tcp: (option, draft) => {
    argTexts(option, 0)
    draft.protocol = 'tcp'
  },
  prefer_udp: (option, draft) => {
    argTexts(option, 0)
    if (draft.protocol !== 'tcp') draft.protocol = 'udp'
  },
  policy: (option, draft) => {
    draft.policy = parsePolicy(option)
  },
  max_fails: (option, draft) => {
    draft.failuresMax = parseCount(onlyWord(option), 0, COUNT_MAX)
  },
  max_connect_attempts: (option, draft) => {
    draft.attemptsMax = parseCount(onlyWord(option), 0, COUNT_MAX)
  },
  health_check: readHealthCheck,
  max_concurrent: (option, draft) => {
    draft.concurrentMax = parseCount(onlyWord(option), 0, COUNT_MAX)
  },
  read_timeout: (option, draft) => {
    draft.readTimeoutMs = parseDuration(onlyWord(option))
    if (draft.readTimeoutMs <= 0) throw configError(option, '"read_timeout" must be over 0')
  },
  expire: (option, draft) => {
    draft.connections = { ...draft.connections, expireMs: parseDuration(onlyWord(option)) }
  },
  max_age: (option, draft) => {
    draft.connections = { ...draft.connections, ageMsMax: parseDuration(onlyWord(option)) }
  },
  max_idle_conns: (option, draft) => {
    const idleMax = parseCount(onlyWord(option), 0, COUNT_MAX)
    draft.connections = { ...draft.connections, idleMax }
  },
  tls: (option, draft) => {
    draft.connections = { ...draft.connections, tls: tlsIdentity(option, draft.readOwn) }
  },
  tls_servername: (option, draft) => {
    draft.serverName = onlyWord(option).text
  },
  token: (option, draft) => {
    draft.token = readToken(onlyWord(option), draft.readOwn)
  },
  doh_method: (option, draft) => {
    const { text } = onlyWord(option)
    if (text !== 'GET' && text !== 'POST') throw configError(option, '"doh_method" is GET or POST')
    draft.connections = { ...draft.connections, dohMethod: text }
  },
  resolver: readResolvers,
  source_address: (option, draft) => {
    const { text: sourceAddress } = onlyWord(option)
    if (parseAddress(sourceAddress) === undefined) {
      throw configError(option, `"${sourceAddress}" is not an address`)
    }
    draft.connections = { ...draft.connections, sourceAddress }
  },
  failfast_all_unhealthy_upstreams: (option, draft) => {
    argTexts(option, 0)
    draft.failsFast = true
  },
  next: (option, draft) => {
    draft.next = [...draft.next, ...parseRcodes(option)]
  },
  next_on_nodata: (option, draft) => {
    argTexts(option, 0)
    draft.nextOnNodata = true
  },
  failover: (option, draft) => {
    const rcodes = parseRcodes(option)
    if (rcodes.includes(RCODE.NOERROR)) throw configError(option, '"failover" takes errors only')
    draft.failover = [...draft.failover, ...rcodes]
  },
}

/** Reads a file with the token of a kubedoh gateway. Errors never contain the token. */
function readToken(word: Word, readOwn: ReadText): string {
  const token = readOwn(word.text)?.trim()
  if (token === undefined) throw configError(word, `cannot read "${word.text}"`)
  if (/^[!-~]+$/.test(token)) return token
  throw configError(word, `"${word.text}" does not contain exactly one token`)
}

function parsePolicy(option: Option): Policy {
  const { text } = onlyWord(option)
  if (text === 'random' || text === 'round_robin' || text === 'sequential') return text
  throw configError(option, `"${text}" is not one of random, round_robin, sequential`)
}

function parseRcodes(option: Option): number[] {
  argTexts(option, 1, Infinity)
  return option.args.map((word) => {
    const rcode = parseRcode(word.text)
    if (rcode === undefined) throw configError(word, `"${word.text}" is not a response code`)
    return rcode
  })
}

/** Reads `DURATION [no_rec] [domain NAME]`. */
function readHealthCheck(option: Option, draft: Draft): void {
  argTexts(option, 1, 4)
  const [duration, ...words] = option.args
  if (duration !== undefined) draft.healthCheckMs = parseDuration(duration)
  draft.healthCheckName = ROOT
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (word?.text === 'no_rec') draft.healthCheckRecurses = false
    else if (word?.text === 'domain') {
      const name = parseName(words[++i]?.text.toLowerCase() ?? '')
      if (name === undefined) throw configError(word, '"domain" needs a domain name')
      draft.healthCheckName = name
    } else throw configError(word ?? option, `"health_check" has no option "${word?.text}"`)
  }
}

function readResolvers(option: Option, draft: Draft): void {
  argTexts(option, 1, Infinity)
  const resolvers = option.args.map((word) => {
    const resolver = parseResolver(word.text)
    if (resolver === undefined) throw configError(word, `"${word.text}" is not ADDRESS[:PORT]`)
    return resolver
  })
  draft.connections = { ...draft.connections, resolvers }
}
