/**
 * What CoreDNS's integration tests ask, and what of the responses they compare, transcribed: the
 * response code, and records without their TTLs. Of a SOA record they compare the zone.
 * @module
 */
import type { QuestionText } from '../real-cluster/asking.ts'
import { CLUSTER_ZONE, EXAMPLE_ZONE } from './coredns-tables.ts'

/** Questions to one Corefile. */
export type Place = {
  readonly name: string
  /**
   * Directives of the only server block. `KUBERNETES` stands for the plugin with its
   * kubeconfig.
   */
  readonly directives: string
  readonly zone?: string
  readonly asked: Readonly<Record<QuestionText, readonly string[]>>
}

const [FOUND, DENIED] = ['NOERROR', ['NXDOMAIN', 'authority cluster.local. SOA']] as const
const ONE = 'svc-1-a.test-1.svc.cluster.local.'
const HEADLESS = 'headless-svc.test-1.svc.cluster.local.'
const IS_ONE = [FOUND, `answer ${ONE} A 10.96.0.100`]
const OUTSIDE = '\nforward . UPSTREAM'
const POD = '10-20-0-101.test-1.pod.cluster.local.'
const NO_NAMESPACE = '10-20-0-101.test-X.pod.cluster.local. A'
const NAME_SERVERS = ['ns1', 'ns2'].map(
  (name) => `authority cluster.local. NS ${name}.example.org.`,
)
/** A zone of ip6.arpa, and the start of a name in it. */
const [SIX, ONE_OF_SIX] = ['0.0.0.0.0.0.0.0.d.c.b.a.4.3.2.1.ip6.arpa.', `1.${'0.'.repeat(15)}`]

function alias(owner: string, target = ONE): string {
  return `answer ${owner} CNAME ${target}`
}

