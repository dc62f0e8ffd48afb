/**
 * What expressions in `view` and `template` know of a query
 * (CoreDNS, plugin/pkg/expression, request/request.go).
 * @module
 */
import { UDP_BYTES_MIN } from '../dns/limits.ts'
import { nameText } from '../dns/name-text.ts'
import { isInNetwork, type Network, parseClientAddress, parseNetwork } from '../dns/network.ts'
import { formatClass } from '../dns/rr-class.ts'
import { formatType } from '../dns/rr-type.ts'
import type { Environment, EnvironmentFunction } from '../expression/built-in.ts'
import { textOf } from '../expression/built-in.ts'
import { ExpressionError } from '../expression/errors.ts'
import { BOOL, INT, STRING, type Type } from '../expression/type.ts'
import type { Asked } from './plugin.ts'

/** What an expression is evaluated for. */
export type QueryContext = Asked & {
  /** What plugins know, by label; `undefined` for nothing. */
  readonly metadata: (label: string) => string | undefined
}

/** Octets of a message over TCP, which clients there are held to take. */
const TCP_BYTES = 65_535
/** Blocks of addresses that stay parsed. */
const PARSED_MAX = 1000

/** Makes CoreDNS's functions, by name. */
export function queryFunctions(): Environment<QueryContext> {
  const networks = new Map<string, Network>()
  return new Map([
    ['type', of(STRING, ({ query }) => formatType(query.type))],
    ['name', of(STRING, ({ query }) => nameText(query.name.subarray(0, query.nameBytes)))],
    ['class', of(STRING, ({ query }) => formatClass(query.class))],
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
    ['metadata', of(STRING, ({ metadata }, label) => metadata(textOf(label)) ?? '', ['string'])],
    [
      'incidr',
      of(BOOL, (_, ip, cidr) => isWithin(textOf(ip), textOf(cidr), networks), ['string', 'string']),
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

function isWithin(ip: string, cidr: string, networks: Map<string, Network>): boolean {
  const address = ip.includes('%') ? undefined : parseClientAddress(ip)
  if (address === undefined) throw new ExpressionError(`"${ip}" is not an address`)
  const network = networks.get(cidr) ?? parseNetwork(cidr)
  if (network === undefined) throw new ExpressionError(`"${cidr}" is not a block of addresses`)
  if (networks.size < PARSED_MAX) networks.set(cidr, network)
  return isInNetwork(address, network)
}
