/**
 * Warnings about upstreams of `forward` that are this server itself.
 * @module
 */

import { type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseZones, type ZoneKey } from '../../../corefile/zone-key.ts'
import { formatAddress, parseAddress } from '../../../dns/names/address.ts'
import { formatName } from '../../../dns/names/name.ts'
import { common } from '../../chain/answering-parts.ts'
import type { DirectiveSurroundings } from '../../contract/plugin-entry.ts'

type Upstream = { readonly address: string; readonly port: number }

/** Addresses of systemd-resolved's stub resolver (systemd-resolved.service(8)). */
const STUBS: ReadonlySet<string> = new Set(['127.0.0.53', '127.0.0.54'])

/** Warns of upstreams, queried by plain DNS, that are this server itself. */
export function adviseOnUpstreams(directive: Directive, around: DirectiveSurroundings): Problem[] {
  return directive.args.slice(1).flatMap((word) => {
    const message = adviseOnUpstream(word, directive, around)
    return message === undefined ? [] : [problemAt(word, message)]
  })
}

function adviseOnUpstream(
  word: Word,
  directive: Directive,
  around: DirectiveSurroundings,
): string | undefined {
  const upstream = readUpstream(word.text)
  const text = upstream === undefined ? around.readText(word.text) : undefined
  const listed = upstream === undefined ? nameServers(text ?? '') : [upstream]
  const subject = (address: string): string =>
    upstream === undefined ? `"${word.text}" lists ${address} on this machine,` : `${address} is`
  for (const one of listed) {
    if (STUBS.has(one.address) && one.port === 53) {
      return (
        `${subject(one.address)} the stub of systemd-resolved, which no container can reach ` +
        'and which may query this server; "/run/systemd/resolve/resolv.conf" lists its upstreams'
      )
    }
    const key = ownKey(one, directive, around)
    if (key !== undefined) {
      const zone = formatName(key.zone)
      return `${subject(one.address)} this server itself: queries for "${zone}" loop`
    }
  }
  return undefined
}

/** Returns the key of the block that would get its own queries to an upstream. */
function ownKey(
  { address, port }: Upstream,
  directive: Directive,
  { block, addresses, ports, mayDiverge }: DirectiveSurroundings,
): ZoneKey | undefined {
  if (mayDiverge) return undefined
  const bound = addresses.map((text) => normalize(text))
  const isHere = bound.length === 0 ? /^(127\.|::1$)/.test(address) : bound.includes(address)
  const [from] = directive.args
  if (!isHere || from === undefined) return undefined
  return block.keys.find((key) => {
    const isPort = key.transport === 'dns' && (key.port ?? ports.dns) === port
    return isPort && common(parseZones(from.text, from), [key.zone]).length > 0
  })
}

/** Reads `[dns://]ADDRESS[:PORT]`; `undefined` for anything else. */
function readUpstream(text: string): Upstream | undefined {
  const plain = text.replace(/^dns:\/\//, '')
  if (parseAddress(plain) !== undefined) return { address: normalize(plain), port: 53 }
  const [, bracketed, host = bracketed ?? '', port = '53'] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(plain) ?? []
  if (parseAddress(host) === undefined) return undefined
  return { address: normalize(host), port: Number(port) }
}

/** Reads the `nameserver` lines of a resolv.conf(5). */
function nameServers(text: string): Upstream[] {
  return text.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+([^\s#;%]+)/.exec(line)?.[1]
    return (address === undefined ? undefined : readUpstream(address)) ?? []
  })
}

function normalize(text: string): string {
  const address = parseAddress(text)
  return address === undefined ? text : formatAddress(address)
}
