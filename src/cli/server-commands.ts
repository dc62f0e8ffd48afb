/**
 * The commands that serve DNS in a cluster or on a node, and what goes with it.
 * @module
 */
import type { CliCommand } from './command.ts'

const OPENSHIFT_HOSTS =
  'kubedoh hosts --services image-registry.openshift-image-registry.svc --nameserver 172.30.0.10'

/** The commands, in the order of help. */
export const SERVER_COMMANDS: readonly CliCommand[] = [
  {
    name: 'serve',
    summary: 'answer DNS for the server blocks of a Corefile',
    flags: [
      'conf',
      'dns.port',
      'objects',
      'kubeconfig',
      'files',
      'doh.listen',
      'workers',
      'etcd',
      'log-format',
    ],
    readsCorefile: true,
    examples: [
      'kubedoh serve',
      'kubedoh serve --conf Corefile --dns.port 5353 --objects cluster.yaml',
      'kubedoh serve --conf /etc/coredns/Corefile --kubeconfig ~/.kube/config',
    ],
    notes: [
      'A single dash works as for CoreDNS: -conf, -dns.port.',
      'SIGUSR1 and SIGHUP reload the Corefile.',
    ],
    run: async (input, output) => (await import('./serve/serve.ts')).runServe(input, output),
  },
  {
    name: 'node-cache',
    summary: 'run a DNS cache for the pods of a node, as NodeLocal DNSCache does',
    flags: [
      'localip',
      'conf',
      'basecorefile',
      'corefile',
      'kubednscm',
      'upstreamsvc',
      'cluster-domain',
      'setupinterface',
      'interfacename',
      'setupiptables',
      'rules',
      'skipteardown',
      'syncinterval',
      'health-port',
      'metrics-listen-address',
      'dns.port',
      'pidfile',
      'quiet',
      'reloadwithsignal',
      'log-format',
      'print',
    ],
    required: ['localip'],
    examples: [
      'kubedoh node-cache --localip 169.254.20.10,10.96.0.10 --upstreamsvc kube-dns-upstream',
      'kubedoh node-cache --localip 169.254.20.10 --rules nftables --print',
    ],
    notes: ['A single dash works as for NodeLocal DNSCache: -localip, -setupiptables=false.'],
    run: async (input, output) =>
      (await import('./operators/node-cache.ts')).runNodeCache(input, output),
  },
  {
    name: 'hosts',
    summary: "keep addresses of Services in the node's hosts file",
    flags: [
      'services',
      'nameserver',
      'cluster-domain',
      'hosts-file',
      'syncinterval',
      'once',
      'print',
      'listen',
      'log-format',
    ],
    required: ['services', 'nameserver'],
    examples: [
      OPENSHIFT_HOSTS,
      'kubedoh hosts --services web.shop.svc --nameserver 10.96.0.10 --print',
    ],
    run: async (input, output) => (await import('./clients/hosts.ts')).runHosts(input, output),
  },
  {
    name: 'openshift',
    summary: "apply OpenShift's DNS object: write the Corefile it asks for into a ConfigMap",
    flags: ['kubeconfig', 'configmap', 'listen', 'log-format'],
    examples: [
      'kubedoh openshift',
      'kubedoh openshift --kubeconfig ~/.kube/config --configmap dns/coredns --listen :9155',
    ],
    run: async (input, output) =>
      (await import('./operators/openshift.ts')).runOpenshift(input, output),
  },
  {
    name: 'router nginx',
    summary: 'proxy the paths of HostRoutes to their Services, by nginx',
    flags: [
      'conf',
      'kubeconfig',
      'objects',
      'http',
      'folder',
      'attach',
      'listen',
      'print',
      'log-format',
    ],
    readsCorefile: true,
    examples: [
      'kubedoh router nginx --conf Corefile --http :8080',
      'kubedoh router nginx --conf Corefile --objects shop.yaml --print',
      'kubedoh router nginx --conf Corefile --folder /run/shared --attach',
    ],
    notes: [
      'recordZones of k8s_gateway in the Corefile lists the hosts that a namespace may have.',
      'With --attach, another process runs "nginx -p FOLDER -c FOLDER/nginx.conf".',
      'If "nginx -t" rejects a configuration, the previous one stays in service.',
    ],
    run: async (input, output) =>
      (await import('./operators/router.ts')).runRouterNginx(input, output),
  },
  {
    name: 'router gateway-api',
    summary: 'write an HTTPRoute of the Gateway API for each HostRoute',
    flags: ['conf', 'kubeconfig', 'listen', 'log-format'],
    readsCorefile: true,
    examples: ['kubedoh router gateway-api --conf Corefile'],
    notes: [
      'k8s_gateway in the Corefile names the Gateway: router Gateway NAMESPACE/NAME.',
      'Only HTTPRoutes that their HostRoute owns are changed or deleted.',
    ],
    run: async (input, output) =>
      (await import('./operators/router.ts')).runRouterGateway(input, output),
  },
]