/** The Corefiles, in the order of the files of those tests. */
export const PLACES: readonly Place[] = [
  {
    name: 'address',
    directives: `KUBERNETES cluster.local 10.in-addr.arpa {\nnamespaces test-1\n}${OUTSIDE}`,
    asked: {
      [`${ONE} A`]: IS_ONE,
      [`${HEADLESS} A`]: [
        FOUND,
        `answer ${HEADLESS} A 172.17.0.254`,
        `answer ${HEADLESS} A 172.17.0.255`,
      ],
      'bogusservice.test-1.svc.cluster.local. A': DENIED,
      [`bogusendpoint.${ONE} A`]: DENIED,
      [`${POD} A`]: DENIED,
      'dns-version.cluster.local. TXT': [FOUND, 'answer dns-version.cluster.local. TXT "1.1.0"'],
      [`${HEADLESS} AAAA`]: [
        FOUND,
        `answer ${HEADLESS} AAAA 1234:abcd::1`,
        `answer ${HEADLESS} AAAA 1234:abcd::2`,
      ],
      'svc-unready.test-1.svc.cluster.local. A': DENIED,
      'cluster.local. NS': [
        FOUND,
        'answer cluster.local. NS kube-dns.kube-system.svc.cluster.local.',
        'additional kube-dns.kube-system.svc.cluster.local. A 10.96.0.10',
      ],
    },
  },
  {
    name: 'autopath',
    directives:
      'autopath @kubernetes\nKUBERNETES cluster.local {\npods verified\n}\n' +
      'file ZONE example.net\nforward internal UPSTREAM',
    zone: EXAMPLE_ZONE,
    asked: {
      [`${ONE} A`]: IS_ONE,
      'svc-1-a.test-1.test-1.svc.cluster.local. A': [
        ...IS_ONE,
        alias('svc-1-a.test-1.test-1.svc.cluster.local.'),
      ],
      'svc-1-a.test-1.svc.test-1.svc.cluster.local. A': [
        ...IS_ONE,
        alias('svc-1-a.test-1.svc.test-1.svc.cluster.local.'),
      ],
      'svc-1-a.test-1.svc.cluster.local.test-1.svc.cluster.local. A': [
        ...IS_ONE,
        alias('svc-1-a.test-1.svc.cluster.local.test-1.svc.cluster.local.'),
      ],
      'foo.example.net.test-1.svc.cluster.local. A': [
        FOUND,
        'answer foo.example.net. A 10.10.10.11',
        alias('foo.example.net.test-1.svc.cluster.local.', 'foo.example.net.'),
        'authority example.net. NS ns.example.net.',
      ],
    },
  },
  {
    name: 'endpoint names',
    directives:
      'KUBERNETES cluster.local 10.in-addr.arpa {\nnamespaces test-3\nendpoint_pod_names\n}',
    asked: {
      'headless-1.test-3.svc.cluster.local. SRV': srvOf(
        'headless-1.test-3.svc.cluster.local.',
        'test-name',
        '172.17.0.66',
      ),
      'headless-2.test-3.svc.cluster.local. SRV': srvOf(
        'headless-2.test-3.svc.cluster.local.',
        '172-17-0-67',
        '172.17.0.67',
      ),
    },
  },
  {
    name: 'fallthrough',
    directives:
      'file ZONE cluster.local\nKUBERNETES cluster.local {\nnamespaces test-1\nfallthrough\n}' +
      OUTSIDE,
    zone: CLUSTER_ZONE,
    asked: {
      'ext-svc.test-1.svc.cluster.local. A': [
        FOUND,
        'answer example.net. A 13.14.15.16',
        alias('ext-svc.test-1.svc.cluster.local.', 'example.net.'),
      ],
      'f.b.svc.cluster.local. A': [
        FOUND,
        'answer f.b.svc.cluster.local. A 10.10.10.11',
        ...NAME_SERVERS,
      ],
      'foo.cluster.local. A': [FOUND, 'answer foo.cluster.local. A 10.10.10.10', ...NAME_SERVERS],
    },
  },
  {
    name: 'fallthrough of a zone',
    directives:
      'file ZONE cluster.local\n' +
      'KUBERNETES cluster.local {\nnamespaces test-1\nfallthrough svc.cluster.local\n}',
    zone: CLUSTER_ZONE,
    asked: {
      'f.b.svc.cluster.local. A': [
        FOUND,
        'answer f.b.svc.cluster.local. A 10.10.10.11',
        ...NAME_SERVERS,
      ],
      'foo.cluster.local. A': DENIED,
    },
  },
  {
    name: 'all namespaces',
    directives: 'KUBERNETES cluster.local',
    asked: {
      [`${ONE} A`]: IS_ONE,
      'svc-c.test-2.svc.cluster.local. A': [
        FOUND,
        'answer svc-c.test-2.svc.cluster.local. A 10.96.0.120',
      ],
    },
  },
  {
    name: 'pods insecure',
    directives: 'KUBERNETES cluster.local {\nnamespaces test-1\npods insecure\n}',
    asked: { [`${POD} A`]: [FOUND, `answer ${POD} A 10.20.0.101`], [NO_NAMESPACE]: DENIED },
  },
  {
    name: 'pods verified',
    directives: 'KUBERNETES cluster.local {\nnamespaces test-1\npods verified\n}',
    asked: { [`${POD} A`]: DENIED, [NO_NAMESPACE]: DENIED },
  },
  {
    name: 'reverse names',
    directives:
      'KUBERNETES cluster.local 10.96.0.0/24 172.17.0.0/24 1234:abcd::0/64 {\nnamespaces test-1\n}',
    asked: {
      '100.0.96.10.in-addr.arpa. PTR': [FOUND, `answer 100.0.96.10.in-addr.arpa. PTR ${ONE}`],
      '253.0.17.172.in-addr.arpa. PTR': [
        FOUND,
        `answer 253.0.17.172.in-addr.arpa. PTR svc-1-a.${ONE}`,
      ],
      [`${ONE_OF_SIX}${SIX} PTR`]: [
        FOUND,
        `answer ${ONE_OF_SIX}${SIX} PTR headless-svc-3.${HEADLESS}`,
      ],
      '120.0.96.10.in-addr.arpa. PTR': ['NXDOMAIN', 'authority 0.96.10.in-addr.arpa. SOA'],
      '252.0.17.172.in-addr.arpa. PTR': ['NXDOMAIN', 'authority 0.17.172.in-addr.arpa. SOA'],
      '200.0.17.172.in-addr.arpa. PTR': ['NXDOMAIN', 'authority 0.17.172.in-addr.arpa. SOA'],
    },
  },
  {
    name: 'SRV records',
    directives: `KUBERNETES cluster.local {\nnamespaces test-1\n}${OUTSIDE}`,
    asked: {
      [`${ONE} SRV`]: [
        FOUND,
        `answer ${ONE} SRV 0 50 443 ${ONE}`,
        `answer ${ONE} SRV 0 50 80 ${ONE}`,
        `additional ${ONE} A 10.96.0.100`,
      ],
    },
  },
]

