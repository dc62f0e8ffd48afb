import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'
import type { FakeHostOptions, UpstreamScript } from '../../../fake-host.ts'
import { formatReply, parseQuestion } from '../../../message-text.ts'

const OBJECTS = `
- {kind: Namespace, metadata: {name: shop}}
- {kind: Namespace, metadata: {name: blog}}
- kind: Pod
  metadata: {name: asking, namespace: shop}
  status: {phase: Running, podIP: 10.244.0.7}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
- kind: Service
  metadata: {name: posts, namespace: blog}
  spec: {clusterIP: 10.96.0.2, ports: [{port: 80}]}
- kind: Service
  metadata: {name: out, namespace: shop}
  spec: {type: ExternalName, externalName: www.example.org}
- kind: Service
  metadata: {name: gone, namespace: shop}
  spec: {type: ExternalName, externalName: gone.example.org}
`
const POD = '+from=10.244.0.7'
const upstream: UpstreamScript = ({ question }) => {
  const [name = ''] = question.split(' ')
  if (name === 'www.example.org.') return ['NOERROR ra', 'www.example.org. 300 IN A 192.0.2.1']
  if (name === 'gone.') return ['NOERROR ra', 'gone. 300 IN A 192.0.2.2']
  if (name === 'refused.example.org.') return ['REFUSED']
  if (name === 'broken.example.org.') return new Error('nobody is there')
  return ['NXDOMAIN ra', 'authority: example.org. 60 IN SOA a. b. 1 2 3 4 5']
}
const RESOLV_CONF = 'nameserver 192.0.2.53\nsearch first.test second.test\n'
const HOSTS = directive(
  'hosts none first.test second.test',
  '192.0.2.1 here.first.test both.first.test',
  '192.0.2.2 there.second.test both.second.test',
)

function pods(options: FakeHostOptions = {}, ...directives: readonly string[]): Server {
  const corefile = block(
    'autopath @kubernetes',
    ...directives,
    directive('kubernetes cluster.local', 'pods verified'),
    'forward . 192.0.2.53',
  )
  return serve(corefile, { upstream, cluster: { objects: OBJECTS }, ...options })
}

