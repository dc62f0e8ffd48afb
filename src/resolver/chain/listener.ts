/**
 * A listener: one port with the zones of all its server blocks, the longest first.
 * @module
 */
import type { Transport } from '../../corefile/zone-key.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { isWithinZone, type Query } from '../../dns/wire/query.ts'
import type { Client, ClientVisibility } from '../contract/client.ts'
import type { ConnectionBounds, ProxyHeaders, TlsService } from '../contract/feature.ts'
import type { Chain } from './chain.ts'

const { DS } = TYPE

/** A zone and the chain that serves it. */
export type ServedZone = { readonly zone: Uint8Array; readonly chain: Chain }

/** A port to listen on. */
export type Listener = {
  readonly transport: Transport
  readonly port: number
  /** Addresses or interfaces, none for all. */
  readonly addresses: readonly string[]
  readonly except: readonly string[]
  /** Bounds of its connections. */
  readonly bounds: ConnectionBounds
  /** Absent: `tls` and `https` are not encrypted. */
  readonly tls?: TlsService
  /** From whom PROXY headers count; absent where nobody sends any. */
  readonly proxy?: ProxyHeaders
  /** Concurrent connections of HTTPS or gRPC; the runtime's bound when absent. */
  readonly httpConnectionsMax?: number
  /** Concurrent queries on a connection of gRPC; the runtime's bound when absent. */
  readonly streamsMax?: number
  /** Sorted by length, the longest first. */
  readonly zones: readonly ServedZone[]
  readonly takesAnyClass: boolean
}

/**
 * Finds the chain for a query: that of the longest zone above its name. A DS record belongs to the
 * parent zone (RFC 4035 §3.1.4.1), so a parent is preferred if it is served here; the root does not
 * count, because its block only forwards. If blocks share a zone, the first that admits the query
 * serves it. Skips blocks within a zone that is hidden from the client; for names outside the
 * client's origins, only blocks that forward them count.
 */
export function findChain(listener: Listener, query: Query, client: Client): Chain | undefined {
  const { zones } = listener
  const { visibility } = client
  let own: Chain | undefined
  for (let i = 0; i < zones.length; i++) {
    const served = zones[i]
    if (served === undefined || !isWithinZone(query, served.zone)) continue
    if (visibility !== undefined && isHidden(served, query, visibility)) continue
    if (served.chain.admits?.(query, client) === false) continue
    if (own !== undefined && served.zone.length === 1) break
    if (query.type !== DS || served.zone.length < query.nameBytes) return served.chain
    own ??= served.chain
  }
  return own
}

/** Whether a plugin hides the block; a block above the hidden zone has other names, too. */
function isHidden(
  { zone, chain }: ServedZone,
  query: Query,
  visibility: ClientVisibility,
): boolean {
  const { plugins } = chain
  if (plugins.some(({ hides }) => hides?.(visibility, query, zone) === true)) return true
  return !visibility.seesName(query) && !plugins.some(({ relays }) => relays?.(visibility) === true)
}
