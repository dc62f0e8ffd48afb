/**
 * Pairs of gateways for one client: one of clusters with namespaces that the client may not see,
 * one of clusters that never had them. Everything is drawn from a seed.
 * @module
 */

import type { ApiObject } from '../../bench/cluster-objects.ts'
import { parsed } from '../../bench/generated-server.ts'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../src/cluster/follow/naming.ts'
import { parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { namespaceMatcherOf, newSecret } from '../../src/gateway/access/token.ts'
import { createMemoryTokenStore } from '../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import type { TokenScope } from '../../src/gateway/config/token-scope.ts'
import { createGatewayApp } from '../../src/gateway/routes/app.ts'
import { Gateway, type GatewayRuntime } from '../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../src/gateway/snapshots/store.ts'
import { parseK8sGateway } from '../../src/resolver/plugins/k8s-gateway/options.ts'
import { formatManifest, MANIFEST_VERSION } from '../../src/snapshot/format/manifest.ts'
import type { Right } from '../../src/snapshot/format/rights-table.ts'
import type { ShardEntry } from '../../src/snapshot/format/shard-list.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { parseDirective } from '../ask.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { FakeHost, START_MS } from '../fake-host.ts'
import { FakeIssuer } from '../gateway/fake-issuer.ts'
import { signedBy, tableOf } from '../gateway/publishing.ts'
import { clusterObjects, LOCAL_ADDRESSES, namespaceOf } from './objects.ts'
import { pickFrom, type Random } from './random.ts'
import { CLAIMS, drawRights, KUBERNETES } from './rights.ts'

/** A gateway's answer to a request: its status, headers and body. */
export type Answer = string
/** One request, to both gateways. */
export type ViewRequest = {
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
}
/** Both gateways of a token. */
export type World = {
  readonly token: string
  readonly describe: string
  readonly ask: (request: ViewRequest) => Promise<readonly [hidden: Answer, absent: Answer]>
}

const CLUSTERS = ['east', 'west']
const { privateKey, publicKeyText } = await keys()
const EXPORTER_SHA256 = await sha256Hex(new TextEncoder().encode('exporter'))
const PATTERNS = [['shop'], ['shop', 'blog'], ['team=a'], ['team=a&tier=*', 'blog'], ['s*'], ['no']]

type Kind = {
  readonly rules: string
  readonly pods: string
  readonly isCached: boolean
  /** Whether an issuer knows the client, and a rule says what it sees; it has a token otherwise. */
  readonly isIssued: boolean
  /** Whether this rule follows RBAC, which shows other namespaces in each cluster. */
  readonly isRbac: boolean
}
const issuer = new FakeIssuer('https://login.test')

/** Draws a pair of gateways. */
export async function drawWorld(random: Random): Promise<World> {
  const isIssued = random() < 0.5
  const kind: Kind = {
    rules: pickFrom(random, ['coredns', 'rfc']),
    pods: pickFrom(random, ['disabled', 'insecure', 'verified']),
    isCached: random() < 0.5,
    isIssued,
    isRbac: isIssued && random() < 0.6,
  }
  const scope: TokenScope = {
    clusters: pickFrom(random, [['*'], ['*'], ['east'], ['west']]),
    origins: pickFrom(random, [
      ['*'],
      ['*'],
      ['prod.test.', 'in-addr.arpa.', 'clusterset.local.'],
      ['apps.test.', 'ext.test.'],
    ]),
    namespaces: pickFrom(random, PATTERNS),
    recurse: random() < 0.5,
    explain: true,
  }
  const fits = namespaceMatcherOf(scope.namespaces)
  const drawn = CLUSTERS.map(() => (kind.isRbac ? drawRights(random) : { sees: fits, rights: [] }))
  const id = '0123456789ab'
  const { token: own, sha256 } = await newSecret(id, (size) => new Uint8Array(size).fill(7))
  const token = kind.isIssued ? await issuer.sign(START_MS, CLAIMS) : own
  const secrets = [{ sha256, expiresMs: undefined }]
  const fields = { id, name: '', identities: [], createdMs: 0, expiresMs: undefined }
  const whole = CLUSTERS.map((cluster) => clusterObjects(random, cluster))
  const part = whole.map((objects, i) =>
    objects.filter((object) => isSeen(object, objects, drawn[i]?.sees ?? fits)),
  )
  const namespaces = kind.isRbac ? 'rbac' : scope.namespaces
  const rule = { when: { sub: 'ann' }, ...scope, namespaces }
  const rights = drawn.map((one) => one.rights)
  const apps = await Promise.all(
    [whole, part].map(async (all, i) => {
      const tokens = createMemoryTokenStore()
      await tokens.add({ ...fields, scope, secrets })
      const changes = i === 0 ? 1 + random() * 9 : 0
      return openGateway(kind, { all, tokens, rule, rights, changes })
    }),
  )
  const [one, other] = apps
  if (one === undefined || other === undefined) throw new TypeError('there are two gateways')
  return {
    token,
    describe: JSON.stringify({ kind, scope, rights }),
    ask: async (request) => [await answerOf(one, request), await answerOf(other, request)],
  }
}

function isSeen(
  object: ApiObject,
  objects: readonly ApiObject[],
  sees: ReturnType<typeof namespaceMatcherOf>,
): boolean {
  const namespace = namespaceOf(object)
  const own = objects.find((one) => one.kind === 'Namespace' && namespaceOf(one) === namespace)
  const { labels = {} } = (own?.metadata ?? {}) as { labels?: Record<string, string> }
  return sees(
    namespace,
    Object.entries(labels).map(([key, value]) => `${key}=${value}`),
  )
}

/** A gateway, and what it does beside its answers. */
type App = { readonly app: ReturnType<typeof createGatewayApp>; readonly kept: Promise<void>[] }

/** Opens a gateway of some clusters, which have said something new so many times since a tick. */
async function openGateway(
  { rules, pods, isCached, isIssued }: Kind,
  given: {
    readonly rule: object
    readonly all: readonly (readonly ApiObject[])[]
    /** What users and groups may see, for each cluster. */
    readonly rights: readonly (readonly Right[])[]
    readonly tokens: ReturnType<typeof createMemoryTokenStore>
    readonly changes: number
  },
): Promise<App> {
  const host = new FakeHost()
  const stores = await Promise.all(
    given.all.map((objects, i) =>
      publish(objects, {
        ...{ cluster: CLUSTERS[i] ?? '', pods, nowMs: host.now() },
        ...{ changes: given.changes, rights: given.rights[i] ?? [] },
      }),
    ),
  )
  const more = `${isCached ? 'cache\n' : ''}  loadbalance\n  hosts {\n    192.0.2.1 db.hosts.test\n    fallthrough\n  }`
  const corefile = `
. {
  kubernetes prod.test in-addr.arpa ip6.arpa {
    cluster east
    answers ${rules}
    fallthrough in-addr.arpa
  }
  ${more}
}
lab.test {
  kubernetes lab.test {
    cluster west
    answers ${rules}
  }
}
apps.test {
  k8s_gateway apps.test {
    cluster east
  }
}
ext.test {
  k8s_external ext.test in-addr.arpa {
    cluster east
  }
}
clusterset.local {
  kubernetes clusterset.local {
    cluster east west
    multicluster clusterset.local
    answers ${rules}
  }
}
`
  const cluster = { publicKey: publicKeyText, tokenSha256: EXPORTER_SHA256 }
  const variables = {
    COREFILE: corefile,
    CLUSTERS: JSON.stringify(Object.fromEntries(CLUSTERS.map((id) => [id, cluster]))),
    REQUESTS_PER_MINUTE: '0',
    ...(isIssued && {
      ISSUERS: JSON.stringify([
        {
          issuer: issuer.url,
          audiences: ['kubedoh'],
          kubernetes: KUBERNETES,
          rules: [given.rule],
        },
      ]),
    }),
  }
  const kept: Promise<void>[] = []
  const config = await readGatewayConfig(variables)
  const runtime: GatewayRuntime = {
    host: { ...host, random16: () => 7 },
    originOf: (id) => stores[CLUSTERS.indexOf(id)] ?? createMemoryStore(),
    writerOf: () => {
      throw new Error('nothing is written')
    },
    tokenStore: given.tokens,
    randomBytes: (size) => new Uint8Array(size),
    identitiesOf: () => [],
    fetch: issuer.fetch,
    clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }),
    keepAlive: (_, promise) => kept.push(promise),
  }
  const app = createGatewayApp(config, runtime, await Gateway.open(config, runtime))
  return { app, kept }
}

