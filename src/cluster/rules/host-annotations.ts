/**
 * The annotations of external-dns on objects with hostnames. Each may have any of several prefixes;
 * the values of all of them count.
 *
 * | annotation | meaning |
 * |---|---|
 * | `hostname` | more hostnames, separated by commas |
 * | `internal-hostname` | hostnames of a Service's cluster IP |
 * | `target` | addresses and hostnames, in place of the object's own |
 * | `ttl` | seconds, or a duration such as `10m` |
 * | `controller` | an object with another value than `dns-controller` is ignored |
 * | `access` | `public` or `private`: which addresses of Nodes a NodePort Service has |
 * | `ingress-hostname-source`, | `defined-hosts-only` or `annotation-only`: which hostnames |
 * | `gateway-hostname-source` | count; all by default |
 * @module
 */
import type { Labels } from '../objects/objects.ts'

/** What an object's annotations say. */
export type HostAnnotations = {
  /** In lower case. */
  readonly hostnames: readonly string[]
  readonly internalHostnames: readonly string[]
  /** Empty to keep the object's own. */
  readonly targets: readonly string[]
  /** `undefined` for the TTL of the directive. */
  readonly ttlSeconds: number | undefined
  /** Whether another controller handles the object. */
  readonly isForeign: boolean
  readonly access: string
  /** Whether the hostnames in the object itself count. */
  readonly takesOwn: boolean
  /** What is wrong, for a warning. */
  readonly problems: readonly string[]
}

const CONTROLLER = 'dns-controller'
const TTL_SECONDS_MAX = 2 ** 31 - 1
const DURATION = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/

/** Reads annotations with some prefixes, each with its slash. */
export function readAnnotations(annotations: Labels, prefixes: readonly string[]): HostAnnotations {
  const values = (name: string): string[] =>
    prefixes.flatMap((prefix) => annotations.get(`${prefix}${name}`) ?? [])
  const sources = [...values('ingress-hostname-source'), ...values('gateway-hostname-source')]
  const isOnly = (text: string): boolean => sources.some((one) => one.toLowerCase() === text)
  const [ttl] = values('ttl')
  const ttlSeconds = ttl === undefined ? undefined : parseSeconds(ttl)
  const isWrong = ttl !== undefined && ttlSeconds === undefined
  return {
    hostnames: isOnly('defined-hosts-only') ? [] : listOf(values('hostname')),
    internalHostnames: listOf(values('internal-hostname')),
    targets: listOf(values('target')),
    ttlSeconds,
    isForeign: values('controller').some((one) => one !== CONTROLLER),
    access: values('access')[0] ?? '',
    takesOwn: !isOnly('annotation-only'),
    problems: isWrong ? [`ttl "${ttl}" is not a number of seconds or a duration`] : [],
  }
}

/** Returns the items of lists, in lower case, without a final dot. */
function listOf(texts: readonly string[]): string[] {
  const items = texts.flatMap((text) => text.toLowerCase().split(','))
  const names = items.map((item) => item.trim().replace(/\.$/, ''))
  return [...new Set(names)].filter((item) => item !== '')
}

/** Returns the seconds of a number or duration; `undefined` for anything else, and for 0. */
function parseSeconds(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds = '0'] = DURATION.exec(text) ?? []
  const isNumber = /^\d+$/.test(text)
  const total = isNumber
    ? Number(text)
    : 3600 * Number(hours) + 60 * Number(minutes) + Number(seconds)
  return total > 0 && total <= TTL_SECONDS_MAX ? total : undefined
}
