/**
 * What a token may not see is as if it were not there: every answer under a view is, byte for
 * byte, that of a cluster which has no other namespaces.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  type ApiObject,
  apiObjects,
  type GeneratedService,
  generateServices,
  randomFrom,
} from '../../bench/cluster-objects.ts'
import { clusterOf, kubeadmNaming, openBuilt } from '../../bench/generated-server.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { parseType } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { visibilityOf } from '../../src/gateway/access/token.ts'
import { formatJsonReply } from '../../src/gateway/doh/json-reply.ts'
import { createResolver } from '../../src/resolver/chain/create-resolver.ts'
import type { Resolver } from '../../src/resolver/chain/resolver.ts'
import type { Client, ClientVisibility } from '../../src/resolver/contract/client.ts'
import { readLabels } from '../../src/snapshot/read/namespace-labels.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import type { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { buildSnapshot } from '../cluster/follow/whole-snapshot.ts'
import { sourceOf } from '../corefile/source.ts'
import { FakeHost } from '../fake-host.ts'
import { ResolverClient } from '../resolver-client.ts'

const QUERIES = 10_000
const TYPES = ['A', 'AAAA', 'SRV', 'PTR', 'TXT', 'CNAME', 'ANY', 'TYPE65'].map(
  (text) => parseType(text) ?? 0,
)
const services = [...generateServices(240)]
const namespaces = [...new Set(services.map(({ namespace }) => namespace))]
const objects = [...apiObjects(services), ...namespaces.flatMap(aliasObjects)].map(labelled)
const built = buildSnapshot(clusterOf(objects), kubeadmNaming())
const whole = openBuilt(built)
const labels = readLabels((built.trees?.labels?.shards ?? []).map((bytes) => openShard(bytes)))
for (const shard of whole.shards) if (shard !== undefined) shard.facts = { labels }

/** A namespace with labels that follow from its name. */
function labelled(object: ApiObject): ApiObject {
  if (object.kind !== 'Namespace') return object
  const metadata = object.metadata as Readonly<Record<string, string>>
  const { name } = metadata
  return { ...object, metadata: { ...metadata, labels: labelsOf(name ?? '') } }
}

function labelsOf(name: string): Readonly<Record<string, string>> {
  const tier = name.length % 2 === 0 ? 'gold' : 'tin'
  return { 'kubernetes.io/metadata.name': name, team: `team-${name.slice(0, 1)}`, tier }
}

/** A Service that is an alias of one in another namespace. */
function aliasObjects(namespace: string, i: number): ApiObject[] {
  const other = services[(i * 37 + 100) % services.length]
  const externalName = `${other?.name}.${other?.namespace}.svc.cluster.local`
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'alias', namespace, resourceVersion: '1' },
      spec: { type: 'ExternalName', externalName },
    },
  ]
}

function namespaceOf({ kind, metadata }: ApiObject): string {
  const { name, namespace } = metadata as Readonly<Record<string, string>>
  return (kind === 'Namespace' ? name : namespace) ?? ''
}

function serverOf(snapshot: Snapshot, options = ''): Resolver {
  const host = new FakeHost()
  const source = {
    current: () => snapshot,
    load: () => Promise.resolve(snapshot),
    freshness: () => 'fresh' as const,
  }
  const text = `. {
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      fallthrough in-addr.arpa
      ${options}
    }
    cache 30
    loadbalance
  }`
  return createResolver(parseCorefile(text, 'Corefile', sourceOf()), {
    ...host,
    random16: () => 7,
    openCluster: () => source,
  })
}

function clientOf(view?: ClientVisibility): Client {
  const client: Client = { address: '192.0.2.1', port: 0, transport: 'https' }
  return view === undefined ? client : { ...client, visibility: view }
}

/** A name that is there, or nearly. */
function randomName(random: () => number): string {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const service = pick(services) as GeneratedService
  const { name, namespace, ports, endpoints, clusterIPs } = service
  const zone = 'svc.cluster.local'
  const endpoint = pick(endpoints)
  const dashed = endpoint?.addresses[0]?.replaceAll('.', '-') ?? '10-0-0-1'
  const own = `${name}.${namespace}.${zone}`
  const ip = pick([...clusterIPs, ...(endpoint?.addresses ?? [])]) ?? '10.96.1.1'
  const names = [
    own,
    own,
    `no-${own}`,
    `_${pick(ports)?.name}._tcp.${own}`,
    `_tcp.${own}`,
    `${endpoint?.hostname === '' ? dashed : endpoint?.hostname}.${own}`,
    `${dashed}.${namespace}.pod.cluster.local`,
    `alias.${namespace}.${zone}`,
    `${namespace}.${zone}`,
    `${namespace}.pod.cluster.local`,
    zone,
    reverseName(ip),
  ]
  return pick(names) ?? own
}

function reverseName(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').reverse().join('.')}.in-addr.arpa`
  const [head = '', tail = ''] = ip.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const zeros = Array(8 - groups(head).length - groups(tail).length).fill('0')
  const all = [...groups(head), ...zeros, ...groups(tail)].map((one) => one.padStart(4, '0'))
  return `${[...all.join('')].reverse().join('.')}.ip6.arpa`
}

