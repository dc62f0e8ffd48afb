/**
 * Looks up a Service's addresses as OpenShift's node-resolver does: A, then AAAA, then both over
 * TCP; the first response with addresses counts.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import { formatAddress } from '../../dns/names/address.ts'
import { isSubdomain } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { withinBailiwick } from '../../dns/wire/bailiwick.ts'
import { parseResponse, type Response } from '../../dns/wire/message.ts'

/** Maximum number of addresses of a Service; the rest of a larger headless one is left out. */
const ADDRESSES_MAX = 64

const ATTEMPTS = [
  { protocol: 'udp', type: TYPE.A },
  { protocol: 'udp', type: TYPE.AAAA },
  { protocol: 'tcp', type: TYPE.A },
  { protocol: 'tcp', type: TYPE.AAAA },
] as const

/** Sends a query for a type over a protocol and resolves with the response. */
export type AskType = (type: number, protocol: 'udp' | 'tcp') => Promise<Uint8Array>

/**
 * The outcome: sorted addresses, so that a server that rotates them causes no change; none if the
 * Service certainly has none.
 */
export type FoundService =
  | { readonly kind: 'known'; readonly addresses: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string }

/** A type of a Service's name, and the cluster zone. */
type Sought = { readonly name: Uint8Array; readonly zone: Uint8Array; readonly type: number }

type Outcome = FoundService | { readonly kind: 'no data' }

/**
 * Looks a Service up. Only records of its name, and of the names that its CNAMEs point to, count:
 * others could be anybody's. NXDOMAIN and NODATA count only with an SOA record of the cluster zone:
 * any other server that the query reaches may not have the zone.
 */
export async function findService(
  name: Uint8Array,
  zone: Uint8Array,
  ask: AskType,
): Promise<FoundService> {
  const without = new Set<number>()
  let reason = 'no response'
  for (const { type, protocol } of ATTEMPTS) {
    if (without.has(type)) continue
    const outcome = await attempt({ name, zone, type }, (over) => ask(type, over ?? protocol))
    if (outcome.kind === 'known') return outcome
    if (outcome.kind === 'no data') without.add(type)
    else reason = outcome.reason
  }
  return without.size === 2 ? { kind: 'known', addresses: [] } : { kind: 'unknown', reason }
}

async function attempt(
  sought: Sought,
  ask: (over?: 'tcp') => Promise<Uint8Array>,
): Promise<Outcome> {
  try {
    let response = parseResponse(await ask())
    if (response?.truncated === true) response = parseResponse(await ask('tcp'))
    if (response === undefined) return { kind: 'unknown', reason: 'invalid DNS message' }
    return readOutcome(response, sought)
  } catch (error) {
    return { kind: 'unknown', reason: errorText(error) }
  }
}

function readOutcome(response: Response, { name, zone, type }: Sought): Outcome {
  const { rcode } = response
  const question = { name, type, class: CLASS.IN }
  const { answer, authority } = withinBailiwick(response, question)
  const found = answer.filter((record) => record.type === type && record.class === CLASS.IN)
  if (rcode === RCODE.NOERROR && found.length > 0) {
    const addresses = found.map(({ rdata }) => formatAddress(rdata)).sort()
    return { kind: 'known', addresses: [...new Set(addresses)].slice(0, ADDRESSES_MAX) }
  }
  const isCertain = authority.some(
    (record) => record.type === TYPE.SOA && isSubdomain(record.owner, zone),
  )
  if (isCertain && rcode === RCODE.NXDOMAIN) return { kind: 'known', addresses: [] }
  if (isCertain && rcode === RCODE.NOERROR) return { kind: 'no data' }
  const why =
    rcode === RCODE.NXDOMAIN || rcode === RCODE.NOERROR
      ? " without the cluster zone's SOA record"
      : ''
  return { kind: 'unknown', reason: `${formatRcode(rcode)}${why}` }
}
