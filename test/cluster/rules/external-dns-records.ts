/**
 * The examples of external-dns for Services and DNSEndpoints.
 * @module
 */
import type { ExternalDnsCase } from './external-dns-cases.ts'
import { endpoint, NODES, note, service } from './external-dns-objects.ts'

const NODE_PORT = 'ports: [{ port: 80, nodePort: 30192, protocol: TCP }]'

/** The cases of Services and DNSEndpoints. */
export const EXTERNAL_DNS_RECORDS: readonly ExternalDnsCase[] = [
  {
    name: 'service: no annotation',
    objects: service('LoadBalancer', ''),
    lines: 'foo.testing 60 A 192.0.2.1',
    differs: { theirs: '', why: 'Services of type LoadBalancer have a name, as in k8s_gateway' },
  },
  {
    name: 'service: a hostname',
    objects: service('LoadBalancer', note('hostname', 'foo.example.org.')),
    lines: 'foo.example.org 60 A 192.0.2.1',
  },
  {
    name: 'service: several hostnames, with blanks and without final dots',
    objects: service('LoadBalancer', note('hostname', 'foo.example.org, bar.example.org')),
    lines: `foo.example.org 60 A 192.0.2.1
      bar.example.org 60 A 192.0.2.1`,
  },
  {
    name: 'service: the hostname of a balancer',
    objects: service(
      'LoadBalancer',
      note('hostname', 'foo.example.org'),
      '',
      '{ hostname: lb.example.com }',
    ),
    lines: 'foo.example.org 60 CNAME lb.example.com.',
  },
  {
    name: 'service: addresses set by people',
    objects: service(
      'LoadBalancer',
      note('hostname', 'foo.example.org'),
      'externalIPs: [192.0.2.7, 192.0.2.8]',
    ),
    lines: `foo.example.org 60 A 192.0.2.7
      foo.example.org 60 A 192.0.2.8`,
  },
  {
    name: 'service: a dual-stack balancer',
    objects: service(
      'LoadBalancer',
      note('hostname', 'foo.example.org'),
      '',
      '{ ip: 192.0.2.1 }, { ip: "2001:db8::1" }',
    ),
    lines: `foo.example.org 60 A 192.0.2.1
      foo.example.org 60 AAAA 2001:db8::1`,
  },
  {
    name: 'service: no balancer yet',
    objects: service('LoadBalancer', note('hostname', 'foo.example.org'), '', ''),
    lines: '',
  },
  {
    name: 'service: another controller',
    objects: service(
      'LoadBalancer',
      `${note('controller', 'some-other-tool')}, ${note('hostname', 'foo.example.org')}`,
    ),
    lines: '',
  },
  ...[
    ['foo', 60],
    ['-10', 60],
    ['10', 10],
    ['1m', 60],
  ].map(([ttl, seconds]) => ({
    name: `service: the TTL ${ttl}`,
    objects: service(
      'LoadBalancer',
      `${note('hostname', 'foo.example.org')}, ${note('ttl', `${ttl}`)}`,
    ),
    lines: `foo.example.org ${seconds} A 192.0.2.1`,
  })),
  {
    name: 'service: a hostname inside, beside one outside',
    objects: service(
      'LoadBalancer',
      `${note('hostname', 'foo.example.org')}, ${note('internal-hostname', 'foo.internal.example.org')}`,
      'clusterIP: 10.96.0.1',
    ),
    lines: `foo.example.org 60 A 192.0.2.1
      foo.internal.example.org 60 A 10.96.0.1`,
  },
  {
    name: 'service: a hostname of type ClusterIP',
    objects: service('ClusterIP', note('hostname', 'foo.example.org'), 'clusterIP: 10.96.0.1', ''),
    lines: '',
  },
  {
    name: 'service: a hostname inside of type ClusterIP',
    objects: service(
      'ClusterIP',
      note('internal-hostname', 'foo.internal.example.org'),
      'clusterIP: 10.96.0.1',
      '',
    ),
    lines: 'foo.internal.example.org 60 A 10.96.0.1',
  },
  {
    name: 'service: targets of several kinds',
    objects: service(
      'ClusterIP',
      `${note('hostname', 'foo.example.org.')}, ${note('target', 'bar.example.org.,baz.example.org.,2001:DB8::1')}`,
      'clusterIP: 10.96.0.1',
      '',
    ),
    lines: `foo.example.org 60 CNAME bar.example.org.
      foo.example.org 60 CNAME baz.example.org.
      foo.example.org 60 AAAA 2001:db8::1`,
  },
  {
    name: 'service: the target of type ExternalName',
    objects: service(
      'ExternalName',
      note('hostname', 'foo.example.org'),
      'externalName: remote.example.com',
      '',
    ),
    lines: 'foo.example.org 60 CNAME remote.example.com.',
  },
  {
    name: 'service: the Nodes of type NodePort',
    objects: NODES + service('NodePort', note('hostname', 'foo.example.org'), NODE_PORT, ''),
    lines: `foo.example.org 60 A 192.0.2.11
      foo.example.org 60 A 192.0.2.12
      _foo._tcp.foo.example.org 60 SRV 0 50 30192 foo.example.org.`,
  },
  {
    name: 'service: the private addresses of Nodes',
    objects:
      NODES +
      service(
        'NodePort',
        `${note('hostname', 'foo.example.org')}, ${note('access', 'private')}`,
        NODE_PORT,
        '',
      ),
    lines: `foo.example.org 60 A 10.0.1.1
      foo.example.org 60 A 10.0.1.2
      _foo._tcp.foo.example.org 60 SRV 0 50 30192 foo.example.org.`,
  },
  {
    name: 'service: a hostname of a headless one, whose Pods have hostnames',
    objects: `${service('ClusterIP', note('hostname', 'service.example.org'), 'clusterIP: None', '')}
- kind: EndpointSlice
  metadata: { name: foo-1, namespace: testing, labels: { kubernetes.io/service-name: foo } }
  endpoints:
    - { addresses: [10.244.1.1], hostname: foo-0 }
    - { addresses: [10.244.1.2], hostname: foo-1 }
    - { addresses: [10.244.1.3], hostname: foo-2, conditions: { ready: false } }`,
    lines: `service.example.org 60 A 10.244.1.1
      service.example.org 60 A 10.244.1.2`,
    differs: {
      theirs: `foo-0.service.example.org 60 A 10.244.1.1
        foo-1.service.example.org 60 A 10.244.1.2
        service.example.org 60 A 10.244.1.1
        service.example.org 60 A 10.244.1.2`,
      why: 'names of single Pods are those of the tree of the cluster itself',
    },
  },
  // DNSEndpoints.
  {
    name: 'crd: addresses with a TTL',
    objects: endpoint(
      'dnsName: abc.example.org, targets: [192.0.2.4], recordType: A, recordTTL: 180',
    ),
    lines: 'abc.example.org 180 A 192.0.2.4',
  },
  {
    name: 'crd: no targets',
    objects: endpoint('dnsName: no-targets.example.org, targets: [], recordType: A'),
    lines: '',
  },
  {
    name: 'crd: SRV',
    objects: endpoint(
      'dnsName: _svc._tcp.example.org, targets: ["0 0 80 abc.example.org."], recordType: SRV',
    ),
    lines: '_svc._tcp.example.org 60 SRV 0 0 80 abc.example.org.',
  },
  {
    name: 'crd: NAPTR',
    objects: endpoint(
      `dnsName: example.org, recordType: NAPTR, targets: ['100 10 "S" "SIP+D2U" "!^.*$!sip:customer-service@example.org!" _sip._udp.example.org.']`,
    ),
    lines:
      'example.org 60 NAPTR 100 10 "S" "SIP+D2U" "!^.*$!sip:customer-service@example.org!" _sip._udp.example.org.',
  },
  ...['10 mx.example.org', '10 mx.example.org.'].map((target) => ({
    name: `crd: MX ${target}`,
    objects: endpoint(`dnsName: example.org, targets: ["${target}"], recordType: MX`),
    lines: 'example.org 60 MX 10 mx.example.org.',
  })),
  ...['other.example.org', 'other.example.org.'].map((target) => ({
    name: `crd: CNAME ${target}`,
    objects: endpoint(`dnsName: www.example.org, targets: ["${target}"], recordType: CNAME`),
    lines: 'www.example.org 60 CNAME other.example.org.',
  })),
  {
    name: 'crd: TXT',
    objects: endpoint('dnsName: example.org, targets: ["foo."], recordType: TXT'),
    lines: 'example.org 60 TXT "foo."',
  },
  {
    name: 'crd: an address with a final dot',
    objects: endpoint('dnsName: example.org, targets: [192.0.2.4.], recordType: A'),
    lines: '',
  },
  {
    name: 'crd: NS',
    objects: endpoint(
      'dnsName: abc.example.org, targets: [ns1.k8s.io, ns2.k8s.io], recordType: NS',
    ),
    lines: '',
    differs: {
      theirs: `abc.example.org 60 NS ns1.k8s.io.
        abc.example.org 60 NS ns2.k8s.io.`,
      why: 'the name servers of a zone are those of the server; a warning reports the record',
    },
  },
  {
    name: 'crd: DNAME',
    objects: endpoint('dnsName: abc.example.org, targets: [target.example.org], recordType: DNAME'),
    lines: '',
    differs: {
      theirs: 'abc.example.org 60 DNAME target.example.org.',
      why: 'a DNAME redirects names of other objects; a warning reports the record',
    },
  },
]
