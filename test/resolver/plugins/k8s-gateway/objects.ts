/**
 * The cluster that tests of the `k8s_gateway` plugin ask about.
 * @module
 */
import { block, directive, type Server, serve } from '../../../ask.ts'
import { type FakeClusterOptions, GENERATION } from '../../../fake-cluster.ts'

/** Objects that say host names: some whole ones, some below the zone. */
export const HOSTS = `
- kind: Ingress
  metadata: {name: web, namespace: shop}
  spec: {ingressClassName: nginx, rules: [{host: app.gw.test}, {host: '*.wild.gw.test'}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.1}, {ip: '2001:db8::1'}]}}
- kind: Ingress
  metadata: {name: other, namespace: shop}
  spec: {ingressClassName: traefik, rules: [{host: other.gw.test}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.2}]}}
- kind: Ingress
  metadata: {name: hidden, namespace: shop, labels: {k8s-gateway.dns/ignore: 'true'}}
  spec: {rules: [{host: hidden.gw.test}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.3}]}}
- kind: Ingress
  metadata: {name: pending, namespace: shop}
  spec: {rules: [{host: pending.gw.test}]}
- kind: Service
  metadata: {name: api, namespace: shop, labels: {tier: gold}}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.4}]}}
- kind: Service
  metadata: {name: cdn, namespace: shop}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{hostname: lb.example.net}]}}
- kind: Service
  metadata: {name: lost, namespace: shop}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{hostname: lost.example.net}]}}
- kind: Service
  metadata: {name: dns1, namespace: kube-system}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.53}]}}
- kind: Service
  metadata: {name: dns2, namespace: kube-system}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.54}]}}
- kind: DNSEndpoint
  metadata: {name: texts, namespace: shop}
  spec: {endpoints: [{dnsName: text.gw.test, recordType: TXT, targets: [hello]}]}
- kind: Gateway
  metadata: {name: public, namespace: infra}
  spec: {gatewayClassName: cilium}
  status: {addresses: [{type: IPAddress, value: 203.0.113.7}]}
- kind: HTTPRoute
  metadata: {name: route, namespace: infra}
  spec: {hostnames: [route.gw.test], parentRefs: [{name: public}]}
`

/** A server for `gw.test` and `b.test`, and whatever a forwarder says of `example.net`. */
export function serveGateway(
  options: readonly string[] = [],
  cluster: Partial<FakeClusterOptions> = {},
): Server {
  const gateway = directive('k8s_gateway gw.test b.test', ...options)
  return serve(block('ready', gateway, 'forward . 192.0.2.53'), {
    cluster: { objects: HOSTS, ...cluster },
    upstream: ({ question }) => {
      const [name = '', , type = ''] = question.split(' ')
      if (name === 'lost.example.net.') return ['SERVFAIL ra']
      if (name !== 'lb.example.net.') return ['NXDOMAIN aa ra']
      const alias = `${name} 300 IN CNAME real.example.net.`
      if (type !== 'A') return ['NOERROR aa ra', alias]
      return ['NOERROR aa ra', alias, 'real.example.net. 20 IN A 203.0.113.80']
    },
  })
}

/** The SOA record of a zone in the authority section. */
export function denial(zone = 'gw.test', apex = 'dns1.kube-system'): string {
  return `authority: ${soaOf(zone, apex)}`
}

/** The SOA record of a zone, without its section. */
export function soaOf(zone = 'gw.test', apex = 'dns1.kube-system'): string {
  const names = `${apex}.${zone}. hostmaster.${apex}.${zone}.`
  return `${zone}. 60 IN SOA ${names} ${GENERATION} 7200 1800 86400 60`
}
