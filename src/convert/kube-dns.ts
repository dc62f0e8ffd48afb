/**
 * From the ConfigMap of kube-dns, which CoreDNS came after, to the Corefile of kubeadm with the
 * same stub domains and upstreams (kubernetes.io, Customizing DNS Service).
 * @module
 */
import { isRecord } from '../bytes/unknown.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'

/** What the ConfigMap says. */
export type KubeDnsConfig = {
  /** Domains and the servers to ask for names below them. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>
  /** Servers to ask for all other names; none for those of /etc/resolv.conf. */
  readonly upstreams: readonly string[]
  readonly notices: readonly string[]
}

const KNOWN: ReadonlySet<string> = new Set(['stubDomains', 'upstreamNameservers', 'federations'])

/**
 * Converts the ConfigMap `kube-dns` among some documents.
 * @param settings `domain` of the cluster
 * @throws {ConversionError} when there is none, or when its JSON is not as it should be
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
 * Finds what a ConfigMap of kube-dns says; `undefined` when there is none.
 * @throws {ConversionError} when its JSON is not as it should be
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
        ? '"federations" has no equal: names of federations have no answers'
        : `"${key}" is not known, and is left out`,
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

/** Servers as `forward` takes them: addresses, with a port or without. */
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
