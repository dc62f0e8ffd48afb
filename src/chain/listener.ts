/**
 * What is served at one port: the zones of all server blocks there, the longest first.
 * @module
 */

import type { Transport } from '../corefile/zone-key.ts'
import { isWithinZone, type Query } from '../dns/query.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { Chain } from './chain.ts'
import type { Client, ClientVisibility } from './client.ts'
import type { ConnectionBounds, TlsService } from './feature.ts'

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
  /** Of the connections to it. */
  readonly bounds: ConnectionBounds
  /** For TLS; without it, what comes over `tls` and `https` is not encrypted. */
  readonly tls?: TlsService
  /** Connections over HTTP at a time; the runtime's bound when left out. */
  readonly httpConnectionsMax?: number
  /** Sorted by length, the longest first. */
  readonly zones: readonly ServedZone[]
  readonly takesAnyClass: boolean
}

/**
 * Finds the chain for a query: that of the longest zone above its name. A DS record belongs to the
 * parent of the zone that it is named after (RFC 4035 §3.1.4.1), so a parent goes first when it is
 * here; a block for the root is none, for it only relays. Of blocks with the same zone, the first
 * that admits the query serves it. A block that lies within a zone which the client may not see is
 * not there for it, and for names that are not its own to see only blocks that relay them are.
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

/** A block that begins above the hidden zone has other names as well. */
function isHidden(
  { zone, chain }: ServedZone,
  query: Query,
  visibility: ClientVisibility,
): boolean {
  const { plugins } = chain
  if (plugins.some(({ hides }) => hides?.(visibility, query, zone) === true)) return true
  return !visibility.seesName(query) && !plugins.some(({ relays }) => relays?.(visibility) === true)
}