function srvOf(owner: string, host: string, address: string): string[] {
  const target = `${host}.${owner}`
  return [FOUND, `answer ${owner} SRV 0 100 80 ${target}`, `additional ${target} A ${address}`]
}

/** Questions about objects that are created while the server of `address` runs. */
export const NEW_NAMES: Place['asked'] = {
  'new-svc.test-1.svc.cluster.local. A': [
    FOUND,
    'answer new-svc.test-1.svc.cluster.local. A 10.96.0.222',
  ],
  '172-17-0-222.new-svc.test-1.svc.cluster.local. A': [
    FOUND,
    'answer 172-17-0-222.new-svc.test-1.svc.cluster.local. A 172.17.0.222',
  ],
}

/** A zone transfer: directives of `kubernetes`, and the records between the SOA records. */
export type Transfer = { readonly options: string; readonly records: readonly string[] }

const ABOVE = [
  'cluster.local. NS kube-dns.kube-system.svc.cluster.local.',
  'kube-dns.kube-system.svc.cluster.local. A 10.96.0.10',
]

/** The transfers of the zone. */
export const TRANSFERS: readonly Transfer[] = [
  {
    options: 'namespaces test-4',
    records: [
      ...ABOVE,
      'ext-svc.test-4.svc.cluster.local. CNAME example.net.',
      ...transferred('headless-svc.test-4', [
        ['headless-svc-1', 'A 172.17.0.250'],
        ['headless-svc-2', 'A 172.17.0.249'],
        ['headless-svc-3', 'AAAA 1234:abcd::3'],
        ['headless-svc-4', 'AAAA 1234:abcd::4'],
      ]),
      ...clusterIp('svc-1-a.test-4', '10.96.0.200', { '_http._tcp': 80, '_https._tcp': 443 }),
      ...clusterIp('svc-1-b.test-4', '10.96.0.210', { '_http._tcp': 80 }),
      ...clusterIp('svc-c.test-4', '10.96.0.215', { '_c-port._udp': 1234 }),
    ],
  },
  {
    options: 'namespaces test-5\npods verified\nendpoint_pod_names',
    records: [
      ...ABOVE,
      ...single('headless-1.test-5', 'test-name', '172.17.0.166'),
      ...single('headless-2.test-5', '172-17-0-167', '172.17.0.167'),
    ],
  },
]

function clusterIp(
  service: string,
  address: string,
  ports: Readonly<Record<string, number>>,
): string[] {
  const name = `${service}.svc.cluster.local.`
  return [
    `${name} A ${address}`,
    ...Object.entries(ports).flatMap(([label, port]) => [
      `${name} SRV 0 100 ${port} ${name}`,
      `${label}.${name} SRV 0 100 ${port} ${name}`,
    ]),
  ]
}

function transferred(
  service: string,
  hosts: readonly (readonly [host: string, record: string])[],
): string[] {
  const name = `${service}.svc.cluster.local.`
  return hosts.flatMap(([host, record]) => [
    `${name} ${record}`,
    `${host}.${name} ${record}`,
    `_c-port._udp.${name} SRV 0 50 1234 ${host}.${name}`,
  ])
}

function single(service: string, host: string, address: string): string[] {
  const name = `${service}.svc.cluster.local.`
  return [
    `${name} A ${address}`,
    `${host}.${name} A ${address}`,
    `_http._tcp.${name} SRV 0 100 80 ${host}.${name}`,
  ]
}