async function publish(
  objects: readonly ApiObject[],
  given: {
    readonly cluster: string
    readonly pods: string
    readonly nowMs: number
    readonly changes: number
    readonly rights: readonly Right[]
  },
): Promise<ReturnType<typeof createMemoryStore>> {
  const { cluster: id, pods, nowMs, changes, rights } = given
  const store = createMemoryStore()
  const line = `kubernetes cluster.local clusterset.local in-addr.arpa ip6.arpa {\n  pods ${pods}\n  multicluster clusterset.local\n}`
  const options = parseKubernetes(parseDirective(line), [nameOf('.')])
  const list = (shards: readonly Uint8Array[]): Promise<ShardEntry[]> =>
    Promise.all(
      shards.map(async (bytes) => {
        const sha256 = await sha256Hex(bytes)
        await store.writeShard(sha256, bytes, nowMs)
        return { sha256, bytes: bytes.length }
      }),
    )
  const directive = parseDirective(
    'k8s_gateway apps.test {\n  resources Ingress Service DNSEndpoint\n}',
  )
  const trees = publishedTrees(options, {
    localAddresses: LOCAL_ADDRESSES,
    cluster: id,
    trees: [
      { kind: 'external', ttlSeconds: 5, hasEndpoints: true },
      parseK8sGateway(directive, []).tree,
    ],
  })
  const source = createObjectSource(objects.map(parsed), {
    naming: namingOptions(options, LOCAL_ADDRESSES),
    trees,
    onWarning: () => undefined,
    now: () => nowMs,
  })
  const main = source.build()
  const listed = await Promise.all(
    Object.entries(main.trees ?? {}).map(async ([name, { ttlSeconds, records, shards }]) => [
      name,
      { ttlSeconds, records, shards: await list(shards) },
    ]),
  )
  const table = rights.length === 0 ? [] : await list([await tableOf(rights)])
  const generation = Math.floor(nowMs / 1000 + 10 * changes)
  const manifest = formatManifest({
    version: MANIFEST_VERSION,
    cluster: id,
    generation,
    time: new Date(nowMs + 100 * changes).toISOString(),
    confirmed: new Date(nowMs).toISOString(),
    origins: main.origins,
    ttlSeconds: main.ttlSeconds,
    records: main.records,
    sources: { services: String(changes) },
    shards: await list(main.shards),
    trees: Object.fromEntries(listed),
    ...(table[0] && { rights: table[0] }),
  })
  const kept = { generations: new Set<number>(), shards: new Set<string>() }
  await store.writeManifest(generation, await signedBy(privateKey, manifest), kept)
  return store
}

async function answerOf({ app, kept }: App, request: ViewRequest): Promise<Answer> {
  const { path, method, headers, body } = request
  const init = { method, headers, ...(body && { body }) }
  const response = await app.request(`https://dns.example.org${path}`, init)
  const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1')
  // What an answer has begun in the background is there for the next one.
  await Promise.all(kept.splice(0))
  return JSON.stringify([response.status, [...response.headers].sort(), bytes])
}
