/**
 * What external-dns 0.23.0 publishes for objects, by the examples of its own source tests
 * (`source/*_test.go` of module sigs.k8s.io/external-dns), in our words. A case that we answer
 * differently on purpose has `theirs`, and says why.
 * @module
 */

import { gateway, ingress, note, route } from './external-dns-objects.ts'

/** An example. */
export type ExternalDnsCase = {
  /** The file of the test without `_test.go`, and what it is about. */
  readonly name: string
  /** A YAML list of objects. */
  readonly objects: string
  /** Our records in zone-file text. */
  readonly lines: string
  /** external-dns's records if they differ, and why ours do. */
  readonly differs?: { readonly theirs: string; readonly why: string }
}

const ONE = '{ name: one }'
const CHECKS_LISTENERS =
  'hostnames are those of the route: k8s_gateway does not compare them with listeners'

/** The cases. */
export const EXTERNAL_DNS_CASES: readonly ExternalDnsCase[] = [
  // Ingresses.
  {
    name: 'ingress: a host and an address',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }'),
    lines: 'foo.bar 60 A 192.0.2.1',
  },
  {
    name: 'ingress: a host and a hostname',
    objects: ingress('foo.bar', '{ hostname: lb.example.net }'),
    lines: 'foo.bar 60 CNAME lb.example.net.',
  },
  {
    name: 'ingress: an IPv6 address',
    objects: ingress('foo.bar', '{ ip: "2001:db8::1" }'),
    lines: 'foo.bar 60 AAAA 2001:db8::1',
  },
  {
    name: 'ingress: two of each',
    objects: ingress(
      'foo.bar',
      '{ ip: 192.0.2.1 }, { ip: 192.0.2.2 }, { ip: "2001:db8::1" }, { ip: "2001:db8::2" }, { hostname: a.example.net }, { hostname: b.example.net }',
    ),
    lines: `foo.bar 60 A 192.0.2.1
      foo.bar 60 A 192.0.2.2
      foo.bar 60 AAAA 2001:db8::1
      foo.bar 60 AAAA 2001:db8::2
      foo.bar 60 CNAME a.example.net.
      foo.bar 60 CNAME b.example.net.`,
  },
  { name: 'ingress: no rule', objects: ingress('', '{ ip: 192.0.2.1 }'), lines: '' },
  {
    name: 'ingress: an empty host',
    // Two rules with '' as the host: hosts are separated by spaces.
    objects: ingress(' ', '{ ip: 192.0.2.1 }'),
    lines: '',
  },
  { name: 'ingress: no address', objects: ingress('foo.bar', ''), lines: '' },
  {
    name: 'ingress: a host, and another one by annotation',
    objects: ingress('foo.bar', '{ hostname: lb.com }', note('hostname', 'foo.baz')),
    lines: `foo.bar 60 CNAME lb.com.
      foo.baz 60 CNAME lb.com.`,
  },
  {
    name: 'ingress: only the hosts of rules',
    objects: ingress(
      'foo.bar',
      '{ hostname: lb.com }',
      `${note('ingress-hostname-source', 'defined-hosts-only')}, ${note('hostname', 'foo.baz')}`,
    ),
    lines: 'foo.bar 60 CNAME lb.com.',
  },
  {
    name: 'ingress: only the hosts of annotations',
    objects: ingress(
      'foo.bar',
      '{ hostname: lb.com }',
      `${note('ingress-hostname-source', 'annotation-only')}, ${note('hostname', 'foo.baz')}`,
    ),
    lines: 'foo.baz 60 CNAME lb.com.',
  },
  {
    name: 'ingress: two hosts by annotation',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('hostname', 'a.b, c.d')),
    lines: `foo.bar 60 A 192.0.2.1
      a.b 60 A 192.0.2.1
      c.d 60 A 192.0.2.1`,
  },
  {
    name: 'ingress: a target by annotation in place of its address',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('target', 'target.com')),
    lines: 'foo.bar 60 CNAME target.com.',
  },
  {
    name: 'ingress: a target by annotation without an address',
    objects: ingress('foo.bar', '', note('target', 'target.com')),
    lines: 'foo.bar 60 CNAME target.com.',
  },
  {
    name: 'ingress: hosts and targets by annotation alone',
    objects: ingress(
      '',
      '',
      `${note('hostname', 'foo.bar')}, ${note('target', '192.0.2.9,2001:db8::9')}`,
    ),
    lines: `foo.bar 60 A 192.0.2.9
      foo.bar 60 AAAA 2001:db8::9`,
  },
  {
    name: 'ingress: a TTL by annotation',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('ttl', '6')),
    lines: 'foo.bar 6 A 192.0.2.1',
  },
  {
    name: 'ingress: a TTL as a duration',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('ttl', '10m')),
    lines: 'foo.bar 600 A 192.0.2.1',
  },
  {
    name: 'ingress: the controller is dns-controller',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('controller', 'dns-controller')),
    lines: 'foo.bar 60 A 192.0.2.1',
  },
  {
    name: 'ingress: another controller',
    objects: ingress('foo.bar', '{ ip: 192.0.2.1 }', note('controller', 'some-other-tool')),
    lines: '',
  },
  {
    name: 'ingress: hosts of TLS that no rule has',
    objects: ingress(
      'abc.example.com',
      '{ ip: 192.0.2.1 }',
      '',
      'tls: [{ hosts: ["*.example.com"] }]',
    ),
    lines: 'abc.example.com 60 A 192.0.2.1',
    differs: {
      theirs: `abc.example.com 60 A 192.0.2.1
        *.example.com 60 A 192.0.2.1`,
      why: 'only rules name hosts, as in k8s_gateway and with --ignore-ingress-tls-spec',
    },
  },
  {
    name: 'ingress: a host that DNS does not allow',
    objects: ingress(
      'this-is-an-exceedingly-long-label-that-external-dns-should-reject.example.org',
      '{ ip: 192.0.2.1 }',
    ),
    lines: '',
  },
  {
    name: 'ingress: two Ingresses with one host',
    objects:
      ingress('key.blah.com', '{ hostname: a.example.net }') +
      ingress(
        'key.blah.com',
        '{ hostname: b.example.net }',
        note('hostname', 'other.blah.com'),
      ).replace('foo', 'bar'),
    lines: `key.blah.com 60 CNAME a.example.net.
      key.blah.com 60 CNAME b.example.net.
      other.blah.com 60 CNAME b.example.net.`,
  },
  // Routes and Gateways.
  {
    name: 'gateway_httproute: two Gateways',
    objects:
      gateway('one', '192.0.2.1') +
      gateway('two', '192.0.2.2') +
      route('test.example.internal', '{ name: one }, { name: two }'),
    lines: `test.example.internal 60 A 192.0.2.1
      test.example.internal 60 A 192.0.2.2`,
  },
  {
    name: 'gateway_httproute: a wildcard in the Gateway',
    objects: gateway('one', '192.0.2.1', '*.example.internal') + route('foo.example.internal', ONE),
    lines: 'foo.example.internal 60 A 192.0.2.1',
  },
  {
    name: 'gateway_httproute: a wildcard in both',
    objects: gateway('one', '192.0.2.1', '*.example.internal') + route('*.example.internal', ONE),
    lines: '*.example.internal 60 A 192.0.2.1',
  },
  {
    name: 'gateway_httproute: a wildcard in the route, and two listeners',
    objects:
      gateway('one', '192.0.2.1', 'foo.example.internal bar.example.internal') +
      route('*.example.internal', ONE),
    lines: '*.example.internal 60 A 192.0.2.1',
    differs: {
      theirs: `foo.example.internal 60 A 192.0.2.1
        bar.example.internal 60 A 192.0.2.1`,
      why: CHECKS_LISTENERS,
    },
  },
  {
    name: 'gateway_httproute: a wildcard in the route, and one listener by its name',
    objects:
      gateway('one', '192.0.2.1', 'foo.example.internal bar.example.internal') +
      route('*.example.internal', '{ name: one, sectionName: l0 }'),
    lines: '*.example.internal 60 A 192.0.2.1',
    differs: { theirs: 'foo.example.internal 60 A 192.0.2.1', why: CHECKS_LISTENERS },
  },
  {
    name: 'gateway_httproute: hostnames of two Gateways',
    objects:
      gateway('one', '192.0.2.1', '*.one.internal') +
      gateway('two', '192.0.2.2', '*.two.internal') +
      route('test.one.internal test.two.internal', '{ name: one }, { name: two }'),
    lines: `test.one.internal 60 A 192.0.2.1
      test.one.internal 60 A 192.0.2.2
      test.two.internal 60 A 192.0.2.1
      test.two.internal 60 A 192.0.2.2`,
    differs: {
      theirs: `test.one.internal 60 A 192.0.2.1
        test.two.internal 60 A 192.0.2.2`,
      why: CHECKS_LISTENERS,
    },
  },
  {
    name: 'gateway_httproute: a listener has the hostname that the route lacks',
    objects: gateway('one', '192.0.2.1', 'foo.example.internal') + route('', ONE),
    lines: '',
    differs: {
      theirs: 'foo.example.internal 60 A 192.0.2.1',
      why: 'hostnames of listeners are published with "resources Gateway", without a route, too',
    },
  },
  {
    name: 'gateway_httproute: no Gateway',
    objects: route('example.internal', ONE),
    lines: '',
  },
  {
    name: 'gateway_httproute: hostnames by annotation',
    objects:
      gateway('one', '192.0.2.1') +
      route(
        'a.example.internal',
        ONE,
        `annotations: { ${note('hostname', 'b.example.internal')} }`,
      ),
    lines: `a.example.internal 60 A 192.0.2.1
      b.example.internal 60 A 192.0.2.1`,
  },
  {
    name: 'gateway_httproute: only the hostname of the annotation',
    objects:
      gateway('one', '192.0.2.1') +
      route(
        'a.example.internal',
        ONE,
        `annotations: { ${note('hostname', 'b.example.internal')}, ${note('gateway-hostname-source', 'annotation-only')} }`,
      ),
    lines: 'b.example.internal 60 A 192.0.2.1',
  },
  {
    name: 'gateway_httproute: only the hostname of the route',
    objects:
      gateway('one', '192.0.2.1') +
      route(
        'a.example.internal',
        ONE,
        `annotations: { ${note('hostname', 'b.example.internal')}, ${note('gateway-hostname-source', 'defined-hosts-only')} }`,
      ),
    lines: 'a.example.internal 60 A 192.0.2.1',
  },
  {
    name: 'gateway_httproute: an unknown value of the annotation',
    objects:
      gateway('one', '192.0.2.1') +
      route(
        'a.example.internal',
        ONE,
        `annotations: { ${note('hostname', 'b.example.internal')}, ${note('gateway-hostname-source', 'invalid')} }`,
      ),
    lines: `a.example.internal 60 A 192.0.2.1
      b.example.internal 60 A 192.0.2.1`,
  },
  {
    name: 'gateway_httproute: a TTL',
    objects:
      gateway('one', '192.0.2.1') +
      route('a.example.internal', ONE, `annotations: { ${note('ttl', '15s')} }`),
    lines: 'a.example.internal 15 A 192.0.2.1',
  },
  {
    name: 'gateway_httproute: a target by the annotation of one of two Gateways',
    objects:
      gateway('one', '192.0.2.1', '', `annotations: { ${note('target', '192.0.2.9')} }`) +
      gateway('two', '192.0.2.2') +
      route('a.example.internal', '{ name: one }, { name: two }'),
    lines: `a.example.internal 60 A 192.0.2.9
      a.example.internal 60 A 192.0.2.2`,
  },
  {
    name: 'gateway_httproute: another controller',
    objects:
      gateway('one', '192.0.2.1') +
      route('a.example.internal', ONE, `annotations: { ${note('controller', 'something-else')} }`),
    lines: '',
  },
  {
    name: 'gateway_httproute: no Gateway has accepted the route',
    objects: (gateway('one', '192.0.2.1') + route('a.example.internal', ONE)).replace(
      /\n {2}status: \{ parents.*/,
      '',
    ),
    lines: 'a.example.internal 60 A 192.0.2.1',
    differs: {
      theirs: '',
      why: 'attachment is not checked, as in k8s_gateway: some controllers set no status',
    },
  },
  {
    name: 'gateway_httproute: listeners that take routes of their namespace only',
    objects:
      gateway('one', '192.0.2.1') +
      route('a.example.internal', '{ name: one, namespace: testing }').replace(
        'namespace: testing,',
        'namespace: elsewhere,',
      ),
    lines: 'a.example.internal 60 A 192.0.2.1',
    differs: { theirs: '', why: 'attachment is not checked, as in k8s_gateway' },
  },
  ...['GRPCRoute', 'TLSRoute'].map((kind) => ({
    name: `gateway_${kind.toLowerCase()}: hostnames`,
    objects: gateway('one', '192.0.2.1') + route('a.example.internal', ONE, '', kind),
    lines: 'a.example.internal 60 A 192.0.2.1',
  })),
  ...['TCPRoute', 'UDPRoute'].map((kind) => ({
    name: `gateway_${kind.toLowerCase()}: a hostname by annotation`,
    objects:
      gateway('one', '192.0.2.1') +
      route('', ONE, `annotations: { ${note('hostname', 'a.example.internal')} }`, kind),
    lines: 'a.example.internal 60 A 192.0.2.1',
  })),
]
