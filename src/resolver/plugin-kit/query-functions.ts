/**
 * The functions of a query for expressions in `view` and `template`
 * (CoreDNS, plugin/pkg/expression, request/request.go).
 * @module
 */

import { UDP_BYTES_MIN } from '../../dns/names/limits.ts'
import { nameText } from '../../dns/names/name-text.ts'
import {
  isInNetwork,
  type Network,
  parseClientAddress,
  parseNetwork,
} from '../../dns/names/network.ts'
import {
  type Environment,
  type EnvironmentFunction,
  valueText,
} from '../../go/expression/built-in.ts'
import { BOOL, INT, STRING, type Type } from '../../go/expression/type.ts'
import { ExpressionError } from '../../go/expression/value.ts'
import type { ClientQuery } from '../contract/request.ts'
import { classText, typeText } from './mnemonics.ts'

/** The query that an expression is evaluated for. */
export type QueryContext = ClientQuery & {
  /** Metadata of plugins by label; `undefined` for none. */
  readonly metadata: (label: string) => string | undefined
}

/** Largest message over TCP; every client over TCP accepts it. */
const TCP_BYTES = 65_535
/** Parsed addresses and networks in the cache; a full cache is cleared. */
const PARSED_MAX = 4096

/** Returns CoreDNS's functions by name. */
export function queryFunctions(): Environment<QueryContext> {
  const networks = new Networks()
  return new Map([
    ['type', of(STRING, ({ query }) => typeText(query.type))],
    ['name', of(STRING, ({ query }) => nameText(query.name.subarray(0, query.nameBytes)))],
    ['class', of(STRING, ({ query }) => classText(query.class))],
    ['proto', of(STRING, ({ client }) => (client.transport === 'udp' ? 'udp' : 'tcp'))],
    ['size', of(INT, ({ query }) => BigInt(query.bytes.length))],
    ['client_ip', of(STRING, ({ client }) => client.address)],
    ['port', of(STRING, ({ client }) => String(client.port))],
    ['id', of(INT, ({ query }) => BigInt(query.id))],
    ['opcode', of(INT, ({ query }) => BigInt((query.flags >>> 11) & 15))],
    ['do', of(BOOL, ({ query }) => query.wantsDnssec)],
    ['bufsize', of(INT, replyBytes)],
    ['server_ip', of(STRING, ({ client }) => client.localAddress ?? '')],
    ['server_port', of(STRING, ({ client }) => String(client.localPort ?? 0))],
    ['metadata', of(STRING, ({ metadata }, label) => metadata(valueText(label)) ?? '', ['string'])],
    [
      'incidr',
      of(BOOL, (_, ip, cidr) => networks.has(valueText(ip), valueText(cidr)), ['string', 'string']),
    ],
  ])
}

function of(
  gives: Type,
  call: EnvironmentFunction<QueryContext>['call'],
  takes: readonly string[] = [],
): EnvironmentFunction<QueryContext> {
  return { kind: 'function', takes, gives, call }
}

function replyBytes({ query, client }: QueryContext): bigint {
  return BigInt(client.transport === 'udp' ? Math.max(query.udpBytes, UDP_BYTES_MIN) : TCP_BYTES)
}

/** Parses each network and each address once. */
class Networks {
  private readonly networks = new Map<string, Network>()
  private readonly addresses = new Map<string, Uint8Array>()

  has(ip: string, cidr: string): boolean {
    return isInNetwork(this.address(ip), this.network(cidr))
  }

  private address(text: string): Uint8Array {
    const known = this.addresses.get(text)
    if (known !== undefined) return known
    const address = text.includes('%') ? undefined : parseClientAddress(text)
    if (address === undefined) throw new ExpressionError(`"${text}" is not an address`)
    return keep(this.addresses, text, address)
  }

  private network(text: string): Network {
    const known = this.networks.get(text)
    if (known !== undefined) return known
    const network = parseNetwork(text)
    if (network === undefined) throw new ExpressionError(`"${text}" is not a block of addresses`)
    return keep(this.networks, text, network)
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): T {
  if (map.size >= PARSED_MAX) map.clear()
  map.set(key, value)
  return value
}
