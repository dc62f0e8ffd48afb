/**
 * The walk-through of the document 001_5be81a2c7c829ea9: the cache of a KubeSphere node at
 * 169.254.25.10 as kubespray installs it, with real interfaces; what the document asks of it, and
 * its mishap at the end, a second resolver that does not know inside names. Needs root.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { findMissing } from '../clients/programs.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Around, Node } from './node.ts'

const CACHE = '169.254.25.10'
const SERVICE = '10.233.0.3'
const SERVER = '10.233.74.65'
/** The resolvers of the node: of the company, and two of the Internet. */
const [INSIDE, PUBLIC, OTHER] = ['100.64.11.3', '114.114.114.114', '119.29.29.29']
const INSIDE_NAME = 'gitlab.corp.example'
const REDIS = 'redis-ha.kubesphere-system.svc.cluster.local'
const REDIS_ADDRESSES = ['10.233.102.133', '10.233.74.71', '10.233.75.4']

const SERVERS = `cluster.local in-addr.arpa ip6.arpa {
    bind ${SERVER}
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
    }
    prometheus ${SERVER}:9153
}
. {
    bind ${INSIDE}
    hosts {
        192.0.2.7 ${INSIDE_NAME}
        192.0.2.8 www.example.com
    }
}
www.example.com {
    bind ${PUBLIC} ${OTHER}
    hosts {
        192.0.2.8 www.example.com
    }
}
. {
    bind ${PUBLIC} ${OTHER}
    template ANY ANY {
        rcode NXDOMAIN
    }
}
`
const OBJECTS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ...serviceOf('default', 'kubernetes', '10.233.0.1', []),
    ...serviceOf('kube-system', 'coredns', SERVICE, [SERVER]),
    ...serviceOf('kubesphere-system', 'redis-ha', 'None', REDIS_ADDRESSES),
    ...serviceOf('kubesphere-system', 'redis-ha-announce-1', '10.233.7.9', ['10.233.102.133']),
  ],
}
const AROUND: Around = {
  files: {
    Cluster: SERVERS,
    Corefile: readFileSync(
      join(import.meta.dirname, '../corefiles/kubesphere-nodelocal.Corefile'),
      'utf8',
    ),
    'objects.json': JSON.stringify(OBJECTS),
  },
  servers: [SERVER, INSIDE, PUBLIC, OTHER],
  services: [[SERVICE, SERVER]],
}

const missing =
  process.getuid?.() === 0
    ? ['ip', 'iptables', 'dig'].map(findMissing).find((one) => one !== undefined)
    : 'needs root for network namespaces'

function serviceOf(
  namespace: string,
  name: string,
  clusterIP: string,
  addresses: readonly string[],
): unknown[] {
  const labels = { 'kubernetes.io/service-name': name }
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name },
      spec: { clusterIP, ports },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name, labels },
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address] })),
      ports,
    },
  ]
}

/** Starts the node with the cache, as the DaemonSet of the document does. */
async function startNode(t: TestContext): Promise<Node> {
  const node = await Node.create(t, AROUND)
  // The cache of the node queries the Service as well.
  node.sh(`ip route add 10.233.0.0/18 dev lo src ${SERVER}
for protocol in udp tcp; do
  iptables -t nat -A OUTPUT -d ${SERVICE} -p $protocol --dport 53 -j DNAT --to ${SERVER}
done`)
  node.setOwnResolvConf([INSIDE, PUBLIC, OTHER].map((one) => `nameserver ${one}\n`).join(''))
  const corefile = join(node.folder, 'Corefile')
  const flags = ['-localip', CACHE, '-conf', corefile, '-upstreamsvc', 'coredns']
  const cache = node.start(['node-cache', ...flags], { COREDNS_SERVICE_HOST: SERVICE })
  await node.shows(cache, /ready: DNS/)
  return node
}

