/**
 * Checks of `kubedoh doctor` on the network: the DNS server, its upstreams, and search lists.
 * @module
 */
import { causeText } from '../../dns/bytes/unknown.ts'
import { nameOf, parseName, ROOT } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { formatType, TYPE } from '../../dns/names/rr-type.ts'
import { parseResponse, type Response } from '../../dns/wire/message.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import type { Upstream } from '../../resolver/contract/host.ts'
import { type ForwardOptions, parseForward } from '../../resolver/plugins/forward/options.ts'
import { random16 } from '../../server/keys/random16.ts'
import type { LoadedCorefile } from '../../server/node/load-corefile.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { exchange } from '../../server/upstream/exchange.ts'
import { type Finding, note, ok, problem } from './doctor-findings.ts'

/** A server of plain DNS. */
export type PlainServer = { readonly address: string; readonly port: number }

const TIMEOUT_MS = 3000
const { A, AAAA, NS } = TYPE
/** `ndots` and search domains from which on external names cost many queries. */
const COSTLY = { ndots: 2, search: 2 }

/** Checks that a DNS server answers the cluster's names over UDP and TCP, for both families. */
export async function checkServer(server: PlainServer, domain: string): Promise<Finding[]> {
  const name = `kubernetes.default.svc.${domain}.`
  const wire = parseName(name) ?? nameOf(name)
  const label = labelOf(server)
  const findings: Finding[] = []
  for (const protocol of ['udp', 'tcp'] as const) {
    const found = await askOne({ transport: 'dns', ...server }, { name: wire, type: A, protocol })
    findings.push(describeAnswer(found, `${label} over ${protocol.toUpperCase()}`, `${name} A`))
  }
  const aaaa = await askOne(
    { transport: 'dns', ...server },
    { name: wire, type: AAAA, protocol: 'udp' },
  )
  const isFine = typeof aaaa !== 'string' && aaaa.rcode === RCODE.NOERROR
  if (isFine || findings.some(({ state }) => state === 'problem')) return findings
  const got = typeof aaaa === 'string' ? aaaa : formatRcode(aaaa.rcode)
  const text = `${label} answers A of ${name}, but not AAAA: ${got}`
  return [
    ...findings,
    problem('families', text, 'resolvers then fail as a whole; run kubedoh explain'),
  ]
}

function describeAnswer(found: Response | string, label: string, question: string): Finding {
  if (typeof found === 'string') {
    const next = 'start it, correct --server or the network policy, or run doctor where Pods run'
    return problem('server', `${label} does not answer: ${found}`, next)
  }
  if (found.rcode === RCODE.NOERROR && found.answer.length > 0) {
    return ok('server', `${label} answers ${question}`)
  }
  const status = found.rcode === RCODE.NOERROR ? 'NODATA' : formatRcode(found.rcode)
  const next = 'run kubedoh explain for that name with its Corefile; set --cluster-domain'
  return problem('server', `${label} answers ${status} to ${question}`, next)
}

/** Checks that each upstream of `forward` answers, and that none leads back to the server. */
export async function checkUpstreams(
  { blocks }: Pick<LoadedCorefile, 'blocks'>,
  own: readonly PlainServer[],
): Promise<Finding[]> {
  const directives = blocks.flatMap(({ directives: all }) => all)
  const forwards = directives.filter(({ name }) => name === 'forward')
  const upstreams = new Map<string, AskedUpstream>()
  for (const directive of forwards) {
    const { upstreams: found, protocol } = parseForward(directive, readTextFile)
    for (const upstream of found) {
      const label = upstream.url ?? labelOf(upstream)
      upstreams.set(label, { label, upstream, protocol: askedProtocol(protocol) })
    }
  }
  const checked = [...upstreams.values()].map((one) => checkUpstream(one, own))
  if (checked.length === 0) return [ok('upstreams', 'the Corefile forwards nothing')]
  return Promise.all(checked)
}

/** Returns how to ask an upstream of a `forward` directive: over TCP with `force_tcp`. */
export function askedProtocol(protocol: ForwardOptions['protocol']): 'udp' | 'tcp' {
  return protocol === 'tcp' ? 'tcp' : 'udp'
}

type AskedUpstream = {
  readonly label: string
  readonly upstream: Upstream
  readonly protocol: 'udp' | 'tcp'
}

async function checkUpstream(
  { label, upstream, protocol }: AskedUpstream,
  own: readonly PlainServer[],
): Promise<Finding> {
  const { address, port } = upstream
  if (own.some((one) => one.address === address && one.port === port)) {
    const next = 'point "forward" to a server outside the cluster, such as the resolver of the node'
    return problem('loop', `forward sends queries to ${label}, which is this server itself`, next)
  }
  const found = await askOne(upstream, { name: ROOT, type: NS, protocol })
  if (typeof found !== 'string') return ok('upstreams', `${label} answers`)
  const next = 'check its address and the firewall, or remove it from "forward"'
  return problem('upstreams', `${label} does not answer: ${found}`, next)
}

/** A query of the doctor. */
export type Asked = {
  readonly name: Uint8Array
  readonly type: number
  readonly protocol: 'udp' | 'tcp'
}

/** Sends a query; resolves with the response, or with the reason for none. */
export async function askOne(
  upstream: Upstream,
  { name, type, protocol }: Asked,
): Promise<Response | string> {
  const message = writeQuery({ name, type, id: random16() })
  try {
    const reply = await exchange(upstream, message, { protocol, timeoutMs: TIMEOUT_MS })
    return parseResponse(reply) ?? `its response to ${formatType(type)} is malformed`
  } catch (error) {
    return causeText(error)
  }
}

/** Checks how many queries an external name costs with the text of a resolv.conf. */
export function checkNdots(resolvConf: string, isAutopath: boolean): Finding {
  const line = (keyword: string): string =>
    [...resolvConf.matchAll(new RegExp(`^${keyword}\\s+(.*)$`, 'gm'))].at(-1)?.[1] ?? ''
  const domains = line('search')
    .split(/\s+/)
    .filter((word) => word !== '').length
  const ndots = Number(/(?:^|\s)ndots:(\d+)/.exec(line('options'))?.[1] ?? 1)
  const summary = `ndots ${ndots}, ${domains} search domains`
  if (isAutopath || ndots < COSTLY.ndots || domains < COSTLY.search) return ok('ndots', summary)
  const text = `${summary}: an external name with fewer dots costs ${2 * domains} queries in vain`
  const next = 'end external names with a dot, set ndots to 1 in dnsConfig, or use autopath'
  return note('ndots', text, next)
}

function labelOf({ address, port }: PlainServer): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
