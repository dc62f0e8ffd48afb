/**
 * The commands that resolve names, and say why an answer is what it is.
 * @module
 */
import type { CliCommand } from './command.ts'

/** The commands, in the order of help. */
export const CLIENT_COMMANDS: readonly CliCommand[] = [
  {
    name: 'login',
    summary: 'log in at a gateway by the identity provider of its users, in place of a token',
    flags: ['gateway', 'issuer', 'device', 'listen', 'ca'],
    required: ['gateway'],
    examples: [
      'kubedoh login --gateway https://dns.example.org',
      'kubedoh login --gateway https://dns.example.org --device',
    ],
    notes: [
      'It opens a browser, and prints the page for one; --device is for machines without one.',
      'query, explain, connect, doctor and the commands of operators use the login where no',
      'token is set, and renew it. --listen is for issuers that redirect to one port only. Log',
      'in only at gateways that you trust: they get your ID token.',
    ],
    run: async (input, output) => (await import('./login/login.ts')).runLogin(input, output),
  },
  {
    name: 'logout',
    summary: 'forget the login at a gateway, and revoke its refresh token at the issuer',
    flags: ['gateway', 'ca'],
    required: ['gateway'],
    examples: ['kubedoh logout --gateway https://dns.example.org'],
    notes: ['A token that was given out counts until it ends; an operator can revoke its subject.'],
    run: async (input, output) => (await import('./login/logout.ts')).runLogout(input, output),
  },
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
    flags: ['gateway', 'kubeconfig', 'server', 'conf', 'name', 'cluster-domain', 'json', 'bundle'],
    examples: [
      'kubedoh doctor --kubeconfig ~/.kube/config --conf Corefile',
      'kubedoh doctor --server 127.0.0.1:5353 --conf Corefile',
      'kubedoh doctor --conf Corefile --name db.corp.example.org',
      'kubedoh doctor --gateway https://dns.example.org',
      'kubedoh doctor --kubeconfig ~/.kube/config --conf Corefile --bundle bundle.json',
    ],
    notes: ['It exits with 1 if something is wrong, and prints the next step for each finding.'],
    run: async (input, output) => (await import('./doctor/doctor.ts')).runDoctor(input, output),
  },
]
