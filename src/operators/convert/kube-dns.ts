/**
 * Converts the ConfigMap of kube-dns, CoreDNS's predecessor, to kubeadm's Corefile with the same
 * stub domains and upstreams (kubernetes.io, Customizing DNS Service).
 * @module
 */
import { isRecord, recordOf } from '../../dns/bytes/unknown.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { parseName } from '../../dns/names/name.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'
import { otherDocuments, watchObject, withoutEffect } from './watched-reads.ts'

/** The content of the ConfigMap. */
export type KubeDnsConfig = {
  /** Domains and their upstreams. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>
  /** Upstreams of all other names; empty for those of /etc/resolv.conf. */
  readonly upstreams: readonly string[]
  readonly notices: readonly string[]
  /** The ConfigMap. */
  readonly document: unknown
}

/** What differs between the readers of the ConfigMap. */
type ReadOptions = {
  /** Whether servers of stub domains may be hostnames: for kube-dns, not for NodeLocal DNSCache. */
  readonly takesHostnames: boolean
}

const KEYS: readonly string[] = ['stubDomains', 'upstreamNameservers', 'federations']
/** As kube-dns and NodeLocal DNSCache have it. */
const UPSTREAMS_MAX = 3
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
/** A name as Kubernetes has them (RFC 1123), in lower case. */
const HOSTNAME = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`)
const NO_FEDERATIONS = '"federations" has no equivalent: federation names get no answers'
/** Characters of a wrong value that a message quotes. */
const QUOTED_MAX = 60

/**
 * Converts the ConfigMap `kube-dns` in some documents.
 * @param settings `domain`: the cluster domain
 * @throws {ConversionError} if there is no such ConfigMap, or its JSON is invalid
 */
export function convertKubeDns(documents: readonly unknown[], settings: Settings): Conversion {
  const config = findKubeDns(documents, { takesHostnames: true })
  if (config === undefined) {
    throw new ConversionError(
      'no ConfigMap with stubDomains or upstreamNameservers; ' +
        '"kubectl -n kube-system get configmap kube-dns -o yaml" prints it',
    )
  }
  const { stubDomains, upstreams, document } = config
  const others = otherDocuments(documents, [document]).map(withoutEffect)
  const notices = [...config.notices, ...others]
  const domain = settings.take('domain') ?? 'cluster.local'
  const stubs = [...stubDomains].map(([zone, servers]): TextServer => {
    const forward = ['forward', '.', ...servers]
    const lines = [['errors'], ['cache', '30'], ['loop'], forward]
    return { head: [`${zone}:53`], lines, field: stubField(zone) }
  })
  return { ...writeCorefile([mainBlock(domain, upstreams), ...stubs]), notices }
}

/** Names a stub domain of the ConfigMap in messages. */
export function stubField(zone: string): string {
  return `stubDomains: "${zone}"`
}

/**
 * Reads the ConfigMap of kube-dns; `undefined` if there is none. Validates it as kube-dns and
 * NodeLocal DNSCache do before they use it (github.com/kubernetes/dns, pkg/dns/config/config.go).
 * @throws {ConversionError} with the key, for invalid JSON, a zone or a server
 */
export function findKubeDns(
  documents: readonly unknown[],
  options: ReadOptions = { takesHostnames: false },
): KubeDnsConfig | undefined {
  for (const document of documents) {
    if (!isRecord(document) || document.kind !== 'ConfigMap') continue
    const { data = {}, metadata } = document
    if (!isRecord(data)) continue
    const isNamed = isRecord(metadata) && metadata.name === 'kube-dns'
    if (isNamed || KEYS.some((key) => Object.hasOwn(data, key))) return read(document, options)
  }
  return undefined
}

function read(document: unknown, options: ReadOptions): KubeDnsConfig {
  const { value, unread } = watchObject(document)
  const data = recordOf(recordOf(value).data)
  const stubs = Object.entries(parseJson(data, 'stubDomains', {}, isRecord))
  const upstreams = parseJson(data, 'upstreamNameservers', [], Array.isArray)
  if (upstreams.length > UPSTREAMS_MAX) {
    const found = `has ${upstreams.length} servers, expected at most ${UPSTREAMS_MAX}`
    throw new ConversionError(`upstreamNameservers ${found}`)
  }
  const stubDomains = new Map(stubs.map(([zone, servers]) => readStub(zone, servers, options)))
  const hasFederations = (data.federations ?? '') !== ''
  return {
    stubDomains,
    upstreams: upstreams.length === 0 ? [] : readServers(upstreams, 'upstreamNameservers'),
    notices: [...(hasFederations ? [NO_FEDERATIONS] : []), ...unread().map(withoutEffect)],
    document,
  }
}

function parseJson<T>(
  data: Readonly<Record<string, unknown>>,
  key: string,
  otherwise: T,
  isRight: (value: unknown) => value is T,
): T {
  const text = data[key]
  if (text === undefined) return otherwise
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : text
    if (value === null) return otherwise
    if (isRight(value)) return value
  } catch {
    throw new ConversionError(`${key} is not JSON`)
  }
  throw new ConversionError(`${key} is not ${Array.isArray(otherwise) ? 'a list' : 'an object'}`)
}

function readStub(
  zone: string,
  servers: unknown,
  { takesHostnames }: ReadOptions,
): readonly [string, readonly string[]] {
  if (!HOSTNAME.test(zone) || parseName(zone) === undefined) {
    const wanted = 'a zone in lower case without a final dot'
    throw new ConversionError(`stubDomains: ${quoted(zone)} is not ${wanted}`)
  }
  return [zone, readServers(servers, stubField(zone), takesHostnames ? HOSTNAME : null)]
}

/** Reads a list of servers as arguments of `forward`. */
function readServers(value: unknown, where: string, hostname: RegExp | null = null): string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new ConversionError(`${where} is not a list of servers`)
  }
  return value.map((server: unknown) => {
    if (typeof server !== 'string') throw new ConversionError(`${where} is not a list of servers`)
    if (isServer(server) || hostname?.test(server)) return server
    const wanted = 'an address with or without a port'
    throw new ConversionError(`${where}: ${quoted(server)} is not ${wanted}`)
  })
}

function isServer(text: string): boolean {
  if (parseAddress(text) !== undefined) return true
  const [, bracketed, host = bracketed ?? '', port] =
    /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  return parseAddress(host) !== undefined && 0 < Number(port) && Number(port) < 65536
}

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text)
}

function mainBlock(domain: string, upstreams: readonly string[]): TextServer {
  const kubernetes: TextLine = {
    head: ['kubernetes', domain, 'in-addr.arpa', 'ip6.arpa'],
    lines: [
      ['pods', 'insecure'],
      ['fallthrough', 'in-addr.arpa', 'ip6.arpa'],
      ['ttl', '30'],
    ],
  }
  const forward: TextLine = {
    head: ['forward', '.', ...(upstreams.length === 0 ? ['/etc/resolv.conf'] : upstreams)],
    lines: [['max_concurrent', '1000']],
  }
  return {
    head: ['.:53'],
    lines: [
      ['errors'],
      { head: ['health'], lines: [['lameduck', '5s']] },
      ['ready'],
      kubernetes,
      ['prometheus', ':9153'],
      forward,
      ['cache', '30'],
      ['loop'],
      ['reload'],
      ['loadbalance'],
    ],
  }
}
