/**
 * The `forward` directive's options (github.com/coredns/coredns, plugin/forward/setup.go).
 * @module
 */
import {
  argTexts,
  type Option,
  options,
  parseCount,
  parseDuration,
  unknownOption,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseZones } from '../../corefile/zone-key.ts'
import { parseAddress } from '../../dns/address.ts'
import { parseName, ROOT } from '../../dns/name.ts'
import type { Upstream } from '../host.ts'

/** In which order upstreams are tried. */
export type Policy = 'random' | 'round_robin' | 'sequential'

/** What a `forward` directive says. */
export type ForwardOptions = {
  readonly from: Uint8Array
  readonly upstreams: readonly Upstream[]
  readonly except: readonly Uint8Array[]
  readonly protocol: 'as-asked' | 'udp' | 'tcp'
  readonly policy: Policy
  /** Failures in a row after which an upstream counts as down; 0 for never. */
  readonly failuresMax: number
  readonly healthCheckMs: number
  readonly healthCheckName: Uint8Array
  readonly healthCheckRecurses: boolean
  /** Queries at a time, 0 for any number. */
  readonly concurrentMax: number
  readonly failsFast: boolean
}

const UPSTREAMS_MAX = 15
const PORT_DEFAULT = 53
const FAILURES_MAX_DEFAULT = 2
const HEALTH_CHECK_MS_DEFAULT = 500
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])
const KNOWN = [
  'except',
  'force_tcp',
  'prefer_udp',
  'policy',
  'max_fails',
  'health_check',
  'max_concurrent',
  'expire',
  'failfast_all_unhealthy_upstreams',
]

type Draft = { -readonly [Key in keyof ForwardOptions]: ForwardOptions[Key] }

/**
 * Reads `forward FROM TO… { … }`.
 * @param readText reads files that list name servers, such as /etc/resolv.conf
 * @throws {ConfigError} with the place of what is wrong
 */
export function parseForward(
  directive: Directive,
  readText: (path: string) => string | undefined,
): ForwardOptions {
  const [from, ...to] = directive.args
  if (from === undefined || to.length === 0) {
    throw configError(directive, '"forward" needs a zone and at least one upstream')
  }
  const upstreams = to.flatMap((word) => parseUpstream(word, readText))
  if (upstreams.length > UPSTREAMS_MAX) {
    throw configError(directive, `${upstreams.length} upstreams, at most ${UPSTREAMS_MAX}`)
  }
  const draft: Draft = {
    from: parseZones(from.text, from)[0] ?? ROOT,
    upstreams,
    except: [],
    protocol: 'as-asked',
    policy: 'random',
    failuresMax: FAILURES_MAX_DEFAULT,
    healthCheckMs: HEALTH_CHECK_MS_DEFAULT,
    healthCheckName: ROOT,
    healthCheckRecurses: true,
    concurrentMax: 0,
    failsFast: false,
  }
  for (const option of options(directive)) readOption(option, draft)
  return draft
}

function readOption(option: Option, draft: Draft): void {
  switch (option.name) {
    case 'except':
      argTexts(option, 1, Infinity)
      draft.except = [
        ...draft.except,
        ...option.args.flatMap((word) => parseZones(word.text, word)),
      ]
      return
    case 'force_tcp':
      argTexts(option, 0)
      draft.protocol = 'tcp'
      return
    case 'prefer_udp':
      argTexts(option, 0)
      if (draft.protocol !== 'tcp') draft.protocol = 'udp'
      return
    case 'policy':
      draft.policy = parsePolicy(option)
      return
    case 'max_fails':
      draft.failuresMax = parseCount(onlyArg(option), 0, 0xffffffff)
      return
    case 'health_check':
      readHealthCheck(option, draft)
      return
    case 'max_concurrent':
      draft.concurrentMax = parseCount(onlyArg(option), 0, 0xffffffff)
      return
    case 'expire':
      parseDuration(onlyArg(option))
      return
    case 'failfast_all_unhealthy_upstreams':
      argTexts(option, 0)
      draft.failsFast = true
      return
    default:
      throw unknownOption('forward', option, KNOWN)
  }
}

function onlyArg(option: Option): Word {
  argTexts(option, 1)
  const [word] = option.args
  return word ?? { ...option, text: '' }
}

function parsePolicy(option: Option): Policy {
  const { text } = onlyArg(option)
  if (text === 'random' || text === 'round_robin' || text === 'sequential') return text
  throw configError(option, `"${text}" is not one of random, round_robin, sequential`)
}

/** `DURATION [no_rec] [domain NAME]` */
function readHealthCheck(option: Option, draft: Draft): void {
  argTexts(option, 1, 4)
  const [duration, ...words] = option.args
  if (duration !== undefined) draft.healthCheckMs = parseDuration(duration)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (word?.text === 'no_rec') draft.healthCheckRecurses = false
    else if (word?.text === 'domain') {
      const name = parseName(words[++i]?.text ?? '')
      if (name === undefined) throw configError(word, '"domain" needs a domain name')
      draft.healthCheckName = name
    } else throw configError(word ?? option, `"health_check" has no option "${word?.text}"`)
  }
}

function parseUpstream(word: Word, readText: (path: string) => string | undefined): Upstream[] {
  const { text } = word
  if (/^https?:\/\//.test(text)) return [parseUrl(word)]
  if (text.startsWith('tls://')) {
    throw configError(word, `"${text}": upstreams over TLS are not supported yet; use https://`)
  }
  const plain = plainUpstream(text.replace(/^dns:\/\//, ''))
  if (plain !== undefined) return [plain]
  const file = readText(text)
  if (file === undefined) {
    throw configError(word, `"${text}" is neither ADDRESS[:PORT], https://…, nor a file`)
  }
  const listed = nameServers(file)
  if (listed.length === 0) throw configError(word, `"${text}" lists no nameserver`)
  return listed
}

/** Plain HTTP is for trying things out on one machine only (RFC 8484 §5). */
function parseUrl(word: Word): Upstream {
  const url = URL.parse(word.text)
  if (url === null) throw configError(word, `"${word.text}" is not a URL`)
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    throw configError(word, `"${word.text}": DNS over HTTP needs https:// beyond this machine`)
  }
  if (url.pathname === '/') url.pathname = '/dns-query'
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { transport: 'https', address: url.hostname, port, url: url.href }
}

function plainUpstream(text: string): Upstream | undefined {
  const [, bracketed, host = bracketed ?? text, port] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const address = parseAddress(host) === undefined ? undefined : host
  const number = Number(port ?? PORT_DEFAULT)
  if (address === undefined || number < 1 || number > 65535) return undefined
  return { transport: 'dns', address, port: number }
}

/** Reads the `nameserver` lines of a resolv.conf(5). */
function nameServers(text: string): Upstream[] {
  return text.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+([^\s#;]+)/.exec(line)?.[1]
    const upstream = address === undefined ? undefined : plainUpstream(address.replace(/%.*/, ''))
    return upstream === undefined ? [] : [upstream]
  })
}
