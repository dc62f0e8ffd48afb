/**
 * What documents show of Corefiles that people have: the cluster and files around each, what is
 * asked, and what comes back. One entry for each thing that a document shows.
 * @module
 */
import type { FakeHostOptions, UpstreamScript } from '../fake-host.ts'

/** One thing that a document shows. */
export type Shown = {
  readonly name: string
  /** The Corefile's name, without its ending. */
  readonly corefile: string
  readonly around: FakeHostOptions
  /** Questions as `Server.ask` takes them, and the replies' lines. */
  readonly asked: Readonly<Record<string, readonly string[]>>
}

/** The zone of `company.Corefile`. */
export const COMPANY_ZONE = `company.com. IN SOA company.com. admin.company.com. (
    2018121642 7200 3600 1209600 3600 )
nginx.company.com. IN CNAME my-nginx.default.svc.cluster.local.
`

/** An upstream that has some names, and denies all others as the root does. */
function others(names: Readonly<Record<string, string>>): UpstreamScript {
  return ({ question }) => {
    const [name = ''] = question.split(' ')
    const address = names[name]
    return address === undefined ? ROOT_DENIES : ['NOERROR ra', `${name} 60 IN A ${address}`]
  }
}

/** An upstream that says who was asked, and how. */
const tellsHow: UpstreamScript = ({ question, upstream, protocol }) => {
  const [name = ''] = question.split(' ')
  return ['NOERROR ra', `${name} 30 IN TXT "${protocol} ${upstream}"`]
}

/** A Service, its Namespace and its endpoints: addresses with their names of hosts, '' for none. */
function service(
  path: string,
  clusterIp: string,
  endpoints: Readonly<Record<string, string>> = {},
): string {
  const [namespace = '', name = ''] = path.split('/')
  const list = Object.entries(endpoints).map(([address, hostname]) => {
    const host = hostname === '' ? '' : `, hostname: ${hostname}`
    return `{addresses: [${address}]${host}, conditions: {ready: true}}`
  })
  return `
- {apiVersion: v1, kind: Namespace, metadata: {name: ${namespace}}}
- apiVersion: v1
  kind: Service
  metadata: {name: ${name}, namespace: ${namespace}}
  spec: {clusterIP: ${clusterIp}, ports: [{name: http, port: 80, protocol: TCP}]}
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: ${name}, namespace: ${namespace}, labels: {kubernetes.io/service-name: ${name}}}
  addressType: IPv4
  endpoints: [${list.join(', ')}]
  ports: [{name: http, port: 8080, protocol: TCP}]`
}

const ROOT_DENIES = [
  'NXDOMAIN ra',
  'authority: . 613 IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 86400',
]
const OPENSHIFT4: FakeHostOptions = {
  cluster: { objects: service('openshift-image-registry/image-registry', '172.30.155.179') },
  upstream: others({}),
}
const KUBESPHERE: FakeHostOptions = {
  cluster: {
    objects:
      service('kube-system/coredns', '10.233.0.3') +
      service('default/kubernetes', '10.233.0.1') +
      service('kubesphere-system/redis-ha', 'None', {
        '10.233.102.133': '',
        '10.233.74.71': '',
        '10.233.75.4': '',
      }),
  },
}
const OPENSHIFT3: FakeHostOptions = {
  cluster: {
    objects:
      service('dev/mybank', '172.30.162.172') +
      service('dev/jenkins', '172.30.5.6', { '10.128.2.81': '', '10.131.1.70': '' }),
  },
  upstream: others({ 'www.sina.com.': '192.0.2.248' }),
}
const COMPANY: FakeHostOptions = {
  cluster: {
    objects: service('default/my-nginx', 'None', { '10.244.0.104': '', '10.244.0.105': '' }),
  },
  files: { '/etc/coredns/company.db': COMPANY_ZONE },
  upstream: others({ 'www.baidu.com.': '192.0.2.7' }),
}
const MINI: FakeHostOptions = {
  keys: {
    '/dns/com/node1': { host: '192.168.1.13' },
    '/dns/com/example/sub': { host: '1.2.3.4' },
  },
  upstream: others({ 'www.baidu.com.': '192.0.2.7' }),
}

const EMPTY = { objects: '[]' }
const NODES: FakeHostOptions = {
  cluster: EMPTY,
  files: { '/etc/coredns/NodeHosts': '192.0.2.11 server-0\n192.0.2.12 agent-0\n' },
  upstream: others({}),
}
const AZURE: FakeHostOptions = {
  cluster: EMPTY,
  upstream: others({ 'vm1.internal.cloudapp.net.': '10.224.0.4' }),
}

