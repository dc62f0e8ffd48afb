/**
 * The `forward` directive's options (github.com/coredns/coredns, plugin/forward/setup.go).
 * @module
 */

import {
  argTexts,
  flag,
  type Option,
  type OptionReaders,
  onlyWord,
  parseChoice,
  parseCount,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseZones } from '../../../corefile/zone-key.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { parseName, ROOT } from '../../../dns/names/name.ts'
import { parseRcode, RCODE } from '../../../dns/names/rcode.ts'
import type { Upstream, UpstreamOptions } from '../../contract/host.ts'
import { wrongRcode } from '../../plugin-kit/rcode-words.ts'
import { readNamedFile, tlsIdentity } from '../../plugin-kit/tls-files.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'
import {
  type NamedUpstreams,
  parseResolver,
  parseUpstreams,
  type UpstreamFile,
} from './upstreams.ts'

/** The order in which to try upstreams. */
export type Policy = 'random' | 'round_robin' | 'sequential'

/** The options of a `forward` directive. */
export type ForwardOptions = {
  /** The plugin that has the directive. */
  readonly plugin: 'forward' | 'grpc'
  readonly from: Uint8Array
  readonly upstreams: readonly Upstream[]
  /** Files that list upstreams. */
  readonly files: readonly UpstreamFile[]
  readonly except: readonly Uint8Array[]
  readonly protocol: 'as-client' | 'udp' | 'tcp'
  readonly policy: Policy
  /** Consecutive failures after which an upstream counts as down; 0 for never. */
  readonly failuresMax: number
  /** Failed attempts for one query; 0 for as many as its time allows. */
  readonly attemptsMax: number
  readonly readTimeoutMs: number
  /** Time after which a second upstream gets the query; absent for never. */
  readonly hedgeMs?: number
  /** Whether queries over UDP have random letter case. */
  readonly mixesCase: boolean
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
  /** Zones of which `grpc` passes NXDOMAIN and failures to the next plugin; absent for none. */
  readonly fallthrough?: Fallthrough
  readonly connections: Omit<UpstreamOptions, 'onConnection'>
}

/** Arguments that name upstreams. */
const WORDS_MAX = 15
const COUNT_MAX = 0xffffffff

/** Options while they are read. */
export type Draft = { -readonly [Key in keyof ForwardOptions]: ForwardOptions[Key] } & {
  serverName?: string
  token?: string
  /** Reads certificate files. */
  readonly readOwn: ReadText
}
/** Reads a file; `undefined` if it does not exist. */
export type ReadText = (path: string) => string | undefined

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
  const draft = draftOf(directive, 'forward', { readText, readOwn })
  readOptions(directive, FORWARD_OPTIONS, draft)
  return finish(draft, directive)
}

/**
 * Reads the arguments of a directive, `FROM TO…`, and sets the defaults of its options.
 * @throws {ConfigError} with the position of the mistake
 */
export function draftOf(
  directive: Directive,
  plugin: ForwardOptions['plugin'],
  { readText, readOwn }: { readonly readText: ReadText; readonly readOwn: ReadText },
): Draft {
  const [from, first, ...more] = directive.args
  if (from === undefined || first === undefined) {
    throw configError(directive, `"${plugin}" needs a zone and at least one upstream`)
  }
  if (more.length >= WORDS_MAX) {
    throw configError(directive, `${more.length + 1} upstreams, at most ${WORDS_MAX}`)
  }
  const named = parseUpstreams([first, ...more], readText)
  return {
    ...defaults(named.upstreams.length),
    ...named,
    plugin,
    from: parseZones(from.text, from)[0] ?? ROOT,
    readOwn,
  }
}

