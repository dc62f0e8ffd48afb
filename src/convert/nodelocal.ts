/**
 * Converts NodeLocal DNSCache's template, its manifest and the ConfigMap of kube-dns to the
 * Corefile that `node-cache` generates (github.com/kubernetes/dns, cmd/node-cache/app/configmap.go;
 * github.com/kubernetes/kubernetes, cluster/addons/dns/nodelocaldns).
 * @module
 */
import { isRecord } from '../bytes/unknown.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextServer, writeCorefile } from './corefile-text.ts'
import { findKubeDns, type KubeDnsConfig, stubField } from './kube-dns.ts'

const LOCAL_ADDRESS = '169.254.20.10'
const DOMAIN = 'cluster.local'
const UPSTREAM_SERVICE = 'kube-dns-upstream'
const PLACE = /__PILLAR__((?:[A-Z]+__)+)/g
/** Flags of `node-cache` without an equivalent in a Corefile, and what to do instead. */
const FLAGS_WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ['setupinterface', 'pass it to kubedoh node-cache'],
  ['interfacename', 'pass it to kubedoh node-cache'],
  ['setupiptables', 'pass it to kubedoh node-cache'],
  ['setupebtables', 'add ebtables rules for the addresses'],
  ['metrics-listen-address', 'pass it to kubedoh node-cache'],
  ['skipteardown', 'pass it to kubedoh node-cache'],
])

/** The files to convert. */
export type NodeLocalSource = {
  /** Corefiles, or Corefile templates. */
  readonly texts: readonly string[]
  /** YAML or JSON documents. */
  readonly documents: readonly unknown[]
}

type Context = NodeLocalSource & {
  readonly settings: Settings
  readonly flags: ReadonlyMap<string, string>
  readonly kubeDns: KubeDnsConfig | undefined
  readonly notices: string[]
}

/**
 * Replaces the placeholders `__PILLAR__…__` and adds server blocks for stub domains.
 * @param settings `dns-domain`, `local-dns`, `dns-server`, `cluster-dns`, `upstream-servers`
 * @throws {ConversionError} if there is no template, or no value for a placeholder
 */
export function convertNodeLocal(source: NodeLocalSource, settings: Settings): Conversion {
  const flags = findFlags(source.documents)
  const kubeDns = findKubeDns(source.documents)
  const notices = [...(kubeDns?.notices ?? [])]
  for (const [flag, instead] of FLAGS_WITHOUT_EQUAL) {
    if (flags.has(flag)) notices.push(`-${flag} has no equivalent: ${instead}`)
  }
  const context = { ...source, settings, flags, kubeDns, notices }
  const values = new Map<string, string>()
  const fill = (word: string, name: string): string => {
    const value = values.get(name) ?? valueFor(word, name, context)
    values.set(name, value)
    return value
  }
  const template = overUdp(findTemplate(source), kubeDns)
  const filled = template.replace(PLACE, (word, name: string) => fill(word, name.slice(0, -2)))
  const local = values.get('LOCAL__DNS') ?? settings.take('local-dns') ?? ''
  const bound = unique([...local.split(' '), ...localAddresses(flags)])
  const port = settings.take('dns-port') ?? '53'
  const stubs = [...(kubeDns?.stubDomains ?? [])].map(([zone, servers]): TextServer => {
    const lines = [['errors'], ['cache', '30'], ['bind', ...bound], ['forward', '.', ...servers]]
    return { head: [`${zone}:${port}`], lines, field: stubField(zone) }
  })
  return { ...writeCorefile(stubs, `${filled.trimEnd()}\n`), notices }
}

function valueFor(word: string, name: string, context: Context): string {
  const { settings, flags, kubeDns, documents, notices } = context
  switch (name) {
    case 'DNS__DOMAIN':
      return settings.take('dns-domain') ?? DOMAIN
    case 'LOCAL__DNS':
      return settings.take('local-dns') ?? localAddresses(flags)[0] ?? LOCAL_ADDRESS
    case 'DNS__SERVER': {
      const [, second] = localAddresses(flags)
      const server = settings.take('dns-server') ?? second ?? clusterIp(documents, 'kube-dns')
      if (server !== undefined) return server
      notices.push('"bind" lacks the address of Service kube-dns; add it with --set dns-server=IP')
      return ''
    }
    case 'CLUSTER__DNS': {
      const service = flags.get('upstreamsvc') ?? UPSTREAM_SERVICE
      const address = settings.take('cluster-dns') ?? clusterIp(documents, service)
      if (address !== undefined) return address
      throw new ConversionError(
        `the address of Service ${service} is unknown; pass --set cluster-dns=IP, or add the ` +
          `output of "kubectl -n kube-system get service ${service} -o yaml" as a file`,
      )
    }
    case 'UPSTREAM__SERVERS': {
      const upstreams = kubeDns?.upstreams.join(' ') ?? ''
      return settings.take('upstream-servers') ?? (upstreams || '/etc/resolv.conf')
    }
    default:
      throw new ConversionError(`"${word}" is not a placeholder of NodeLocal DNSCache`)
  }
}

/** Removes `force_tcp` if upstreams are configured, as node-cache does. */
function overUdp(template: string, kubeDns: KubeDnsConfig | undefined): string {
  if (kubeDns === undefined || kubeDns.upstreams.length === 0) return template
  const overTcp = /(forward \. __PILLAR__UPSTREAM__SERVERS__) \{\s*force_tcp\s*\}/g
  return template.replace(overTcp, '$1')
}

function findTemplate({ texts, documents }: NodeLocalSource): string {
  const text = texts.find((one) => one.trim() !== '')
  if (text !== undefined) return text
  for (const document of documents) {
    const data = isRecord(document) ? document.data : undefined
    if (!isRecord(data)) continue
    const template = data['Corefile.base'] ?? data.Corefile
    if (typeof template === 'string') return template
  }
  throw new ConversionError(
    'no Corefile, and no ConfigMap with one; ' +
      '"kubectl -n kube-system get configmap node-local-dns -o yaml" prints it',
  )
}

/** Returns the flags of `node-cache` in a DaemonSet by name. */
function findFlags(documents: readonly unknown[]): Map<string, string> {
  const flags = new Map<string, string>()
  const words = documents.flatMap(containerArgs)
  for (const [i, word] of words.entries()) {
    const [, name, value] = /^--?([a-z-]+)(?:=(.*))?$/.exec(word) ?? []
    if (name === undefined) continue
    const next = words[i + 1] ?? ''
    flags.set(name, value ?? (next.startsWith('-') ? 'true' : next))
  }
  return flags
}

function containerArgs(document: unknown): string[] {
  if (!isRecord(document) || document.kind !== 'DaemonSet') return []
  const containers = at(document, ['spec', 'template', 'spec', 'containers'])
  if (!Array.isArray(containers)) return []
  return containers.flatMap((container: unknown) => {
    const args = at(container, ['args'])
    return Array.isArray(args) ? args.map(String) : []
  })
}

function localAddresses(flags: ReadonlyMap<string, string>): string[] {
  return unique((flags.get('localip') ?? '').split(','))
}

/** Removes duplicates, empty words and placeholders. */
function unique(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => word !== '' && !word.startsWith('__PILLAR__'))
}

function clusterIp(documents: readonly unknown[], service: string): string | undefined {
  for (const document of documents) {
    const isService = at(document, ['kind']) === 'Service'
    const address = at(document, ['spec', 'clusterIP'])
    if (!isService || at(document, ['metadata', 'name']) !== service) continue
    if (typeof address === 'string' && address !== 'None') return address
  }
  return undefined
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}