describe('autopath for Pods', () => {
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'answers a name of the own namespace as it is',
      ask: `web.shop.svc.cluster.local A ${POD}`,
      reply: ['NOERROR aa rd', 'web.shop.svc.cluster.local. 5 IN A 10.96.0.1'],
    },
    {
      name: 'ends at an alias, even if it points to a name that does not exist',
      ask: `gone.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NXDOMAIN aa rd',
        'gone.shop.svc.cluster.local. 5 IN CNAME gone.example.org.',
        'authority: example.org. 60 IN SOA a. b. 1 2 3 4 5',
      ],
    },
    {
      name: 'finds a Service of another namespace by the second element',
      ask: `posts.blog.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NOERROR aa rd',
        'posts.blog.shop.svc.cluster.local. 5 IN CNAME posts.blog.svc.cluster.local.',
        'posts.blog.svc.cluster.local. 5 IN A 10.96.0.2',
      ],
    },
    {
      name: 'finds it by the third element',
      ask: `posts.blog.svc.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NOERROR aa rd',
        'posts.blog.svc.shop.svc.cluster.local. 5 IN CNAME posts.blog.svc.cluster.local.',
        'posts.blog.svc.cluster.local. 5 IN A 10.96.0.2',
      ],
    },
    {
      name: 'finds names outside the cluster in the end',
      ask: `www.example.org.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NOERROR rd ra',
        'www.example.org.shop.svc.cluster.local. 300 IN CNAME www.example.org.',
        'www.example.org. 300 IN A 192.0.2.1',
      ],
    },
    {
      name: 'has no CNAME to make where there is no data',
      ask: `posts.blog.shop.svc.cluster.local AAAA ${POD}`,
      reply: [
        'NOERROR aa rd',
        'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ' +
          '1767225600 7200 1800 86400 5',
      ],
    },
    {
      name: 'makes a CNAME before a CNAME, as CoreDNS does',
      ask: `out.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NOERROR aa rd',
        'out.shop.svc.cluster.local. 300 IN CNAME www.example.org.',
        'out.shop.svc.cluster.local. 5 IN CNAME www.example.org.',
        'www.example.org. 300 IN A 192.0.2.1',
      ],
    },
    {
      name: 'answers with the first answer when nothing is found',
      ask: `nosuch.shop.svc.cluster.local A ${POD}`,
      reply: [
        'NXDOMAIN rd',
        'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ' +
          '1767225600 7200 1800 86400 5',
      ].map((line) => line.replace('NXDOMAIN rd', 'NXDOMAIN aa rd')),
    },
    {
      name: 'believes any other answer',
      ask: `refused.example.org.shop.svc.cluster.local A ${POD}`,
      reply: ['REFUSED rd'],
    },
    {
      name: 'ends where a server cannot be reached',
      ask: `broken.example.org.shop.svc.cluster.local A ${POD}`,
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'does nothing for a name below another namespace',
      ask: `www.example.org.blog.svc.cluster.local A ${POD}`,
      reply: [
        'NXDOMAIN aa rd',
        'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ' +
          '1767225600 7200 1800 86400 5',
      ],
    },
    {
      name: 'does nothing for the first element itself',
      ask: `shop.svc.cluster.local A ${POD}`,
      reply: [
        'NOERROR aa rd',
        'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ' +
          '1767225600 7200 1800 86400 5',
      ],
    },
    {
      name: 'does nothing for a client that is not a Pod',
      ask: 'www.example.org.shop.svc.cluster.local A',
      reply: [
        'NXDOMAIN aa rd',
        'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. ' +
          '1767225600 7200 1800 86400 5',
      ],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await pods().ask(ask), reply)
    })
  }

  test('goes on with what this machine searches', async () => {
    const files = { '/etc/resolv.conf': 'search example.org' }
    const reply = await pods({ files }).ask(`www.shop.svc.cluster.local A ${POD}`)
    assert.deepEqual(reply, [
      'NOERROR rd ra',
      'www.shop.svc.cluster.local. 300 IN CNAME www.example.org.',
      'www.example.org. 300 IN A 192.0.2.1',
    ])
  })

  test('restores the query name when nothing is found, as CoreDNS does', async () => {
    const { message } = parseQuestion('NoSuch.SHOP.svc.Cluster.local A')
    const client = { address: '10.244.0.7', port: 1, transport: 'udp' } as const
    const bytes = await pods().answer(message, client)
    assert.ok(bytes !== undefined)
    const { message: spelled } = parseQuestion('NoSuch.shop.svc.cluster.local A')
    assert.deepEqual(bytes.subarray(12, spelled.length), spelled.subarray(12))
    assert.equal(formatReply(bytes)[0], 'NXDOMAIN aa rd')
  })

  test('stays on the fast path unless it has to search, and counts both', async () => {
    const server = pods()
    const isQuick = (question: string): Promise<boolean> => server.isQuick(question)
    assert.equal(await isQuick(`web.shop.svc.cluster.local A ${POD}`), true)
    assert.equal(await isQuick(`web.shop.svc.cluster.local AAAA ${POD}`), true)
    assert.equal(await isQuick(`nosuch.blog.svc.cluster.local A ${POD}`), true)
    assert.equal(await isQuick('nosuch.shop.svc.cluster.local A'), true)
    assert.equal(await isQuick(`nosuch.shop.svc.cluster.local A ${POD}`), false)
    await server.ask(`posts.blog.shop.svc.cluster.local A ${POD}`)
    // `isQuick` asks both ways.
    assert.match(
      server.host.metrics.format(),
      /^coredns_autopath_success_total\{server="dns:\/\/:53"\} 5$/m,
    )
  })

  test('searches by the cache, if there is one', async () => {
    const server = pods({}, 'cache')
    const ask = `www.example.org.shop.svc.cluster.local A ${POD}`
    await server.ask(ask)
    await server.ask(ask)
    assert.equal(server.host.asked.length, 1)
  })

  test('knows no Pods that are not verified', async () => {
    const corefile = block(
      'autopath @kubernetes',
      directive('kubernetes cluster.local', 'pods insecure'),
    )
    const server = serve(corefile, { cluster: { objects: OBJECTS } })
    const reply = await server.ask(`posts.blog.shop.svc.cluster.local A ${POD}`)
    assert.equal(reply[0], 'NXDOMAIN aa rd')
  })
})

describe('autopath from a file', () => {
  const files = { 'resolv.conf': RESOLV_CONF }
  const cases: { name: string; line?: string; ask: string; answer: string[] }[] = [
    {
      name: 'answers by the first element',
      ask: 'both.first.test A',
      answer: ['both.first.test. 3600 IN A 192.0.2.1'],
    },
    {
      name: 'answers by the second element',
      ask: 'there.first.test A',
      answer: [
        'there.first.test. 3600 IN CNAME there.second.test.',
        'there.second.test. 3600 IN A 192.0.2.2',
      ],
    },
    {
      name: 'leaves the second element alone',
      ask: 'here.second.test A',
      answer: [],
    },
    {
      name: 'leaves other zones alone',
      line: 'autopath other.test resolv.conf',
      ask: 'there.first.test A',
      answer: [],
    },
  ]
  for (const { name, line = 'autopath resolv.conf', ask, answer } of cases) {
    test(name, async () => {
      const lines = await serve(block(line, HOSTS), { files }).ask(ask)
      assert.deepEqual(lines.slice(1), answer)
    })
  }

  test('searches nothing when the file has nothing to search', async () => {
    const server = serve(block('autopath resolv.conf', HOSTS), { files: { 'resolv.conf': '' } })
    const reply = ['NOERROR aa rd', 'here.first.test. 3600 IN A 192.0.2.1']
    assert.deepEqual(await server.ask('here.first.test A'), reply)
  })
})

describe('the words of autopath', () => {
  test('may name a plugin that is not here', async () => {
    const server = serve(block('autopath @kubernetes', HOSTS))
    assert.equal((await server.ask('here.first.test A'))[0], 'NOERROR aa rd')
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'say whose list it is',
      directives: ['autopath'],
      problem: '2:3: "autopath" needs a resolv.conf or a plugin such as @kubernetes',
    },
    {
      name: 'name a file that exists',
      directives: ['autopath resolv.conf'],
      problem: '2:12: cannot read the file "resolv.conf"',
    },
    {
      name: 'name a plugin that knows lists',
      directives: ['autopath @hosts', HOSTS],
      problem: '2:12: "hosts" provides no search lists; use @kubernetes',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [`Corefile:${problem}`])
    })
  }
})
