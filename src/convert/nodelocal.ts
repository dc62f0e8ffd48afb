/**
 * From NodeLocal DNSCache's template, its manifest and the ConfigMap of kube-dns to the Corefile
 * that `node-cache` makes of them (github.com/kubernetes/dns, cmd/node-cache/app/configmap.go;
 * github.com/kubernetes/kubernetes, cluster/addons/dns/nodelocaldns).
 * @module
 */
import { isRecord } from '../bytes/unknown.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextServer, writeCorefile } from './corefile-text.ts'
import { findKubeDns, type KubeDnsConfig } from './kube-dns.ts'

const LOCAL_ADDRESS = '169.254.20.10'
const DOMAIN = 'cluster.local'
const UPSTREAM_SERVICE = 'kube-dns-upstream'
const PLACE = /__PILLAR__((?:[A-Z]+__)+)/g
/** Flags of `node-cache` that a Corefile has no word for, and what does their work. */
const FLAGS_WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ['setupinterface', 'add the addresses to an interface of the node'],
  ['interfacename', 'add the addresses to an interface of the node'],
  ['setupiptables', 'add rules with NOTRACK for them, if connections are tracked'],
  ['setupebtables', 'add rules for them'],
  ['metrics-listen-address', 'there is no set-up of which it could tell'],
  ['skipteardown', 'nothing is set up that could be taken down'],
])

/** What the files hold. */
export type NodeLocalSource = {
  /** Corefiles, or templates of them. */
  readonly texts: readonly string[]
  /** Documents of YAML or JSON. */
  readonly documents: readonly unknown[]
}

type Context = NodeLocalSource & {
  readonly settings: Settings
  readonly flags: ReadonlyMap<string, string>
  readonly kubeDns: KubeDnsConfig | undefined
  readonly notices: string[]
}

/**
 * Puts values in the places of `__PILLAR__…__`, and adds stub domains.
 * @param settings `dns-domain`, `local-dns`, `dns-server`, `cluster-dns`, `upstream-servers`
 * @throws {ConversionError} when there is no template, or no value for a place
 */
export function convertNodeLocal(source: NodeLocalSource, settings: Settings): Conversion {
  const flags = findFlags(source.documents)
  const kubeDns = findKubeDns(source.documents)
  const notices = [...(kubeDns?.notices ?? [])]
  for (const [flag, instead] of FLAGS_WITHOUT_EQUAL) {
    if (flags.has(flag)) notices.push(`-${flag} has no equal: ${instead}`)
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
  const bound = unique([values.get('LOCAL__DNS') ?? '', ...localAddresses(flags)])
  const stubs = [...(kubeDns?.stubDomains ?? [])].map(([zone, servers]): TextServer => {
    const lines = [['errors'], ['cache', '30'], ['bind', ...bound], ['forward', '.', ...servers]]
    return { head: [`${zone}:53`], lines }
  })
  return { corefile: `${filled.trimEnd()}\n${writeCorefile(stubs)}`, notices }
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
      notices.push('no address of kube-dns is bound to; --set dns-server=IP adds it')
      return ''
    }
    case 'CLUSTER__DNS': {
      const service = flags.get('upstreamsvc') ?? UPSTREAM_SERVICE
      const address = settings.take('cluster-dns') ?? clusterIp(documents, service)
      if (address !== undefined) return address
      throw new ConversionError(
        `which address does Service ${service} have? Say --set cluster-dns=IP, or add a file ` +
          `with what "kubectl -n kube-system get service ${service} -o yaml" prints`,
      )
    }
    case 'UPSTREAM__SERVERS': {
      const upstreams = kubeDns?.upstreams.join(' ') ?? ''
      return settings.take('upstream-servers') ?? (upstreams || '/etc/resolv.conf')
    }
    default:
      throw new ConversionError(`"${word}" is no word of NodeLocal DNSCache`)
  }
}

/** Upstreams that were chosen are asked over UDP, also where the template has TCP. */
function overUdp(template: string, kubeDns: KubeDnsConfig | undefined): string {
  if (kubeDns === undefined || kubeDns.upstreams.length === 0) return template
  const overTcp = /(forward \. __PILLAR__UPSTREAM__SERVERS__) \{\s*force_tcp\s*\}/g
  return template.replace(overTcp, '$1')
}

function findTemplate({ texts, documents }: NodeLocalSource): string {
  const [text] = texts
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

/** The flags of `node-cache` in a DaemonSet, by name. */
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

/** Words that are there, each once; those that stand for others do not count. */
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
