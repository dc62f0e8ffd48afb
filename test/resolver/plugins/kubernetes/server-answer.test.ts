import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { visibilityOf } from '../../../../src/gateway/access/token.ts'
import {
  isServerName,
  seenServers,
} from '../../../../src/resolver/plugins/kubernetes/server-answer.ts'
import { zoneReply } from '../../../../src/resolver/plugins/kubernetes/zone-reply.ts'
import { openShard } from '../../../../src/snapshot/read/open-shard.ts'
import { Visibility } from '../../../../src/snapshot/read/visibility.ts'
import { SERVER_CHOICES } from '../../../../src/snapshot/records/server-choice.ts'
import { buildShards } from '../../../../src/snapshot/write/build-shards.ts'
import { WHOLE_SCOPE } from '../../../gateway/whole-scope.ts'
import { queryOf, viewOf } from './view.ts'

const LOCAL = ['198.51.100.1', '2001:db8::1']

/** A Service with one of the server's addresses among its endpoints. */
function serving(name: string, namespace: string, spec: string, more = ''): string {
  return `
- { kind: Service, metadata: { name: ${name}, namespace: ${namespace} }, spec: { ${spec} } }
- kind: EndpointSlice
  metadata: { name: ${name}-1, namespace: ${namespace}, labels: { kubernetes.io/service-name: ${name} } }
  endpoints: [{ addresses: [198.51.100.1], hostname: a }${more}]`
}

const namespace = (name: string): string => `\n- { kind: Namespace, metadata: { name: ${name} } }`
const DNS = namespace('kube-system') + serving('dns', 'kube-system', 'clusterIP: 192.0.2.10')
const HEADLESS =
  namespace('core') + serving('dns', 'core', 'clusterIP: None', ', { addresses: [198.51.100.7] }')
const SHOP = namespace('shop') + serving('agent', 'shop', 'clusterIP: 192.0.2.20')
const ORPHAN =
  namespace('shop') +
  serving('agent', 'shop', 'clusterIP: 192.0.2.20').replace(/\n- { kind: Service,.*/, '')

const QUESTIONS = [
  '',
  'ns.dns',
  'NS.dns',
  'dns',
  'x.ns.dns',
  '_ns',
  'dns.kube-system.svc',
  'kube-system.svc',
]
  .concat('dns.core.svc', 'a.dns.core.svc', 'agent.shop.svc')
  .flatMap((name) =>
    ['NS', 'A', 'AAAA', 'SRV', 'TXT', 'PTR'].map(
      (type) => `${name === '' ? '' : `${name}.`}cluster.local ${type}`,
    ),
  )

/** What a client that sees `shop` alone gets for all of the questions, and with which addresses. */
async function repliesOf(objects: string, rules: string): Promise<string[]> {
  const line = `kubernetes cluster.local {\n  answers ${rules}\n}`
  const view = visibilityOf({ ...WHOLE_SCOPE, namespaces: ['shop'] })
  return Promise.all(
    QUESTIONS.map(async (question) => {
      const query = queryOf(question)
      const place = viewOf(query, line, {
        objects: objects.trim(),
        localAddresses: LOCAL,
        shardCount: 4,
      })
      const result = await zoneReply(query, { ...place, visibility: view }, false)
      const reply = result.kind === 'found' ? result.reply : undefined
      const sections = [reply?.answer, reply?.authority, reply?.additional]
      return `${question} ${result.kind} ${JSON.stringify(sections, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))}`
    }),
  )
}

describe('name servers in namespaces that a client does not see are answered as if not there', () => {
  const cases = [
    { name: 'a Service', hidden: DNS, seen: namespace('shop') },
    { name: 'a headless one', hidden: HEADLESS, seen: namespace('shop') },
    { name: 'several of them', hidden: DNS + HEADLESS, seen: namespace('shop') },
    { name: 'beside one that it sees', hidden: DNS + HEADLESS, seen: SHOP },
    { name: 'beside endpoints of no Service that it sees', hidden: DNS, seen: ORPHAN },
  ]
  for (const { name, hidden, seen } of cases) {
    for (const rules of ['coredns', 'rfc']) {
      test(`${name}, by the rules of ${rules}`, async () => {
        const replies = await repliesOf(hidden + seen, rules)
        assert.deepEqual(replies, await repliesOf(seen, rules))
        assert.equal(parse(hidden + seen).length > parse(seen).length, true)
      })
    }
  }
})

test('names that depend on the name servers are the apex, for NS, ns.dns and what is above it', () => {
  const sizeOf = (question: string): number => (question.split(' ')[0] ?? '').length + 1
  const asked = QUESTIONS.filter((question) => {
    const below = sizeOf(question) - 'cluster.local '.length
    return isServerName(queryOf(question), Math.max(0, below))
  })
  assert.deepEqual(
    [...new Set(asked.map((question) => question.toLowerCase().split(' ')[0]))],
    ['cluster.local', 'ns.dns.cluster.local', 'dns.cluster.local'],
  )
  assert.ok(asked.includes('cluster.local NS') && !asked.includes('cluster.local A'))
})

test('Without records of whose they are, all clients have the same name servers', () => {
  const [bytes = new Uint8Array(0)] = buildShards([
    { kind: 'name', owner: SERVER_CHOICES, namespace: '' },
  ])
  const shard = openShard(bytes)
  const node = shard.findNode(SERVER_CHOICES, SERVER_CHOICES.length)
  const nothing = new Visibility(() => false)
  assert.equal(seenServers(shard, node, nothing), undefined)
  assert.equal(seenServers(shard, 0, nothing), undefined)
})
