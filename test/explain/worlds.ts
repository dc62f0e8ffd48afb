/**
 * The servers of the golden cases: a DNS server in a cluster, and a gateway with the snapshots of
 * the same cluster. Each answers a question and explains it.
 * @module
 */
import assert from 'node:assert/strict'
import { parse } from 'yaml'
import { parsed } from '../../bench/generated-server.ts'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../src/cluster/follow/naming.ts'
import { parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import type { TokenScope } from '../../src/gateway/config/token-scope.ts'
import { explain } from '../../src/resolver/chain/explain.ts'
import { type ExplanationJson, explanationJson } from '../../src/resolver/chain/explanation-json.ts'
import { Incoming } from '../../src/resolver/chain/incoming.ts'
import { parseK8sGateway } from '../../src/resolver/plugins/k8s-gateway/options.ts'
import { parseDirective, serve } from '../ask.ts'
import { FakeHost, type UpstreamScript } from '../fake-host.ts'
import { Running } from '../gateway/running.ts'
import { tokenRecord } from '../gateway/tokens.ts'
import { WHOLE_SCOPE } from '../gateway/whole-scope.ts'
import { formatReply, parseQuestion } from '../message-text.ts'

/** What a server answers, as lines, and its explanation. */
export type Answered = { readonly reply: readonly string[]; readonly json: ExplanationJson }
/** Answers `NAME TYPE`. */
export type World = (question: string) => Promise<Answered>

/** The objects of all worlds. */
export const OBJECTS = `
- { kind: Namespace, metadata: { name: shop, labels: { team: a } } }
- { kind: Namespace, metadata: { name: data } }
- { kind: Namespace, metadata: { name: blog } }
- kind: Service
  metadata: { name: web, namespace: shop }
  spec: { clusterIP: 10.96.0.80, ports: [{ name: http, port: 80 }, { name: https, port: 443 }] }
- kind: Service
  metadata: { name: api, namespace: shop }
  spec: { clusterIP: 10.96.0.81, clusterIPs: [10.96.0.81, 'fd00::81'], ports: [{ port: 8080 }] }
- kind: Service
  metadata: { name: out, namespace: shop }
  spec: { type: ExternalName, externalName: www.example.org }
- kind: Service
  metadata: { name: gone, namespace: shop }
  spec: { type: ExternalName, externalName: gone.example.org }
- kind: Service
  metadata: { name: db, namespace: data }
  spec: { clusterIP: None, ports: [{ name: sql, port: 5432 }] }
- kind: EndpointSlice
  metadata: { name: db-1, namespace: data, labels: { kubernetes.io/service-name: db } }
  endpoints:
    - { addresses: [10.244.1.40], hostname: db-0 }
    - { addresses: [10.244.1.41], hostname: db-1, conditions: { ready: false } }
  ports: [{ name: sql, port: 5432, protocol: TCP }]
- kind: Service
  metadata: { name: idle, namespace: data }
  spec: { clusterIP: None, ports: [{ name: sql, port: 5432 }] }
- kind: EndpointSlice
  metadata: { name: idle-1, namespace: data, labels: { kubernetes.io/service-name: idle } }
  endpoints: [{ addresses: [10.244.1.50], hostname: idle-0, conditions: { ready: false } }]
  ports: [{ name: sql, port: 5432, protocol: TCP }]
- kind: Service
  metadata: { name: unused, namespace: data }
  spec: { clusterIP: None, ports: [{ name: sql, port: 5432 }] }
- kind: Service
  metadata: { name: numeric, namespace: data }
  spec: { type: ExternalName, externalName: 192.0.2.7 }
- kind: Service
  metadata: { name: web, namespace: blog }
  spec: { clusterIP: 10.96.0.90, ports: [{ name: http, port: 80 }] }
- kind: Pod
  metadata: { name: db-0, namespace: data }
  status: { podIP: 10.244.1.40, phase: Running }
- kind: Ingress
  metadata: { name: site, namespace: shop }
  spec: { rules: [{ host: www.apps.test }] }
  status: { loadBalancer: { ingress: [{ ip: 192.0.2.80 }] } }
`

/** Responses of the upstream by name; it is silent at `silent`, and others do not exist. */
const RESPONSES: Readonly<Record<string, readonly string[]>> = {
  'www.example.org. IN A': ['NOERROR ra', 'www.example.org. 60 IN A 192.0.2.80'],
  'empty.example.com. IN TXT': ['NOERROR ra'],
  'no.example.com. IN A': ['REFUSED', 'ede: 18 Prohibited by \u202epolicy'],
  'broken.example.com. IN A': ['SERVFAIL'],
}

const UPSTREAM: UpstreamScript = ({ question }) => {
  if (question.startsWith('down.')) return new Error('connect ECONNREFUSED 192.0.2.53:53')
  return RESPONSES[question.split(' ', 3).join(' ')] ?? ['NXDOMAIN ra']
}

/** The Corefiles of servers in the cluster. */
const COREFILES = {
  kubeadm: `
.:53 {
  errors
  rewrite name old.example.org web.shop.svc.cluster.local
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  forward . 192.0.2.53
  cache 30
}`,
  plain: `
cluster.local in-addr.arpa {
  kubernetes cluster.local in-addr.arpa {
    pods verified
  }
}
hosts.test {
  hosts {
    192.0.2.1 db.hosts.test
  }
}
acl.test {
  acl {
    block
  }
  forward . 192.0.2.53
}
drop.test {
  acl {
    drop
  }
  forward . 192.0.2.53
}
apps.test {
  k8s_gateway apps.test
}`,
  rfc: `
cluster.local in-addr.arpa {
  errors
  kubernetes cluster.local in-addr.arpa {
    answers rfc
    pods disabled
  }
}`,
}

/** The worlds by name. */
export const WORLDS: Readonly<Record<string, () => Promise<World>>> = {
  kubeadm: () => inCluster('kubeadm'),
  plain: () => inCluster('plain'),
  rfc: () => inCluster('rfc'),
  starting: () => inCluster('plain', 'partial'),
  unread: () => inCluster('plain', 'never'),
  edge: () => atEdge({}, 0),
  'edge, token for shop': () => atEdge({ namespaces: ['shop'] }, 0),
  'edge, token for team=a': () => atEdge({ namespaces: ['team=a'] }, 0),
  'edge, token for another cluster': () => atEdge({ clusters: ['other'] }, 0),
  'edge, token without recursion': () => atEdge({ recurse: false }, 0),
  'edge, a day later': () => atEdge({}, 86_400_000),
  'edge, nothing published': () => atEdge({}),
}

const CLIENT = { address: '192.0.2.1', port: 1, transport: 'udp' } as const

async function inCluster(
  name: keyof typeof COREFILES,
  state?: 'partial' | 'never',
): Promise<World> {
  const server = serve(COREFILES[name], {
    cluster: {
      objects: OBJECTS,
      localAddresses: ['10.96.0.10'],
      ...(name === 'kubeadm' && { hasObjects: true }),
      ...(state === 'partial' && { freshness: 'partial' }),
      ...(state === 'never' && { presence: 'never' }),
    },
    upstream: UPSTREAM,
  })
  const [listener] = server.resolver.listeners
  assert.ok(listener)
  return async (question) => {
    const { message } = parseQuestion(`${question} +edns`)
    const incoming = new Incoming().read(message, CLIENT)
    const explanation = await explain(server.resolver, listener, incoming)
    const reply = await server.answer(message, CLIENT)
    const json = explanationJson(explanation, null)
    assert.ok(json !== undefined || reply === undefined, 'a response and its explanation')
    if (json === undefined || reply === undefined) return { reply: [], json: DROPPED }
    return { reply: formatReply(reply), json }
  }
}

/** Stands for a query that gets no response, and so no JSON. */
const DROPPED: ExplanationJson = {
  question: undefined,
  status: 'no response',
  answer: [],
  authority: [],
  additional: [],
  records: [],
  reason: null,
  serverBlock: null,
  plugins: [],
  facts: [],
  view: null,
}

const EDGE = `
. {
  errors
  kubernetes prod.test cluster.local in-addr.arpa {
    cluster shop
  }
  forward . 192.0.2.53
}
apps.test {
  k8s_gateway apps.test {
    cluster shop
  }
}
ext.test {
  k8s_external ext.test {
    cluster shop
  }
}`
const EXPORTED = parseKubernetes(
  parseDirective('kubernetes cluster.local in-addr.arpa {\n  pods verified\n}'),
  [nameOf('.')],
)

/** Creates a gateway; with `laterMs`, so long after its cluster's only publication. */
async function atEdge(scope: Partial<TokenScope>, laterMs?: number): Promise<World> {
  const host = new FakeHost({ upstream: UPSTREAM })
  const running = await Running.start({ COREFILE: EDGE }, host)
  const { token, record } = await tokenRecord({
    scope: { ...WHOLE_SCOPE, ...scope, explain: true },
  })
  await running.tokens.add(record)
  if (laterMs !== undefined) await publish(running)
  await host.advance(laterMs ?? 0)
  return async (question) => {
    const { message } = parseQuestion(`${question} +edns`)
    const [name = '', type = ''] = question.split(' ')
    const explained = await running.get(`/v1/explain?${new URLSearchParams({ name, type })}`, token)
    const answered = await running.get(`/dns-query?dns=${encodeBase64url(message)}`, token)
    assert.deepEqual([explained.status, answered.status], [200, 200], question)
    const reply = formatReply(new Uint8Array(await answered.arrayBuffer()))
    const json = (await explained.json()) as ExplanationJson
    return { reply, json }
  }
}

async function publish(running: Running): Promise<void> {
  const { now } = running.host
  const source = createObjectSource(parse(OBJECTS).map(parsed), {
    naming: namingOptions(EXPORTED, ['10.96.0.10']),
    trees: publishedTrees(EXPORTED, {
      localAddresses: [],
      cluster: 'shop',
      trees: [
        { kind: 'external', ttlSeconds: 5, hasEndpoints: false },
        parseK8sGateway(parseDirective('k8s_gateway apps.test'), []).tree,
      ],
    }),
    onWarning: () => undefined,
    now,
  })
  await running.exporter(now).publish(source.build(), { sources: {}, confirmedMs: now() })
}
