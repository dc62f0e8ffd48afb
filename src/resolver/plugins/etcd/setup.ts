/**
 * The `etcd` plugin: answers from keys that SkyDNS's clients write into etcd. It holds an updated
 * copy of the keys in memory, so that no query waits for etcd; at gateways, of those that the
 * exporter publishes.
 * @module
 */

import { defaultKubernetes } from '../../../corefile/kubernetes-options.ts'
import { equalNames } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import { EMPTY_REPLY, type Reply } from '../../../dns/wire/message.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import { fallsThrough } from '../../plugin-kit/zones.ts'
import { SeenZones } from '../kubernetes/seen-zones.ts'
import { unavailable, withSnapshot } from '../kubernetes/with-snapshot.ts'
import { answerFrom, soaRecordAt } from './answer.ts'
import { LINKS_MAX } from './chase.ts'
import type { KeyTable } from './key-table.ts'
import { type EtcdHost, type EtcdOptions, type KeySource, parseEtcd } from './options.ts'
import { PublishedKeys } from './published-keys.ts'

/** Configures `etcd [ZONE…] { … }`. */
export const etcdPlugin: PluginEntry<EtcdHost> = {
  name: 'etcd',
  counts: 'first',
  gateways: {
    at: 'gateway',
    is: 'other',
    because: 'its keys are those that the exporter publishes; a gateway does not connect to etcd',
    idleOptions: new Set(['endpoint', 'credentials', 'tls']),
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true, checksVisibility: true },
  setup: (directives, { host, zones, pathOf }) => {
    const { openKeys, now } = host
    const readText = openKeys && ((path: string) => host.readText(pathOf(path)))
    const options = parseEtcd(directives, zones, readText)
    const { connection, cluster } = options
    const withKeys =
      openKeys === undefined ? published(host, options) : watched(openKeys(connection))
    const seen = new SeenZones(options.zones, cluster)
    return {
      plugin: {
        name: 'etcd',
        hides: (visibility, query, blockZone) => seen.hides(visibility, query, blockZone),
        serve: (request, next) => {
          const { visibility } = request.client
          const zone = seen.closest(request.query, visibility)
          if (zone === undefined) return next(request)
          return withKeys(
            (found) => serve(request, next, { options, found, zone, now }),
            visibility?.namespaces,
          )
        },
      },
    }
  },
}

/** Keys, and what remains of their leases. */
type FoundKeys = Pick<KeySource, 'leaseSeconds'> & { readonly keys: KeyTable | undefined }
type Answer = (found: FoundKeys) => Promise<Outcome>
/** Answers from the present keys, which belong to no namespace; those of a client set their age. */
type WithKeys = (answer: Answer, namespaces: Visibility | undefined) => MaybePromise<Outcome>

function watched({ current, leaseSeconds }: KeySource): WithKeys {
  return (answer) => answer({ keys: current(), leaseSeconds })
}

/** Returns the keys that the exporter publishes, which does not publish what remains of leases. */
function published(host: EtcdHost, { connection, cluster, zones }: EtcdOptions): WithKeys {
  const place = { ...defaultKubernetes(connection, zones), cluster }
  const source = host.openCluster(place, { kind: 'etcd' })
  const keys = new PublishedKeys(source)
  const leaseSeconds = (): number => 1
  return (answer, namespaces) => {
    const answerFrom = (table: KeyTable | undefined): MaybePromise<Outcome> =>
      table === undefined ? unavailable() : answer({ keys: table, leaseSeconds })
    const serveFrom = (snapshot: Snapshot): MaybePromise<Outcome> =>
      andThen(keys.tableOf(snapshot), answerFrom)
    return withSnapshot(source, serveFrom, { namespaces })
  }
}

type Served = {
  readonly options: EtcdOptions
  readonly found: FoundKeys
  readonly zone: Uint8Array
  readonly now: () => number
}

/** Answers a request. As in CoreDNS, negative responses and errors have the zone's SOA record. */
async function serve(request: Request, next: Next, served: Served): Promise<Outcome> {
  const { options, found, zone, now } = served
  const { keys, leaseSeconds } = found
  const soa = soaRecordAt(zone, now())
  const bare: Reply = { ...EMPTY_REPLY, origin: 'snapshot', authoritative: true, authority: [soa] }
  if (keys === undefined) {
    const option = extendedError(EXTENDED_ERROR.NOT_READY, 'the keys of etcd are not read yet')
    return { ...bare, rcode: RCODE.SERVFAIL, options: [option] }
  }
  const searched = { ...options, keys, path: options.connection.path, leaseSeconds }
  const { lookup } = request
  const chase = { searched, zone, lookup, budget: { links: LINKS_MAX } }
  const answer = await answerFrom(chase, request, soa)
  switch (answer.kind) {
    case 'absent': {
      if (fallsThrough(options.fallthrough, request.lowerName)) return next(request)
      // The zone itself exists: it has an SOA record (RFC 8020 §2).
      const isApex = options.rules === 'rfc' && equalNames(request.lowerName, zone)
      return isApex ? bare : { ...bare, rcode: RCODE.NXDOMAIN }
    }
    case 'broken':
      return { ...bare, rcode: RCODE.SERVFAIL }
    case 'found': {
      const { records, truncated, denial, additional = [] } = answer
      if (records.length === 0) return bare
      const isKept = options.rules === 'rfc' || denial?.rcode === RCODE.NXDOMAIN
      const found = { ...bare, truncated, answer: records, authority: [], additional }
      // As recorded of CoreDNS, NODATA elsewhere leaves the CNAME alone.
      return isKept ? { ...found, ...denial } : found
    }
  }
}
