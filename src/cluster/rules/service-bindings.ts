/**
 * HTTPS and SVCB records of hostnames (RFC 9460, RFC 9461), from ports that use TLS:
 *
 * | service | at the port | record | ALPN |
 * |---|---|---|---|
 * | `https` | 443 | `NAME HTTPS 1 .` | `h2,http/1.1`; `h3` too if UDP has the port |
 * | `https` | another | `_PORT._https.NAME HTTPS 1 NAME` | the same |
 * | `dns` | any | `_dns.NAME SVCB 1 NAME` | `dot` on TCP, `doq` on UDP |
 *
 * A browser that finds an HTTPS record uses `https` for the origin (RFC 9460 §9.5). So ports
 * without TLS give none: HTTP, and HTTP/2 in the clear (`h2c`), for which there is no ALPN.
 * @module
 */
import { concatBytes } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { labelOffsets, parseName, ROOT } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { parseServiceParams } from '../../dns/rdata/service-params.ts'
import type { Rdata } from '../../snapshot/records/zone-entry.ts'
import type { Binding, HostName, SecurePort } from '../objects/objects.ts'
import { fitting, NAMES_MAX } from './pairs.ts'

const HTTPS_PORT = 443
const DNS_PORT = 853
/** ServiceMode with the highest priority. */
const PRIORITY = Uint8Array.of(0, 1)

/** The ports behind hostnames. */
export type BoundPorts = {
  readonly portsOf: (host: HostName) => readonly SecurePort[]
  /** Whether hosts without targets have bindings, too: their names are all that counts. */
  readonly isNamesOnly: boolean
}

/**
 * Adds the records of ports to hosts, some as hosts of their own. A host that points to a hostname
 * has none: the operator of that hostname may publish others. A wildcard has only the record of
 * port 443, because no label can precede it.
 */
export function withBindings(
  hosts: readonly HostName[],
  { portsOf, isNamesOnly }: BoundPorts,
): readonly HostName[] {
  // Hosts of one object mostly share their targets, and their ports.
  const areAddresses = rememberLast((targets: readonly string[]) => {
    return targets.length > 0 && targets.every((one) => parseAddress(one) !== undefined)
  })
  const bindingsOf = rememberLast((ports: readonly SecurePort[]) => {
    const some = fitting(ports, hosts.length, NAMES_MAX)
    return [...httpsBindings(some), ...dnsBindings(some)]
  })
  return hosts.flatMap((host) => {
    const { name, targets } = host
    if (!isNamesOnly && !areAddresses(targets)) return [host]
    const bound = bindingsOf(portsOf(host))
    const own = bound.find(([prefix]) => prefix === '')?.[1] ?? []
    const prefixed = name.startsWith('*') ? [] : bound.filter(([prefix]) => prefix !== '')
    return [
      own.length === 0 ? host : { ...host, bindings: own },
      ...prefixed.map(([prefix, bindings]): HostName => {
        return { ...host, name: `${prefix}${name}`, targets: [], bindings }
      }),
    ]
  })
}

/** Returns a function that keeps its last result, for the same argument. */
function rememberLast<In extends object, Out>(compute: (given: In) => Out): (given: In) => Out {
  let last: { readonly given: In; readonly result: Out } | undefined
  return (given) => {
    if (last?.given !== given) last = { given, result: compute(given) }
    return last.result
  }
}

/** Bindings by what precedes the hostname in their names. */
type ByPrefix = readonly (readonly [prefix: string, bindings: readonly Binding[]])[]

function httpsBindings(ports: readonly SecurePort[]): ByPrefix {
  return protocolsOf(ports, 'https').flatMap(([port, protocols]) => {
    // HTTP/3 alone would leave out clients whose network drops UDP.
    if (!protocols.has('TCP')) return []
    const isOwn = port === HTTPS_PORT
    const params = parseServiceParams([`alpn=${protocols.has('UDP') ? 'h3,' : ''}h2,http/1.1`])
    if (params === undefined) return []
    const binding = { type: TYPE.HTTPS, prefixLabels: isOwn ? 0 : 2, params }
    return [[isOwn ? '' : `_${port}._https.`, [binding]]]
  })
}

function dnsBindings(ports: readonly SecurePort[]): ByPrefix {
  const bindings = protocolsOf(ports, 'dns').flatMap(([port, protocols]): Binding[] => {
    const alpn = [
      ...(protocols.has('TCP') ? ['dot'] : []),
      ...(protocols.has('UDP') ? ['doq'] : []),
    ]
    const words = [`alpn=${alpn.join()}`, ...(port === DNS_PORT ? [] : [`port=${port}`])]
    const params = parseServiceParams(words)
    return params === undefined ? [] : [{ type: TYPE.SVCB, prefixLabels: 1, params }]
  })
  return bindings.length === 0 ? [] : [['_dns.', bindings]]
}

/** Returns the protocols of each port of a service, by the number of the port. */
function protocolsOf(
  ports: readonly SecurePort[],
  wanted: SecurePort['service'],
): [port: number, protocols: ReadonlySet<string>][] {
  const own = ports.filter(({ service }) => service === wanted)
  return [...Map.groupBy(own, ({ port }) => port)].map(([port, same]) => [
    port,
    new Set(same.map(({ protocol }) => protocol)),
  ])
}

/** Returns the rdata of a type of bindings at an absolute name, with duplicates. */
export function bindingRdata(name: string, type: number, bindings: readonly Binding[]): Rdata[] {
  const owner = parseName(name) ?? ROOT
  const offsets = labelOffsets(owner)
  return bindings
    .filter((binding) => binding.type === type)
    .map(({ prefixLabels, params }) => {
      const target = prefixLabels === 0 ? ROOT : owner.subarray(offsets[prefixLabels])
      return { bytes: concatBytes(PRIORITY, target, params) }
    })
}