const DENIED = 'NXDOMAIN aa rd'
const FOUND = 'NOERROR aa rd'
const RELAYED = 'NOERROR rd ra'
/** The root's negative response out of a cache of 30 s. */
const CACHED_ROOT =
  'authority: . 30 IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 86400'
const SOA =
  'authority: cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1767225600 ' +
  '7200 1800 86400 5'

/** All of them. */
export const DOCUMENTS: readonly Shown[] = [
  {
    name: 'OpenShift 4: a pod finds the registry at the third entry of its search list',
    corefile: 'openshift-4.8',
    around: OPENSHIFT4,
    asked: {
      'image-registry.openshift-image-registry.svc.test.svc.cluster.local A': [DENIED, SOA],
      'image-registry.openshift-image-registry.svc.svc.cluster.local A': [DENIED, SOA],
      'image-registry.openshift-image-registry.svc.cluster.local A': [
        FOUND,
        'image-registry.openshift-image-registry.svc.cluster.local. 5 IN A 172.30.155.179',
      ],
      'image-registry.openshift-image-registry.svc.cluster.local AAAA': [FOUND, SOA],
    },
  },
  {
    name: 'OpenShift 4: a node, which has no search list, does not find it',
    corefile: 'openshift-4.8',
    around: OPENSHIFT4,
    asked: {
      'image-registry.openshift-image-registry.svc A': ['NXDOMAIN rd ra', CACHED_ROOT],
    },
  },
  {
    name: 'OpenShift 4: the operator of today answers the same, and says which server it is',
    corefile: 'openshift-4',
    around: OPENSHIFT4,
    asked: {
      'image-registry.openshift-image-registry.svc.cluster.local A': [
        FOUND,
        'image-registry.openshift-image-registry.svc.cluster.local. 5 IN A 172.30.155.179',
      ],
      'hostname.bind CH TXT': ['NOERROR rd', 'hostname.bind. 0 CH TXT "ns1.example.org"'],
    },
  },
  {
    name: 'KubeSphere: dig -x returns the Service of an address',
    corefile: 'kubeadm',
    around: KUBESPHERE,
    asked: {
      '3.0.233.10.in-addr.arpa PTR': [
        FOUND,
        '3.0.233.10.in-addr.arpa. 30 IN PTR coredns.kube-system.svc.cluster.local.',
      ],
      '1.0.233.10.in-addr.arpa PTR': [
        FOUND,
        '1.0.233.10.in-addr.arpa. 30 IN PTR kubernetes.default.svc.cluster.local.',
      ],
    },
  },
  {
    name: 'KubeSphere: a headless Service has the addresses of its pods, which have names',
    corefile: 'kubeadm',
    around: KUBESPHERE,
    asked: {
      'redis-ha.kubesphere-system.svc.cluster.local A': [
        FOUND,
        'redis-ha.kubesphere-system.svc.cluster.local. 30 IN A 10.233.74.71',
        'redis-ha.kubesphere-system.svc.cluster.local. 30 IN A 10.233.75.4',
        'redis-ha.kubesphere-system.svc.cluster.local. 30 IN A 10.233.102.133',
      ],
      '133.102.233.10.in-addr.arpa PTR': [
        FOUND,
        '133.102.233.10.in-addr.arpa. 30 IN PTR ' +
          '10-233-102-133.redis-ha.kubesphere-system.svc.cluster.local.',
      ],
      'redis-ha-server-1.kubesphere-system.svc.cluster.local A': [
        DENIED,
        SOA.replace('local. 5', 'local. 30').replace(/5$/, '30'),
      ],
    },
  },
  {
    name: 'KubeSphere: the cache on the node queries CoreDNS over TCP, and others over UDP',
    corefile: 'kubesphere-nodelocal',
    around: { upstream: tellsHow },
    asked: {
      '3.0.233.10.in-addr.arpa TXT': [
        RELAYED,
        '3.0.233.10.in-addr.arpa. 30 IN TXT "tcp 10.233.0.3:53"',
      ],
      'kubernetes.default.svc.cluster.local TXT': [
        RELAYED,
        'kubernetes.default.svc.cluster.local. 30 IN TXT "tcp 10.233.0.3:53"',
      ],
      'www.example.com TXT': [RELAYED, 'www.example.com. 30 IN TXT "udp 10.0.0.2:53"'],
    },
  },
  {
    name: 'NodeLocal DNSCache queries CoreDNS over TCP, and others over UDP',
    corefile: 'nodelocal',
    around: { upstream: tellsHow },
    asked: {
      'kubernetes.default.svc.cluster.local TXT': [
        RELAYED,
        'kubernetes.default.svc.cluster.local. 30 IN TXT "tcp 10.96.0.11:53"',
      ],
      'www.example.com TXT': [RELAYED, 'www.example.com. 30 IN TXT "udp 10.0.0.2:53"'],
    },
  },
  {
    name: 'k3s: nodes have their names, as in the file that k3s keeps up to date',
    corefile: 'k3s',
    around: NODES,
    asked: {
      'agent-0 A': [FOUND, 'agent-0. 30 IN A 192.0.2.12'],
      'agent-0 AAAA': [FOUND],
      'agent-1 A': ['NXDOMAIN rd ra', CACHED_ROOT],
    },
  },
  {
    name: 'AKS: suffixes of search lists end at the server, names of machines do not',
    corefile: 'aks',
    around: AZURE,
    asked: {
      'kubernetes.default.svc.cluster.local.abc.bx.internal.cloudapp.net A': [DENIED],
      'vm1.internal.cloudapp.net A': [RELAYED, 'vm1.internal.cloudapp.net. 30 IN A 10.224.0.4'],
      'web.reddog.microsoft.com A': [DENIED],
    },
  },
  {
    name: 'minikube: the machine around the cluster has a name',
    corefile: 'minikube',
    around: { cluster: EMPTY, upstream: others({}) },
    asked: {
      'host.minikube.internal A': [FOUND, 'host.minikube.internal. 30 IN A 192.168.49.1'],
    },
  },
  {
    name: 'OpenShift 3.11: names of Services, of endpoints and of addresses, TTL 30',
    corefile: 'openshift-3.11',
    around: OPENSHIFT3,
    asked: {
      'mybank.dev.svc.cluster.local A': [
        FOUND,
        'mybank.dev.svc.cluster.local. 30 IN A 172.30.162.172',
      ],
      'jenkins.dev.endpoints.cluster.local A': [
        FOUND,
        'jenkins.dev.endpoints.cluster.local. 30 IN A 10.128.2.81',
        'jenkins.dev.endpoints.cluster.local. 30 IN A 10.131.1.70',
      ],
      '172-30-162-172.dev.pod.cluster.local A': [
        FOUND,
        '172-30-162-172.dev.pod.cluster.local. 30 IN A 172.30.162.172',
      ],
    },
  },
  {
    name: 'OpenShift 3.11: a rooted name without the domain is not a name, and others are relayed',
    corefile: 'openshift-3.11',
    around: OPENSHIFT3,
    asked: {
      'mybank.dev.svc A': [
        'NXDOMAIN rd ra',
        'authority: . 613 IN SOA a.root-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 86400',
      ],
      'www.sina.com A': [RELAYED, 'www.sina.com. 1 IN A 192.0.2.248'],
    },
  },
  {
    name: 'a company: a name outside of the cluster, from lines of hosts; AAAA has no data',
    corefile: 'company',
    around: COMPANY,
    asked: {
      'some-api.company.com A': [FOUND, 'some-api.company.com. 30 IN A 123.59.59.33'],
      'some-api.company.com AAAA': [FOUND],
    },
  },
  {
    name: 'a company: a name of its own points to a Service, and the answer has the addresses',
    corefile: 'company',
    around: COMPANY,
    asked: {
      'nginx.company.com A': [
        FOUND,
        'nginx.company.com. 5 IN CNAME my-nginx.default.svc.cluster.local.',
        'my-nginx.default.svc.cluster.local. 5 IN A 10.244.0.104',
        'my-nginx.default.svc.cluster.local. 5 IN A 10.244.0.105',
      ],
      'my-nginx.default.svc.cluster.local. A': [
        FOUND,
        'my-nginx.default.svc.cluster.local. 5 IN A 10.244.0.104',
        'my-nginx.default.svc.cluster.local. 5 IN A 10.244.0.105',
      ],
    },
  },
  {
    name: 'a company: names of others are relayed, as "proxy" had it',
    corefile: 'company',
    around: COMPANY,
    asked: {
      'www.baidu.com A': [RELAYED, 'www.baidu.com. 30 IN A 192.0.2.7'],
    },
  },
  {
    name: 'mini-k8s: names that were put into etcd',
    corefile: 'mini-k8s',
    around: MINI,
    asked: {
      'node1.com A': [FOUND, 'node1.com. 300 IN A 192.168.1.13'],
      'sub.example.com A': [FOUND, 'sub.example.com. 300 IN A 1.2.3.4'],
    },
  },
  {
    name: 'mini-k8s: names of others are relayed',
    corefile: 'mini-k8s',
    around: MINI,
    asked: {
      'www.baidu.com A': [RELAYED, 'www.baidu.com. 60 IN A 192.0.2.7'],
    },
  },
]
