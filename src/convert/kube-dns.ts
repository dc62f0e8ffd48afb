/**
 * Converts the ConfigMap of kube-dns, CoreDNS's predecessor, to kubeadm's Corefile with the same
 * stub domains and upstreams (kubernetes.io, Customizing DNS Service).
 * @module
 */
import { isRecord } from '../bytes/unknown.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'

/** The content of the ConfigMap. */
export type KubeDnsConfig = {
  /** Domains and their upstreams. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>
  /** Upstreams of all other names; empty for those of /etc/resolv.conf. */
  readonly upstreams: readonly string[]
  readonly notices: readonly string[]
}

const KNOWN: ReadonlySet<string> = new Set(['stubDomains', 'upstreamNameservers', 'federations'])

/**
 * Converts the ConfigMap `kube-dns` in some documents.
 * @param settings `domain`: the cluster domain
 * @throws {ConversionError} if there is no such ConfigMap, or its JSON is invalid
 */
export function convertKubeDns(documents: readonly unknown[], settings: Settings): Conversion {
  const config = findKubeDns(documents)
  if (config === undefined) {
    throw new ConversionError(
      'no ConfigMap with stubDomains or upstreamNameservers; ' +
        '"kubectl -n kube-system get configmap kube-dns -o yaml" prints it',
    )
  }
  const { stubDomains, upstreams, notices } = config
  const domain = settings.take('domain') ?? 'cluster.local'
  const stubs = [...stubDomains].map(([zone, servers]): TextServer => {
    const forward = ['forward', '.', ...servers]
    return { head: [`${zone}:53`], lines: [['errors'], ['cache', '30'], ['loop'], forward] }
  })
  return { corefile: writeCorefile([mainBlock(domain, upstreams), ...stubs]), notices }
}

/**
 * Reads the ConfigMap of kube-dns; `undefined` if there is none.
 * @throws {ConversionError} if its JSON is invalid
 */
export function findKubeDns(documents: readonly unknown[]): KubeDnsConfig | undefined {
  for (const document of documents) {
    if (!isRecord(document) || document.kind !== 'ConfigMap') continue
    const { data = {}, metadata } = document
    if (!isRecord(data)) continue
    const isNamed = isRecord(metadata) && metadata.name === 'kube-dns'
    if (isNamed || Object.keys(data).some((key) => KNOWN.has(key))) return readData(data)
  }
  return undefined
}

function readData(data: Readonly<Record<string, unknown>>): KubeDnsConfig {
  const stubs = Object.entries(parseJson(data, 'stubDomains', {}, isRecord))
  const upstreams = parseJson(data, 'upstreamNameservers', [], Array.isArray)
  const notices = Object.keys(data)
    .filter((key) => key === 'federations' || !KNOWN.has(key))
    .map((key) =>
      key === 'federations'
        ? '"federations" has no equivalent: federation names get no answers'
        : `"${key}" is unknown; ignored`,
    )
  return {
    stubDomains: new Map(
      stubs.map(([zone, servers]) => [zone, texts(servers, `stubDomains: "${zone}"`)]),
    ),
    upstreams: texts(upstreams, 'upstreamNameservers'),
    notices,
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
    if (isRight(value)) return value
  } catch {
    throw new ConversionError(`${key} is not JSON`)
  }
  throw new ConversionError(`${key} is not ${Array.isArray(otherwise) ? 'a list' : 'an object'}`)
}

/** Returns a list of servers: addresses with or without a port, as for `forward`. */
function texts(value: unknown, where: string): string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) {
    return value
  }
  if (Array.isArray(value) && value.length === 0 && where === 'upstreamNameservers') return []
  throw new ConversionError(`${where} is not a list of servers`)
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
