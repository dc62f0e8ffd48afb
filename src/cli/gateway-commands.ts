/**
 * The commands that run a gateway and publish clusters to it.
 * @module
 */
import type { CliCommand } from './command.ts'

/** The commands, in the order of help. */
export const GATEWAY_COMMANDS: readonly CliCommand[] = [
  {
    name: 'gateway',
    summary: 'run the gateway on this machine instead of Cloudflare Workers',
    flags: [
      'conf',
      'listen',
      'store',
      'follow',
      'tls-cert',
      'tls-key',
      'client-ca',
      'dot.listen',
      'insecure',
      'log-format',
    ],
    readsCorefile: true,
    examples: [
      'export CLUSTERS=… ADMIN_TOKEN_SHA256=…   # as in wrangler.toml; printed by: kubedoh keys',
      'kubedoh gateway --conf gateway.Corefile --store file:/var/lib/kubedoh',
      'kubedoh gateway --conf gateway.Corefile --follow https://dns.example.org',
      'kubedoh gateway --conf gateway.Corefile --listen :443 --tls-cert cert.pem --tls-key key.pem',
      'kubedoh gateway --dot.listen :853 --tls-cert cert.pem --tls-key key.pem',
      'KUBEDOH_CLUSTER=prod kubedoh gateway --conf gateway.Corefile',
    ],
    notes: [
      'DNS over TLS (--dot.listen) takes tokens from server names below TOKEN_DOMAIN, as phones',
      'and routers send them, and client certificates.',
      'With --follow, the gateway answers from what another one has, its primary, and as long as',
      'before while that is away. Set CLUSTERS as there. KUBEDOH_REPLICA_TOKEN has the token.',
      'With KUBEDOH_CLUSTER, it follows an API server: in a pod that of its cluster, else that of',
      'KUBECONFIG, or what the Corefile in KUBEDOH_CLUSTER_COREFILE names.',
      'SIGHUP and SIGUSR1 reload the Corefile and the certificate. The gateway also reloads the',
      'certificate when its files change. Environment variables are read only at start.',
      'At SIGTERM, /ready is 503 and the gateway answers for another KUBEDOH_LINGER.',
    ],
    run: async (input, output) => (await import('./gateway/gateway.ts')).runGateway(input, output),
  },
  {
    name: 'keys',
    summary: 'create the keys a cluster needs to publish to a gateway',
    args: ['[CLUSTER]'],
    flags: ['admin', 'read-only', 'replica', 'exchange'],
    examples: [
      'kubedoh keys prod',
      'kubedoh keys --admin',
      'kubedoh keys --read-only',
      'kubedoh keys --replica',
      'kubedoh keys --exchange',
    ],
    run: async (input, output) => (await import('./gateway/keys.ts')).runKeys(input, output),
  },
  {
    name: 'cluster add',
    summary: 'add a cluster to a gateway that runs, and print the keys of its exporter',
    args: ['CLUSTER'],
    flags: ['gateway', 'issuers'],
    required: ['gateway'],
    examples: [
      'kubedoh cluster add lab --gateway https://dns.example.org',
      'kubedoh cluster add lab --gateway https://dns.example.org --issuers issuers.json',
    ],
    notes: ['The Corefile of the gateway needs a "kubernetes" directive with "cluster *".'],
    run: async (input, output) =>
      (await import('./gateway/cluster.ts')).runClusterAdd(input, output),
  },
  {
    name: 'cluster issuers',
    summary: 'replace the issuers whose tokens count for a cluster; an empty list removes them',
    args: ['CLUSTER', 'FILE'],
    flags: ['gateway'],
    required: ['gateway'],
    examples: ['kubedoh cluster issuers lab issuers.json --gateway https://dns.example.org'],
    run: async (input, output) =>
      (await import('./gateway/cluster.ts')).runClusterIssuers(input, output),
  },
  {
    name: 'cluster list',
    summary: 'list the clusters that may publish to a gateway',
    flags: ['gateway', 'json'],
    required: ['gateway'],
    examples: ['kubedoh cluster list --gateway https://dns.example.org'],
    run: async (input, output) =>
      (await import('./gateway/cluster.ts')).runClusterList(input, output),
  },
  {
    name: 'cluster remove',
    summary: 'remove a cluster from a gateway that runs, with all that it has published',
    args: ['CLUSTER'],
    flags: ['gateway'],
    required: ['gateway'],
    examples: ['kubedoh cluster remove lab --gateway https://dns.example.org'],
    run: async (input, output) =>
      (await import('./gateway/cluster.ts')).runClusterRemove(input, output),
  },
  {
    name: 'cluster rotate',
    summary: "give a cluster new keys, and print the steps that put them in the old ones' place",
    args: ['CLUSTER'],
    flags: ['gateway', 'end'],
    examples: [
      'kubedoh cluster rotate lab --gateway https://dns.example.org',
      'kubedoh cluster rotate prod',
      `CLUSTERS='{"prod":…}' kubedoh cluster rotate prod   # prints the whole variable, too`,
    ],
    notes: [
      'Both keys are valid until the last step, so that no query fails. CLUSTERS is the variable',
      'of the gateway as it is now.',
    ],
    run: async (input, output) =>
      (await import('./gateway/rotate-cluster.ts')).runClusterRotate(input, output),
  },
  {
    name: 'export',
    summary: 'watch a cluster and publish its names to a gateway',
    flags: [
      'gateway',
      'cluster',
      'conf',
      'kubeconfig',
      'objects',
      'once',
      'signing-key',
      'listen',
      'log-format',
    ],
    required: ['gateway', 'cluster'],
    examples: [
      'export KUBEDOH_TOKEN=… KUBEDOH_SIGNING_KEY=…   # printed by: kubedoh keys prod',
      'kubedoh export --gateway https://dns.example.org --cluster prod',
      'kubedoh export --gateway https://dns.example.org --cluster prod --objects prod.yaml --once',
    ],
    run: async (input, output) => (await import('./export/export.ts')).runExport(input, output),
  },
  {
    name: 'init worker',
    summary:
      'write a folder from which the gateway is deployed as a Cloudflare Worker, with new keys',
    args: ['FOLDER', 'DOMAIN'],
    flags: ['cluster', 'name', 'hostname'],
    examples: [
      'kubedoh init worker names-prod prod.k8s.example.org --cluster prod',
      'kubedoh init worker names-prod prod.k8s.example.org --hostname dns.example.org',
    ],
    notes: [
      'FOLDER gets a README.md with the next steps. The ID of the cluster is "prod" by default,',
      'the name of the Worker that of FOLDER. A deployment replaces a Worker of the same name.',
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
]
