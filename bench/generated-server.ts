/**
 * A generated cluster behind the Corefile that kubeadm writes, and questions to it.
 * @module
 */

import { namingOptions } from '../src/cluster/follow/naming.ts'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { Cluster } from '../src/cluster/objects/cluster.ts'
import type { ClusterObject } from '../src/cluster/objects/objects.ts'
import type { NamingOptions } from '../src/cluster/objects/options.ts'
import { parseObject } from '../src/cluster/objects/parse-object.ts'
import { parseKubernetes } from '../src/corefile/kubernetes-options.ts'
import { NO_FILES } from '../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../src/corefile/parse-corefile.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { Metrics } from '../src/dns/telemetry/metrics.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { createResolver } from '../src/resolver/chain/create-resolver.ts'
import { createNodeHost } from '../src/server/serve/node-host.ts'
import { openShard } from '../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../src/snapshot/read/snapshot.ts'
import { buildSnapshot } from '../test/cluster/follow/whole-snapshot.ts'
import {
  type ApiObject,
  apiObjects,
  type GeneratedService,
  generateServices,
  randomFrom,
} from './cluster-objects.ts'
import { UdpHandler } from './udp-handler.ts'

/**
 * The Corefile that kubeadm writes, at ports that are free, and without `health` and `ready`,
 * which have no part in answers; nothing is forwarded in these benchmarks.
 */
const COREFILE = `.:0 {
    bind 127.0.0.1
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus 127.0.0.1:0
    forward . 127.0.0.1:5300 {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`
/** Questions of one kind, as messages, and as names with types. */
export type Questions = {
  readonly kind: string
  readonly messages: readonly Uint8Array[]
  readonly texts: readonly string[]
}

/** Reads objects as a watch does. */
export function clusterOf(objects: Iterable<ApiObject>): Cluster {
  const cluster = new Cluster()
  for (const object of objects) cluster.set(parsed(object))
  return cluster
}

/** Reads one object. */
export function parsed(object: ApiObject): ClusterObject {
  const read = parseObject(object)
  if (read === undefined || read.kind === 'problem') throw new TypeError('Not an object of ours')
  return read
}

/** How kubeadm's Corefile has a cluster named. */
export function kubeadmNaming(): NamingOptions {
  const [block] = parseCorefile(COREFILE, 'Corefile', NO_FILES)
  const directive = block?.directives.find(({ name }) => name === 'kubernetes')
  if (directive === undefined) throw new TypeError('No kubernetes directive')
  return namingOptions(parseKubernetes(directive, []), [])
}

/** Opens a snapshot that was built. */
export function openBuilt({ shards, ttlSeconds }: BuiltSnapshot): Snapshot {
  const info = { generation: 1, timeMs: 0, ttlSeconds, origins: [] }
  return new Snapshot(
    info,
    shards.map((bytes) => openShard(bytes)),
  )
}

/** A generated cluster and its snapshot. */
export class GeneratedCluster {
  readonly services: readonly GeneratedService[]
  readonly snapshot: Snapshot
  readonly records: number

  constructor(serviceCount: number) {
    this.services = [...generateServices(serviceCount)]
    const built = buildSnapshot(clusterOf(apiObjects(this.services)), kubeadmNaming())
    this.snapshot = openBuilt(built)
    this.records = built.records
  }
}

/** A DNS server for a generated cluster, with kubeadm's Corefile or another. */
export class GeneratedServer {
  readonly services: readonly GeneratedService[]
  readonly records: number
  private readonly udp: UdpHandler

  private constructor({ services, records }: GeneratedCluster, udp: UdpHandler) {
    this.services = services
    this.records = records
    this.udp = udp
  }

  /** Starts it. The Corefile binds one address. */
  static async start(
    cluster: GeneratedCluster,
    corefile: string = COREFILE,
  ): Promise<GeneratedServer> {
    const { snapshot } = cluster
    const metrics = new Metrics()
    const host = createNodeHost({
      folder: '/',
      metrics,
      log: () => undefined,
      openCluster: () => ({
        current: () => snapshot,
        load: () => Promise.resolve(snapshot),
        freshness: () => 'fresh',
      }),
      abort: () => undefined,
    })
    const resolver = createResolver(parseCorefile(corefile, 'Corefile', NO_FILES), host)
    return new GeneratedServer(cluster, await UdpHandler.start(resolver, metrics))
  }

  /** Has each message answered, and returns nanoseconds for one, over at least `leastMs`. */
  measure(messages: readonly Uint8Array[], leastMs: number): number {
    const startMs = performance.now()
    let count = 0
    while (performance.now() - startMs < leastMs) {
      this.answerAll(messages)
      count += messages.length
    }
    return ((performance.now() - startMs) * 1e6) / count
  }

  /** Has each message answered once. */
  answerAll(messages: readonly Uint8Array[]): void {
    this.udp.receiveAll(messages)
  }

  /** Ends it. */
  stop(): Promise<void> {
    return this.udp.stop()
  }
}

/** Questions of each kind about random Services. */
export function questionsTo(
  services: readonly GeneratedService[],
  count: number,
): readonly Questions[] {
  const random = randomFrom(2)
  const about = (
    kind: string,
    isWanted: (service: GeneratedService) => boolean,
    question: (service: GeneratedService) => readonly [name: string, type: keyof typeof TYPE],
  ): Questions => {
    const wanted = services.filter(isWanted)
    const asked = Array.from({ length: count }, () => {
      const service = wanted[Math.floor(random() * wanted.length)]
      if (service === undefined) throw new RangeError(`No Service for ${kind}`)
      return question(service)
    })
    const messages = asked.map(([name, type], id) =>
      writeQuery({ name: nameOf(name), type: TYPE[type], id }),
    )
    return { kind, messages: packed(messages), texts: asked.map((one) => one.join(' ')) }
  }
  const hasIp = ({ isHeadless }: GeneratedService): boolean => !isHeadless
  const isSingle = (one: GeneratedService): boolean => hasIp(one) && !one.isDualStack
  const hasTen = (one: GeneratedService): boolean =>
    one.isHeadless && !one.isDualStack && one.endpoints.length === 10
  return [
    about('A', hasIp, (one) => [nameText(one), 'A']),
    about('AAAA, NODATA', isSingle, (one) => [nameText(one), 'AAAA']),
    about('NXDOMAIN', hasIp, (one) => [`no-${nameText(one)}`, 'A']),
    about('SRV', hasIp, (one) => [`_http._tcp.${nameText(one)}`, 'SRV']),
    about('PTR', hasIp, ({ clusterIPs: [ip = ''] }) => [reverseText(ip), 'PTR']),
    about('headless A of 10', hasTen, (one) => [nameText(one), 'A']),
  ]
}

/** Puts messages behind one another, as a socket's buffers are, and as the peer has them. */
function packed(messages: readonly Uint8Array[]): Uint8Array[] {
  const whole = new Uint8Array(messages.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  return messages.map((message) => {
    whole.set(message, at)
    at += message.length
    return whole.subarray(at - message.length, at)
  })
}

function nameText({ name, namespace }: GeneratedService): string {
  return `${name}.${namespace}.svc.cluster.local`
}

function reverseText(ip: string): string {
  return `${ip.split('.').reverse().join('.')}.in-addr.arpa`
}