function defaults(
  upstreamCount: number,
): Omit<ForwardOptions, 'plugin' | 'from' | keyof NamedUpstreams> {
  return {
    except: [],
    protocol: 'as-client',
    policy: 'random',
    failuresMax: 2,
    attemptsMax: 2 * upstreamCount,
    readTimeoutMs: 2000,
    mixesCase: false,
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

/** Parsers of the options of `forward`. */
export const FORWARD_OPTIONS: OptionReaders<Draft> = {
  except: (option, draft) => {
    argTexts(option, 1, Infinity)
    const zones = option.args.flatMap((word) => parseZones(word.text, word))
    draft.except = [...draft.except, ...zones]
  },
  force_tcp: (option) => ({ protocol: flag(option) && 'tcp' }),
  prefer_udp: (option, draft) => {
    argTexts(option, 0)
    if (draft.protocol !== 'tcp') draft.protocol = 'udp'
  },
  policy: (option) => ({
    policy: parseChoice(onlyWord(option), ['random', 'round_robin', 'sequential']),
  }),
  max_fails: (option) => ({ failuresMax: parseCount(onlyWord(option), 0, COUNT_MAX) }),
  max_connect_attempts: (option) => ({ attemptsMax: parseCount(onlyWord(option), 0, COUNT_MAX) }),
  health_check: readHealthCheck,
  max_concurrent: (option) => ({ concurrentMax: parseCount(onlyWord(option), 0, COUNT_MAX) }),
  read_timeout: (option) => {
    const readTimeoutMs = parseDuration(onlyWord(option))
    if (readTimeoutMs > 0) return { readTimeoutMs }
    throw configError(option, '"read_timeout" must be over 0')
  },
  hedge: (option, { upstreams, files }) => {
    const hedgeMs = parseDuration(onlyWord(option))
    if (hedgeMs <= 0) throw configError(option, '"hedge" must be over 0')
    if (upstreams.length > 1 || files.length > 0) return { hedgeMs }
    throw configError(option, '"hedge" needs at least two upstreams')
  },
  random_case: (option) => ({ mixesCase: flag(option) }),
  expire: connection((option) => ({ expireMs: parseDuration(onlyWord(option)) })),
  max_age: connection((option) => ({ ageMsMax: parseDuration(onlyWord(option)) })),
  max_idle_conns: connection((option) => ({ idleMax: parseCount(onlyWord(option), 0, COUNT_MAX) })),
  tls: connection((option, { readOwn }) => ({ tls: tlsIdentity(option, readOwn) })),
  tls_servername: (option) => ({ serverName: onlyWord(option).text }),
  token: (option, { readOwn }) => ({ token: readToken(onlyWord(option), readOwn) }),
  doh_method: connection((option) => {
    return { dohMethod: parseChoice(onlyWord(option), ['GET', 'POST']) }
  }),
  resolver: connection(readResolvers),
  source_address: connection((option) => {
    const { text: sourceAddress } = onlyWord(option)
    if (parseAddress(sourceAddress) !== undefined) return { sourceAddress }
    throw configError(option, `"${sourceAddress}" is not an address`)
  }),
  failfast_all_unhealthy_upstreams: (option) => ({ failsFast: flag(option) }),
  next: (option, { next }) => ({ next: [...next, ...parseRcodes(option)] }),
  next_on_nodata: (option) => ({ nextOnNodata: flag(option) }),
  failover: (option, draft) => {
    const rcodes = parseRcodes(option)
    if (rcodes.includes(RCODE.NOERROR)) throw configError(option, '"failover" takes errors only')
    draft.failover = [...draft.failover, ...rcodes]
  },
}

/** Reads a file with the token of a kubedoh gateway. Errors never contain the token. */
function readToken(word: Word, readOwn: ReadText): string {
  const token = readNamedFile(word, readOwn).trim()
  if (/^[!-~]+$/.test(token)) return token
  throw configError(word, `"${word.text}" does not contain exactly one token`)
}

/** Returns the parser of an option of the upstreams' connections. */
function connection(
  read: (option: Option, draft: Draft) => Partial<Draft['connections']>,
): (option: Option, draft: Draft) => Partial<Draft> {
  return (option, draft) => ({ connections: { ...draft.connections, ...read(option, draft) } })
}

function parseRcodes(option: Option): number[] {
  argTexts(option, 1, Infinity)
  return option.args.map((word) => {
    const rcode = parseRcode(word.text)
    if (rcode === undefined) throw wrongRcode(word)
    return rcode
  })
}

/** Reads `DURATION [no_rec] [domain NAME]`. */
function readHealthCheck(option: Option, draft: Draft): undefined {
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

function readResolvers(option: Option): Pick<UpstreamOptions, 'resolvers'> {
  argTexts(option, 1, Infinity)
  const resolvers = option.args.map((word) => {
    const resolver = parseResolver(word.text)
    if (resolver === undefined) throw configError(word, `"${word.text}" is not ADDRESS[:PORT]`)
    return resolver
  })
  return { resolvers }
}
