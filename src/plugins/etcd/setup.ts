/**
 * The `etcd` plugin: answers from keys that SkyDNS's clients write into etcd. It holds an updated
 * copy of the keys in memory, so that no query waits for etcd.
 * @module
 */
import type { Outcome } from '../../chain/outcome.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Next, Request } from '../../chain/request.ts'
import { configError } from '../../corefile/problem.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import { EMPTY_REPLY, type Reply } from '../../dns/message.ts'
import { RCODE } from '../../dns/rcode.ts'
import { closestZone, fallsThrough } from '../../plugin-kit/zones.ts'
import { answerFrom, soaRecordAt } from './answer.ts'
import { LINKS_MAX } from './chase.ts'
import { type EtcdHost, type EtcdOptions, type KeySource, parseEtcd } from './options.ts'

/** Configures `etcd [ZONE…] { … }`. */
export const etcdPlugin: PluginEntry<EtcdHost> = {
  name: 'etcd',
  gateways: {
    at: 'gateway',
    is: 'refused',
    because: 'the exporter does not publish its names; "kubedoh serve" has it',
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true },
  setup: (directives, { host, zones, pathOf }) => {
    const options = parseEtcd(directives, zones, (path) => host.readText(pathOf(path)))
    if (host.openKeys === undefined) {
      throw configError(
        directives[0],
        '"etcd" works in "kubedoh serve" only: gateways do not connect to etcd',
      )
    }
    const source = host.openKeys(options.connection)
    const { now } = host
    return {
      plugin: {
        name: 'etcd',
        serve: (request, next) => {
          const zone = closestZone(options.zones, request.lowerName)
          return zone === undefined
            ? next(request)
            : serve(request, next, { options, source, zone, now })
        },
      },
    }
  },
}

type Served = {
  readonly options: EtcdOptions
  readonly source: KeySource
  readonly zone: Uint8Array
  readonly now: () => number
}

/** Answers a request. As in CoreDNS, negative responses and errors have the zone's SOA record. */
async function serve(request: Request, next: Next, served: Served): Promise<Outcome> {
  const { options, source, zone, now } = served
  const soa = soaRecordAt(zone, now())
  const bare: Reply = { ...EMPTY_REPLY, origin: 'snapshot', authoritative: true, authority: [soa] }
  const keys = source.current()
  if (keys === undefined) {
    const option = extendedError(EXTENDED_ERROR.NOT_READY, 'the keys of etcd are not read yet')
    return { ...bare, rcode: RCODE.SERVFAIL, options: [option] }
  }
  const searched = {
    ...options,
    keys,
    path: options.connection.path,
    leaseSeconds: source.leaseSeconds,
  }
  const { lookup } = request
  const chase = { searched, zone, lookup, budget: { links: LINKS_MAX } }
  const answer = await answerFrom(chase, request, soa)
  switch (answer.kind) {
    case 'absent':
      return fallsThrough(options.fallthrough, request.lowerName)
        ? next(request)
        : { ...bare, rcode: RCODE.NXDOMAIN }
    case 'broken':
      return { ...bare, rcode: RCODE.SERVFAIL }
    case 'found': {
      const { records, truncated, additional = [] } = answer
      if (records.length === 0) return bare
      return { ...bare, truncated, answer: records, authority: [], additional }
    }
  }
}
