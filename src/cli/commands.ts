/**
 * The commands: summary, arguments, flags and examples of each. A command imports its file when it
 * runs, so that other commands start fast.
 * @module
 */

import type { Command } from './command.ts'
import { CONVERT_COMMANDS } from './convert-commands.ts'
import { OPERATOR_COMMANDS } from './operator-commands.ts'

const OPENSHIFT_HOSTS =
  'kubedoh hosts --services image-registry.openshift-image-registry.svc --nameserver 172.30.0.10'

/** Summaries of the groups of two-word commands, by the first word. */
export const GROUPS: Readonly<Record<string, string>> = {
  init: 'write the files of a new deployment',
  convert: "convert another system's configuration to a Corefile",
  router: 'route the paths of HostRoutes to their Services',
  snapshot: 'build and print snapshots without a gateway',
  token: 'manage the client tokens of a gateway',
}

/** The commands, in the order of help. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'answer DNS for the server blocks of a Corefile',
    flags: ['conf', 'dns.port', 'objects', 'kubeconfig', 'files', 'doh.listen', 'workers', 'etcd'],
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
    name: 'export',
    summary: 'watch a cluster and publish its names to a gateway',
    flags: ['gateway', 'cluster', 'conf', 'kubeconfig', 'objects', 'once', 'signing-key', 'listen'],
    required: ['gateway', 'cluster'],
    examples: [
      'export KUBEDOH_TOKEN=… KUBEDOH_SIGNING_KEY=…   # printed by: kubedoh keys prod',
      'kubedoh export --gateway https://dns.example.org --cluster prod',
      'kubedoh export --gateway https://dns.example.org --cluster prod --objects prod.yaml --once',
    ],
    run: async (input, output) => (await import('./export/export.ts')).runExport(input, output),
  },
  {
    name: 'gateway',
    summary: 'run the gateway on this machine instead of Cloudflare Workers',
    flags: ['conf', 'listen', 'store', 'tls-cert', 'tls-key', 'client-ca', 'insecure'],
    readsCorefile: true,
    examples: [
      'export CLUSTERS=… ADMIN_TOKEN_SHA256=…   # as in wrangler.toml; printed by: kubedoh keys',
      'kubedoh gateway --conf gateway.Corefile --store file:/var/lib/kubedoh',
      'kubedoh gateway --conf gateway.Corefile --listen :443 --tls-cert cert.pem --tls-key key.pem',
    ],
    notes: [
      'SIGHUP and SIGUSR1 reload the Corefile and the certificate. The gateway also reloads the',
      'certificate when its files change. Environment variables are read only at start.',
    ],
    run: async (input, output) => (await import('./gateway/gateway.ts')).runGateway(input, output),
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
    flags: ['kubeconfig', 'configmap', 'listen'],
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
    flags: ['conf', 'kubeconfig', 'objects', 'http', 'folder', 'attach', 'listen', 'print'],
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
    flags: ['conf', 'kubeconfig', 'listen'],
    readsCorefile: true,
    examples: ['kubedoh router gateway-api --conf Corefile'],
    notes: [
      'k8s_gateway in the Corefile names the Gateway: router Gateway NAMESPACE/NAME.',
      'Only HTTPRoutes that their HostRoute owns are changed or deleted.',
    ],
    run: async (input, output) =>
      (await import('./operators/router.ts')).runRouterGateway(input, output),
  },
  {
    name: 'keys',
    summary: 'create the keys a cluster needs to publish to a gateway',
    args: ['[CLUSTER]'],
    flags: ['admin', 'read-only'],
    examples: ['kubedoh keys prod', 'kubedoh keys --admin', 'kubedoh keys --read-only'],
    run: async (input, output) => (await import('./gateway/keys.ts')).runKeys(input, output),
  },
  {
    name: 'init worker',
    summary:
      'write a folder from which the gateway is deployed as a Cloudflare Worker, with new keys',
    args: ['FOLDER', 'DOMAIN'],
    flags: ['cluster'],
    examples: ['kubedoh init worker kubedoh-worker prod.k8s.example.org --cluster prod'],
    notes: [
      'FOLDER gets a README.md with the next steps. The ID of the cluster is "prod" by default.',
    ],
    run: async (input, output) =>
      (await import('./deploy/init-worker.ts')).runInitWorker(input, output),
  },
  {
    name: 'deploy',
    summary: 'check the variables of wrangler.toml, then deploy the Worker',
    args: ['[FLAGS...]'],
    examples: ['kubedoh deploy', 'kubedoh deploy -- --env staging', 'kubedoh deploy -- --dry-run'],
    notes: [
      'Flags after -- are those of "wrangler deploy", which must be installed in the folder.',
    ],
    run: async (input, output) => (await import('./deploy/deploy.ts')).runDeploy(input, output),
  },
  ...OPERATOR_COMMANDS,
  {
    name: 'query',
    summary: 'query a DNS server over UDP, TCP, TLS or HTTPS',
    args: ['NAME', '[TYPE]'],
    flags: ['server', 'token', 'ca', 'json'],
    examples: [
      'kubedoh query web.shop.svc.cluster.local --server 127.0.0.1:5353',
      'kubedoh query _http._tcp.web.shop.svc.prod.example.org SRV --server https://dns.example.org/dns-query',
    ],
    run: async (input, output) => (await import('./clients/query.ts')).runQuery(input, output),
  },
  {
    name: 'connect',
    summary: 'resolve domains of a gateway on this machine, by split DNS',
    flags: ['gateway', 'domain', 'token', 'ca', 'listen', 'system', 'state', 'print'],
    required: ['gateway', 'domain'],
    examples: [
      'export KUBEDOH_CLIENT_TOKEN=…   # from: kubedoh token create',
      'kubedoh connect --gateway https://dns.example.org --domain prod.example.org',
      'kubedoh connect --gateway https://dns.example.org --domain prod.example.org --print --system macos',
    ],
    notes: ['It needs root (Windows: an administrator), except with --print and --system none.'],
    run: async (input, output) => (await import('./clients/connect.ts')).runConnect(input, output),
  },
  {
    name: 'explain',
    summary: 'show which object, rule, plugin and snapshot decide an answer, or what is missing',
    args: ['NAME', '[TYPE]'],
    flags: ['gateway', 'token', 'conf', 'kubeconfig', 'objects', 'as', 'from', 'json'],
    examples: [
      'kubedoh explain web.shop.svc.prod.example.org --gateway https://dns.example.org',
      'kubedoh explain web.shop.svc.cluster.local --kubeconfig ~/.kube/config --conf Corefile',
      'kubedoh explain web --from shop --kubeconfig ~/.kube/config',
      'kubedoh explain 34.12.96.10.in-addr.arpa PTR --objects cluster.yaml',
    ],
    notes: [
      '--kubeconfig and --objects explain a cluster without a gateway or server. For a running',
      'serve, pass its --doh.listen address to --gateway, and its KUBEDOH_EXPLAIN_TOKEN as token.',
    ],
    run: async (input, output) => (await import('./explain/explain.ts')).runExplain(input, output),
  },
  {
    name: 'doctor',
    summary: 'examine a gateway, the DNS Service of a cluster, a DNS server and its upstreams',
    flags: ['gateway', 'kubeconfig', 'server', 'conf', 'name', 'cluster-domain'],
    examples: [
      'kubedoh doctor --kubeconfig ~/.kube/config --conf Corefile',
      'kubedoh doctor --server 127.0.0.1:5353 --conf Corefile',
      'kubedoh doctor --conf Corefile --name db.corp.example.org',
      'kubedoh doctor --gateway https://dns.example.org',
    ],
    notes: ['It exits with 1 if something is wrong, and prints the next step for each finding.'],
    run: async (input, output) => (await import('./doctor/doctor.ts')).runDoctor(input, output),
  },
  {
    name: 'check',
    summary: 'report every error and warning in a Corefile without starting a server',
    args: ['[COREFILE]'],
    flags: ['files', 'for', 'plugins'],
    examples: [
      'kubedoh check',
      'kubedoh check /etc/coredns/Corefile',
      'kubedoh check Corefile --files /etc/coredns',
      'kubedoh check Corefile --for worker',
    ],
    run: async (input, output) => (await import('./serve/check.ts')).runCheck(input, output),
  },
  ...CONVERT_COMMANDS,
  {
    name: 'snapshot build',
    summary: 'build a snapshot from object files and write it to a folder',
    flags: ['objects', 'out', 'conf', 'cluster'],
    required: ['objects', 'out'],
    examples: ['kubedoh snapshot build --objects cluster.yaml --out snapshot'],
    run: async (input, output) =>
      (await import('./export/snapshot.ts')).runSnapshotBuild(input, output),
  },
  {
    name: 'snapshot dump',
    summary: 'print a snapshot in zone-file format',
    args: ['FOLDER'],
    examples: ['kubedoh snapshot dump snapshot | grep SRV'],
    run: async (input, output) =>
      (await import('./export/snapshot.ts')).runSnapshotDump(input, output),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell: bash, zsh or fish',
    args: ['SHELL'],
    examples: [
      'source <(kubedoh completion bash)   # or zsh; in ~/.bashrc or ~/.zshrc',
      'kubedoh completion fish > ~/.config/fish/completions/kubedoh.fish',
    ],
    run: async (input, output) => {
      const list = { commands: COMMANDS, groups: GROUPS }
      ;(await import('./completion.ts')).runCompletion(list, input, output)
    },
  },
  {
    name: 'man',
    summary: 'print the manual page',
    examples: ['kubedoh man | man -l -', 'kubedoh man > /usr/local/share/man/man1/kubedoh.1'],
    run: async (_, output) => {
      output.stdout.write((await import('./manual.ts')).formatManual(COMMANDS))
    },
  },
]
