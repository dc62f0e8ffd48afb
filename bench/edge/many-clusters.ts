/**
 * A thousand clusters, each in a zone of its own, and a hundred that share one.
 * @module
 */
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import type { BuiltSnapshot } from '../../src/cluster/follow/snapshot-builder.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { objectsOf, optionsOf } from '../../test/cluster/naming.ts'
import type { LocalGateway } from '../../test/workerd.ts'
import { costOf } from '../gateway-load.ts'
import { benchGatewayOf, publisherTo, tokenFrom } from '../gateway-servers.ts'
import { median, type Row, ratioRow, row } from '../row.ts'
import { askEdge, type EdgeCounts, type EdgeQuestion, setEdge, startEdge } from './edge-gateway.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const CLUSTERS = IS_QUICK ? 100 : 1000
/** The most of a zone. */
const SHARING = 100
const EACH = '. {\n  errors\n  kubernetes *.k8s.example.org {\n    cluster *\n  }\n}\n'
const ROUNDS = IS_QUICK ? 5 : 11
/** Rounds that are not counted: compilers are at work. */
const WARM_UP_ROUNDS = 3
const REQUESTS = 5000
/** A query in a zone of many clusters takes longer. */
const SHARED_ROUNDS = 3
/** Clusters that publish at a time, and how many do: of the others nothing is asked. */
const PUBLISHING = 4
const PUBLISHED_MAX = 100
const RATIO_MAX = 1.1

/** A gateway with clusters, and what is asked for. */
type Many = EdgeQuestion & { readonly gateway: LocalGateway }

/** Measures. */
export async function clusterRows(): Promise<Row[]> {
  const each = (id: string): string => `web.shop.svc.${id}.k8s.example.org`
  const one = await startMany(['c0'], EACH, each)
  const many = await startMany(idsOf(CLUSTERS), EACH, each)
  const asked = await askInTurn([one, many], ROUNDS)
  await many.gateway.stop()
  const sharing = idsOf(SHARING)
  const shared = `. {\n  errors\n  kubernetes clusterset.local {\n    cluster ${sharing.join(' ')}\n  }\n}\n`
  const merged = await startMany(sharing, shared, () => 'web.shop.svc.clusterset.local')
  const together = await askInTurn([one, merged], SHARED_ROUNDS)
  await Promise.all([one, merged].map(({ gateway }) => gateway.stop()))
  const count = CLUSTERS.toLocaleString('en-US')
  const cpu = { bench: 'edge', unit: 'µs' }
  const metric = `a query for one of ${count} clusters, CPU`
  const [first, second] = asked
  const peer = { name: 'one of one', value: first?.us ?? Number.NaN }
  const sharedPeer = { name: 'one of one', value: together[0]?.us ?? Number.NaN }
  return [
    ratioRow({ ...cpu, metric }, second?.us ?? Number.NaN, peer, { atLeast: 1 / RATIO_MAX }),
    row('edge', 'the same, calls to objects beyond those of one of one', '', callsBeyond(asked), {
      atMost: 0,
    }),
    ratioRow(
      { ...cpu, metric: `a query in a zone of ${SHARING} clusters, CPU` },
      together[1]?.us ?? Number.NaN,
      sharedPeer,
    ),
  ]
}

function callsBeyond([one, other]: readonly Asked[]): number {
  return (other?.calls ?? Number.NaN) - (one?.calls ?? Number.NaN)
}

function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `c${i}`)
}

/** Starts a gateway whose clusters have published, and asks it once. */
async function startMany(
  ids: readonly string[],
  corefile: string,
  nameIn: (id: string) => string,
): Promise<Many> {
  const { keys, variables } = await benchGatewayOf()
  const { publicKey, tokenSha256 } = keys
  const clusters = Object.fromEntries(ids.map((id) => [id, { publicKey, tokenSha256 }]))
  const gateway = await startEdge({
    variables: { ...variables, COREFILE: corefile, CLUSTERS: JSON.stringify(clusters) },
  })
  const waiting = ids.slice(-PUBLISHED_MAX).values()
  const publishAll = async (): Promise<void> => {
    for (const id of waiting) {
      const publisher = await publisherTo(gateway.url, keys, { cluster: id })
      await publisher.publish(builtFor(id), { sources: {}, confirmedMs: Date.now() })
    }
  }
  await Promise.all(Array.from({ length: PUBLISHING }, publishAll))
  const many = {
    gateway,
    token: await tokenFrom(gateway.url, ['*']),
    name: nameIn(ids.at(-1) ?? ''),
  }
  await askEdge(many.gateway, many)
  return many
}

/** A Service that the cluster exports. */
function builtFor(cluster: string): BuiltSnapshot {
  const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: ServiceExport, metadata: { name: web, namespace: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.9 } }
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.7] }]`
  const source = createObjectSource(objectsOf(objects), {
    naming: optionsOf(),
    trees: {
      multicluster: optionsOf({ tree: { kind: 'multicluster' } }),
      exports: optionsOf({ tree: { kind: 'exports', cluster } }),
    },
    onWarning: (message) => process.stderr.write(`${message}\n`),
    now: Date.now,
  })
  return source.build()
}

/** CPU time of a query, and calls to objects for all. */
type Asked = { readonly us: number; readonly calls: number }

/** Asks gateways in turn. */
async function askInTurn(all: readonly Many[], rounds: number): Promise<readonly Asked[]> {
  const times = all.map((): number[] => [])
  const counts = all.map((): EdgeCounts[] => [])
  for (let round = -Math.min(WARM_UP_ROUNDS, rounds); round < rounds; round++) {
    for (const [i, many] of all.entries()) {
      await setEdge(many.gateway)
      const { url, pid } = many.gateway
      const messages = [writeQuery({ name: nameOf(many.name), type: TYPE.A })]
      const headers = { authorization: `Bearer ${many.token}` }
      const us = await costOf(pid, { url, messages, method: 'GET', headers }, REQUESTS)
      if (round < 0) continue
      times[i]?.push(us)
      counts[i]?.push(await setEdge(many.gateway))
    }
  }
  return all.map((_, i) => ({
    us: median(times[i] ?? []),
    calls: (counts[i] ?? []).reduce((sum, { calls }) => sum + calls, 0),
  }))
}
