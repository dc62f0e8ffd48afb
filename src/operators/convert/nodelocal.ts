/**
 * Converts NodeLocal DNSCache's template, its manifest and the ConfigMap of kube-dns to the
 * Corefile that `node-cache` generates (github.com/kubernetes/dns, cmd/node-cache/app/configmap.go;
 * github.com/kubernetes/kubernetes, cluster/addons/dns/nodelocaldns).
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextServer, writeCorefile } from './corefile-text.ts'
import { findKubeDns, type KubeDnsConfig, stubField } from './kube-dns.ts'
import { fieldsWithoutEffect, objectName, watchObject, withoutEffect } from './watched-reads.ts'

const LOCAL_ADDRESS = '169.254.20.10'
const DOMAIN = 'cluster.local'
const UPSTREAM_SERVICE = 'kube-dns-upstream'
const PLACE = /__PILLAR__((?:[A-Z]+__)+)/g
/** Flags of `node-cache` without an equivalent in a Corefile, and what to do instead. */
const FLAGS_WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ...(
    'setupinterface interfacename setupiptables metrics-listen-address skipteardown conf ' +
    'basecorefile corefile kubednscm health-port syncinterval pidfile'
  )
    .split(' ')
    .map((flag) => [flag, 'pass it to kubedoh node-cache'] as const),
  ['setupebtables', 'add ebtables rules for the addresses'],
])
/** Flags that are read. */
const FLAGS_READ: ReadonlySet<string> = new Set(['localip', 'upstreamsvc', 'dns.port'])

/** The files to convert. */
export type NodeLocalSource = {
  /** Corefiles, or Corefile templates. */
  readonly texts: readonly string[]
  /** YAML or JSON documents. */
  readonly documents: readonly unknown[]
}

type Context = NodeLocalSource & {
  readonly settings: Settings
  readonly flags: Flags
  readonly kubeDns: KubeDnsConfig | undefined
  readonly notices: string[]
}

/**
 * Replaces the placeholders `__PILLAR__…__` and adds server blocks for stub domains.
 * @param settings `dns-domain`, `local-dns`, `dns-server`, `cluster-dns`, `upstream-servers`
 * @throws {ConversionError} if there is no template, or no value for a placeholder
 */
export function convertNodeLocal(source: NodeLocalSource, settings: Settings): Conversion {
  const watched = source.documents.map(watchObject)
  const documents = watched.map(({ value }) => value)
  const { flags, loose } = findFlags(documents)
  const kubeDns = findKubeDns(source.documents)
  const notices = [...(kubeDns?.notices ?? []), ...flagNotices(flags, loose)]
  const context = { texts: source.texts, documents, settings, flags, kubeDns, notices }
  const values = new Map<string, string>()
  const fill = (word: string, name: string): string => {
    const value = values.get(name) ?? valueFor(word, name, context)
    values.set(name, value)
    return value
  }
  const template = overUdp(findTemplate(context), kubeDns)
  const filled = template.replace(PLACE, (word, name: string) => fill(word, name.slice(0, -2)))
  const local = values.get('LOCAL__DNS') ?? settings.take('local-dns') ?? ''
  const bound = unique([...local.split(' '), ...localAddresses(flags)])
  const port = settings.take('dns-port') ?? flags.get('dns.port') ?? '53'
  const stubs = [...(kubeDns?.stubDomains ?? [])].map(([zone, servers]): TextServer => {
    const lines = [['errors'], ['cache', '30'], ['bind', ...bound], ['forward', '.', ...servers]]
    return { head: [`${zone}:${port}`], lines, field: stubField(zone) }
  })
  for (const [i, document] of source.documents.entries()) {
    if (document === kubeDns?.document) continue
    notices.push(...droppedOf(document, watched[i]?.unread() ?? []))
  }
  return { ...writeCorefile(stubs, `${filled.trimEnd()}\n`), notices }
}

/** Returns the notices of a document: the parts of it that were not read. */
function droppedOf(document: unknown, fields: readonly string[]): string[] {
  if (!isRecord(document) || Object.keys(document).length === 0) return []
  const own = ['spec', 'data'].filter((field) => document[field] !== undefined)
  const isUsed = own.some((field) => !fields.includes(field))
  if (isUsed) return fieldsWithoutEffect(document, fields)
  return [withoutEffect(objectName(document))]
}

function flagNotices(flags: Flags, loose: readonly string[]): string[] {
  const dropped = [...flags.keys()].filter((flag) => !FLAGS_READ.has(flag))
  return [
    ...dropped.map((flag) => {
      const instead = FLAGS_WITHOUT_EQUAL.get(flag)
      if (instead === undefined) return withoutEffect(`-${flag}`)
      return `-${flag} has no equivalent: ${instead}`
    }),
    ...loose.map((word) => withoutEffect(`argument ${JSON.stringify(word)}`)),
  ]
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

function findTemplate({ texts, documents, notices }: Context): string {
  const own = texts.filter((one) => one.trim() !== '')
  if (own.length > 1) notices.push(`only the first of ${own.length} Corefiles is converted`)
  if (own[0] !== undefined) return own[0]
  for (const document of documents) {
    const data = at(document, ['data'])
    if (!isRecord(data)) continue
    const template = data['Corefile.base'] ?? data.Corefile
    if (typeof template === 'string') return template
  }
  throw new ConversionError(
    'no Corefile, and no ConfigMap with one; ' +
      '"kubectl -n kube-system get configmap node-local-dns -o yaml" prints it',
  )
}

/** Flags of `node-cache` by name, without their dashes. */
type Flags = ReadonlyMap<string, string>

/** Returns the flags of `node-cache` in a DaemonSet, and the other words among its arguments. */
function findFlags(documents: readonly unknown[]): {
  readonly flags: Flags
  readonly loose: readonly string[]
} {
  const flags = new Map<string, string>()
  const loose: string[] = []
  const words = documents.flatMap(containerArgs)
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    const [, name, value] = /^--?([a-z][a-z.-]*)(?:=(.*))?$/s.exec(word) ?? []
    const next = words[i + 1]
    const takesNext = value === undefined && next !== undefined && !next.startsWith('-')
    if (name === undefined) loose.push(word)
    else flags.set(name, value ?? (takesNext ? next : 'true'))
    if (name !== undefined && takesNext) i++
  }
  return { flags, loose }
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

/** @throws {ConversionError} for another value than addresses and placeholders */
function localAddresses(flags: Flags): string[] {
  const words = unique((flags.get('localip') ?? '').split(',').map((word) => word.trim()))
  const wrong = words.find((word) => parseAddress(word) === undefined)
  if (wrong === undefined) return words
  throw new ConversionError(`-localip ${JSON.stringify(wrong)} is not an address`)
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