/** Counts the queries that a server has got over a protocol. */
function queriesOf(metrics: string, protocol: string): number {
  const rows = metrics.matchAll(/^coredns_dns_requests_total\{(.*)\} (\d+)$/gm)
  return [...rows]
    .filter(([, labels]) => labels?.includes(`proto="${protocol}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
}

describeUnless(missing, '001_5be81a2c7c829ea9', () => {
  test('a cache at 169.254.25.10 answers what the document asks', async (t) => {
    const node = await startNode(t)
    assert.match(node.sh('ip -o address show dev nodelocaldns'), / 169\.254\.25\.10\/32 /)
    const lines = (name: string, ...options: readonly string[]): string[] =>
      node
        .dig(CACHE, name, ...options)
        .split('\n')
        .sort()

    // dig -x 10.233.0.3, dig -x 10.233.0.1, and the same at the Service.
    assert.deepEqual(lines('', '-x', SERVICE), ['coredns.kube-system.svc.cluster.local.'])
    assert.deepEqual(lines('', '-x', '10.233.0.1'), ['kubernetes.default.svc.cluster.local.'])
    assert.equal(node.dig(SERVICE, '', '-x', '10.233.0.1'), 'kubernetes.default.svc.cluster.local.')
    assert.deepEqual(lines(REDIS), REDIS_ADDRESSES)
    const reverse = lines('', '-x', '10.233.102.133')
    const label = '10-233-102-133'
    assert.deepEqual(reverse, [
      `${label}.redis-ha-announce-1.kubesphere-system.svc.cluster.local.`,
      `${label}.${REDIS}.`,
    ])
    // The name of a pod of a StatefulSet without its Service is none.
    const pod = 'redis-ha-server-1.kubesphere-system.svc.cluster.local'
    const denied = node.pod(`dig +tries=1 +time=3 @${CACHE} ${pod}`)
    assert.match(denied, /status: NXDOMAIN[\s\S]*QUERY: 1, ANSWER: 0, AUTHORITY: 1/)
    assert.deepEqual(lines('www.example.com'), ['192.0.2.8'])
  })

  test("a pod's resolver goes through its search list", async (t) => {
    const node = await startNode(t)
    node.setResolvConf(`nameserver ${CACHE}
search default.svc.cluster.local svc.cluster.local cluster.local
options ndots:5
`)
    assert.match(node.pod('getent ahostsv4 kubernetes.default'), /^10\.233\.0\.1 /)
    assert.match(node.pod('getent ahostsv4 kubernetes'), /^10\.233\.0\.1 /)
  })

  test('the cache queries the servers over TCP only, and has metrics and health', async (t) => {
    const node = await startNode(t)
    const metrics = (place: string): string => node.sh(`curl -s http://${place}/metrics`)
    const before = queriesOf(metrics(`${SERVER}:9153`), 'udp')
    for (const name of [REDIS, 'a.default.svc.cluster.local', '9.0.233.10.in-addr.arpa']) {
      node.dig(CACHE, name)
    }
    assert.equal(queriesOf(metrics(`${SERVER}:9153`), 'udp'), before)
    assert.ok(queriesOf(metrics(`${SERVER}:9153`), 'tcp') >= 3)
    assert.ok(queriesOf(metrics('127.0.0.1:9253'), 'udp') >= 3)
    assert.equal(node.sh(`curl -s http://${CACHE}:9254/health`), 'OK')
  })

  test('doctor --name reports that the resolvers of the node disagree', async (t) => {
    const node = await startNode(t)
    const conf = ['--conf', join(node.folder, 'Corefile')]
    const doctor = async (
      ...flags: readonly string[]
    ): Promise<{ readonly text: string; readonly status: unknown }> => {
      const { child, output } = node.start(['doctor', '--name', INSIDE_NAME, ...flags])
      const status = await new Promise((resolve) => child.once('close', resolve))
      return { text: output(), status }
    }
    const line = `problem  name       upstreams disagree about ${INSIDE_NAME}. A: `
    // Of the cache's Corefile, and of the resolv.conf that its Pod has.
    for (const { text, status } of [await doctor(...conf), await doctor()]) {
      assert.ok(text.includes(line), text)
      assert.match(text, /100\.64\.11\.3:53 answers 192\.0\.2\.7; 114\.\S+ answers NXDOMAIN/)
      assert.equal(status, 1)
    }
    // What the author did: only the resolver of the company is left.
    node.setOwnResolvConf(`nameserver ${INSIDE}\n`)
    const one = await doctor(...conf)
    assert.match(
      one.text,
      /^ok +name +100\.64\.11\.3:53 answers 192\.0\.2\.7 to gitlab\.corp\.example\. A$/m,
    )
    assert.equal(one.status, 0, one.text)
  })
})