/** Both ways to an answer, which may be one. */
async function answersTo(
  server: Resolver,
  message: Uint8Array,
  view?: ClientVisibility,
): Promise<Uint8Array[]> {
  const client = new ResolverClient(server, clientOf(view))
  const { fast, slow } = await client.bothWays(message)
  assert.ok(slow)
  return fast === undefined ? [slow] : [fast, slow]
}

describe('a view', () => {
  const initial = namespaces[3]?.slice(0, 1) ?? ''
  const scopes: { name: string; patterns: string[]; sees?: (namespace: string) => boolean }[] = [
    { name: 'of one namespace', patterns: [namespaces[3] ?? ''] },
    { name: 'of namespaces by a pattern', patterns: ['*-prod-*', '*-qa-*'] },
    { name: 'of none', patterns: ['nothing'] },
    { name: 'of all', patterns: ['*'] },
    {
      name: 'of namespaces by a label',
      patterns: ['tier=gold'],
      sees: (namespace) => labelsOf(namespace).tier === 'gold',
    },
    {
      name: 'of namespaces by labels and names',
      patterns: [`team=*-${initial}&tier=tin`, '*-qa-*&tier=g*', namespaces[5] ?? ''],
      sees: (namespace) => {
        const { team, tier } = labelsOf(namespace)
        const isTeam = team === `team-${initial}` && tier === 'tin'
        const isTest = namespace.includes('-qa-') && tier === 'gold'
        return isTeam || isTest || namespace === namespaces[5]
      },
    },
  ]
  for (const rules of ['coredns', 'rfc']) {
    for (const { name, patterns, sees } of scopes) {
      test(`${name} answers as if there were no more, by the rules of ${rules}`, async () => {
        const scope = { clusters: ['*'], origins: ['*'], namespaces: patterns, recurse: true }
        const view = visibilityOf(scope)
        const byName = patterns.includes('*')
          ? () => true
          : (namespace: string) =>
              patterns.some((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`).test(namespace))
        const isSeen = sees ?? byName
        const seen = objects.filter((object) => isSeen(namespaceOf(object)))
        const part = openBuilt(buildSnapshot(clusterOf(seen), kubeadmNaming()))
        const [all, some] = [whole, part].map((one) => serverOf(one, `answers ${rules}`))
        assert.ok(all && some)
        const random = randomFrom(scopes.length)
        for (let i = 0; i < QUERIES / scopes.length / 2; i++) {
          const text = randomName(random)
          const type = TYPES[Math.floor(random() ** 2 * TYPES.length)] ?? 1
          const message = writeQuery({ name: nameOf(text), type, id: 0, udpBytes: 1232 })
          const viewed = await answersTo(all, message, view)
          const alone = await answersTo(some, message)
          assert.deepEqual(viewed, alone, `${text} ${type}`)
          const [one, other] = [viewed, alone].map((replies) =>
            replies.map((one) => formatJsonReply(one)),
          )
          assert.deepEqual(one, other)
        }
      })
    }
  }
})

describe('a cluster that a view has not', () => {
  const scope = { clusters: ['prod'], origins: ['*'], namespaces: ['*'], recurse: false }
  const blocks = `
    prod.test { kubernetes prod.test { cluster prod } }
    stage.test { kubernetes stage.test { cluster stage } }
    lab.test { kubernetes lab.test { cluster stage } }`
  const text = blocks.replaceAll(/([{}])/g, '\n$1\n').replaceAll('\n{', ' {')
  const host = new FakeHost()
  const server = createResolver(parseCorefile(text, 'Corefile', sourceOf()), {
    ...host,
    openCluster: () => ({
      current: () => whole,
      load: () => Promise.resolve(whole),
      freshness: () => 'fresh',
    }),
  })
  const ask = async (name: string, view: ClientVisibility): Promise<Uint8Array[]> =>
    answersTo(server, writeQuery({ name: nameOf(name), type: 1, udpBytes: 1232 }), view)
  const rcodes = (replies: readonly Uint8Array[]): number[] =>
    replies.map((reply) => (reply[3] ?? 0) & 15)

  test('answers like a zone that nobody serves', async () => {
    const view = visibilityOf(scope)
    const name = `${services[1]?.name}.${services[1]?.namespace}.svc`
    assert.deepEqual(rcodes(await ask(`${name}.prod.test`, view)), [0, 0])
    const unknown = await ask(`${name}.stagy.test`, view)
    assert.deepEqual(rcodes(unknown), [5])
    const hidden = await ask(`${name}.stage.test`, view)
    assert.deepEqual(
      hidden.map((reply) => Buffer.from(reply).toString('latin1').replace('stage', 'stagy')),
      unknown.map((reply) => Buffer.from(reply).toString('latin1')),
    )
  })

  test('is absent below an origin that the token may not see', async () => {
    const view = visibilityOf({ ...scope, clusters: ['*'], origins: ['stage.test.'] })
    assert.deepEqual(rcodes(await ask('svc.stage.test', view)), [0, 0])
    assert.deepEqual(rcodes(await ask('svc.lab.test', view)), [5])
    assert.deepEqual(rcodes(await ask('svc.prod.test', view)), [5])
  })
})
