/**
 * The commands: what each is for, what it takes, and where it is done. What a command needs is
 * loaded when it runs.
 * @module
 */

import type { Output } from '../node/output.ts'
import { CONVERT_COMMANDS } from './convert-commands.ts'
import type { FlagName, Input } from './flags.ts'

/** A command. */
export type Command = {
  /** One or two words. */
  readonly name: string
  /** What it does, as a clause. */
  readonly summary: string
  /** Names of its arguments; one in brackets may be left out, one with dots stands for several. */
  readonly args: readonly string[]
  readonly flags: readonly FlagName[]
  /** Flags without which it is not understood. */
  readonly required: readonly FlagName[]
  /** Lines that can be pasted. */
  readonly examples: readonly string[]
  /** Lines that tell more, below the examples. */
  readonly notes?: readonly string[]
  readonly run: (input: Input, output: Output) => Promise<void>
}

const SERVE: Command = {
  name: 'serve',
  summary: 'answer DNS for the server blocks of a Corefile',
  args: [],
  flags: [
    'conf',
    'dns.port',
    'objects',
    'kubeconfig',
    'files',
    'doh.listen',
    'insecure',
    'workers',
    'etcd',
    'quiet',
    'plugins',
    'pidfile',
  ],
  required: [],
  examples: [
    'kubedoh serve',
    'kubedoh serve --conf Corefile --dns.port 5353 --objects cluster.yaml',
    'kubedoh serve --conf /etc/coredns/Corefile --kubeconfig ~/.kube/config',
  ],
  notes: [
    "CoreDNS's flags work with one dash too: -conf, -p.",
    'SIGUSR1 and SIGHUP reload the Corefile.',
  ],
  run: async (input, output) => (await import('./serve.ts')).runServe(input, output),
}

const EXPORT: Command = {
  name: 'export',
  summary: "publish a cluster's names to a gateway, and keep them fresh",
  args: [],
  flags: [
    'gateway',
    'cluster',
    'conf',
    'kubeconfig',
    'objects',
    'once',
    'signing-key',
    'listen',
    'insecure',
    'ca',
  ],
  required: ['gateway', 'cluster'],
  examples: [
    'export KUBEDOH_TOKEN=… KUBEDOH_SIGNING_KEY=…   # kubedoh keys prod makes both',
    'kubedoh export --gateway https://dns.example.org --cluster prod',
    'kubedoh export --gateway https://dns.example.org --cluster prod --objects prod.yaml --once',
  ],
  run: async (input, output) => (await import('./export.ts')).runExport(input, output),
}

const GATEWAY: Command = {
  name: 'gateway',
  summary: 'run the gateway on this machine, in place of Cloudflare',
  args: [],
  flags: ['conf', 'listen', 'store', 'tls-cert', 'tls-key', 'client-ca', 'insecure'],
  required: ['conf'],
  examples: [
    'export CLUSTERS=… ADMIN_TOKEN_SHA256=…   # as in wrangler.toml; kubedoh keys makes both',
    'kubedoh gateway --conf gateway.Corefile --store file:/var/lib/kubedoh',
    'kubedoh gateway --conf gateway.Corefile --listen :443 --tls-cert cert.pem --tls-key key.pem',
  ],
  notes: [
    'SIGHUP and SIGUSR1 reload the Corefile and the certificate; changed certificates are found',
    'without it. Variables are read at the start alone.',
  ],
  run: async (input, output) => (await import('./gateway.ts')).runGateway(input, output),
}

const KEYS: Command = {
  name: 'keys',
  summary: 'make the keys by which a cluster publishes to a gateway',
  args: ['[CLUSTER]'],
  flags: ['admin', 'read-only'],
  required: [],
  examples: ['kubedoh keys prod', 'kubedoh keys --admin', 'kubedoh keys --read-only'],
  run: async (input, output) => (await import('./keys.ts')).runKeys(input, output),
}

const QUERY: Command = {
  name: 'query',
  summary: 'ask a DNS server, over UDP, TCP, TLS or HTTPS',
  args: ['NAME', '[TYPE]'],
  flags: ['server', 'token', 'ca', 'json'],
  required: [],
  examples: [
    'kubedoh query web.shop.svc.cluster.local --server 127.0.0.1:5353',
    'kubedoh query _http._tcp.web.shop.svc.prod.example.org SRV --server https://dns.example.org/dns-query',
  ],
  run: async (input, output) => (await import('./query.ts')).runQuery(input, output),
}

const EXPLAIN: Command = {
  name: 'explain',
  summary: 'have a gateway tell how an answer came about',
  args: ['NAME', '[TYPE]'],
  flags: ['gateway', 'token', 'json', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh explain web.shop.svc.prod.example.org --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./explain.ts')).runExplain(input, output),
}

const CHECK: Command = {
  name: 'check',
  summary: 'tell all that is wrong with a Corefile, or may surprise, without starting anything',
  args: ['COREFILE'],
  flags: ['files', 'for'],
  required: [],
  examples: [
    'kubedoh check /etc/coredns/Corefile',
    'kubedoh check Corefile --files /etc/coredns',
    'kubedoh check gateway.Corefile --for gateway',
  ],
  run: async (input, output) => (await import('./check.ts')).runCheck(input, output),
}

const SNAPSHOT_BUILD: Command = {
  name: 'snapshot build',
  summary: 'write the snapshot of some objects to a folder',
  args: [],
  flags: ['objects', 'out', 'conf', 'cluster'],
  required: ['objects', 'out'],
  examples: ['kubedoh snapshot build --objects cluster.yaml --out snapshot'],
  run: async (input, output) => (await import('./snapshot.ts')).runSnapshotBuild(input, output),
}

const SNAPSHOT_DUMP: Command = {
  name: 'snapshot dump',
  summary: 'print a snapshot as the text of a zone file',
  args: ['FOLDER'],
  flags: [],
  required: [],
  examples: ['kubedoh snapshot dump snapshot | grep SRV'],
  run: async (input, output) => (await import('./snapshot.ts')).runSnapshotDump(input, output),
}

const TOKEN_CREATE: Command = {
  name: 'token create',
  summary: "make a client's token, for all names or some",
  args: [],
  flags: [
    'gateway',
    'name',
    'clusters',
    'origins',
    'namespaces',
    'recurse',
    'explain',
    'identity',
    'expires',
    'json',
    'insecure',
    'ca',
  ],
  required: ['gateway'],
  examples: [
    'export KUBEDOH_ADMIN_TOKEN=…   # kubedoh keys --admin makes it',
    "kubedoh token create --gateway https://dns.example.org --name ci --namespaces 'shop,team-*' --expires 90d",
  ],
  run: async (input, output) => (await import('./token.ts')).runTokenCreate(input, output),
}

const TOKEN_LIST: Command = {
  name: 'token list',
  summary: 'print the tokens of clients, without their secrets',
  args: [],
  flags: ['gateway', 'json', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh token list --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./token.ts')).runTokenList(input, output),
}

const TOKEN_REVOKE: Command = {
  name: 'token revoke',
  summary: 'end a token',
  args: ['ID'],
  flags: ['gateway', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh token revoke 5f2a81c0d9e4 --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./token.ts')).runTokenRevoke(input, output),
}

const TOKEN_ROTATE: Command = {
  name: 'token rotate',
  summary: 'give a token a new secret; the one before holds for a while',
  args: ['ID'],
  flags: ['gateway', 'grace', 'json', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh token rotate 5f2a81c0d9e4 --gateway https://dns.example.org --grace 1h'],
  run: async (input, output) => (await import('./token.ts')).runTokenRotate(input, output),
}

const GENERATIONS: Command = {
  name: 'generations',
  summary: 'print the generations that a gateway keeps of a cluster',
  args: ['CLUSTER'],
  flags: ['gateway', 'json', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh generations prod --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./generations.ts')).runGenerations(input, output),
}

const DIFF: Command = {
  name: 'diff',
  summary: 'print the records that changed since a generation',
  args: ['CLUSTER', 'FROM', '[TO]'],
  flags: ['gateway', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh diff prod 1767225600 --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./generations.ts')).runDiff(input, output),
}

const ROLLBACK: Command = {
  name: 'rollback',
  summary: 'answer from an older generation, or with --release from the newest again',
  args: ['CLUSTER', '[GENERATION]'],
  flags: ['gateway', 'release', 'insecure', 'ca'],
  required: ['gateway'],
  examples: [
    'kubedoh rollback prod 1767225600 --gateway https://dns.example.org',
    'kubedoh rollback prod --release --gateway https://dns.example.org',
  ],
  run: async (input, output) => (await import('./generations.ts')).runRollback(input, output),
}

const CONFLICTS: Command = {
  name: 'conflicts',
  summary: 'print where clusters that have zones together contradict each other',
  args: [],
  flags: ['gateway', 'json', 'insecure', 'ca'],
  required: ['gateway'],
  examples: ['kubedoh conflicts --gateway https://dns.example.org'],
  run: async (input, output) => (await import('./conflicts.ts')).runConflicts(input, output),
}

/** The commands, in the order of help. */
export const COMMANDS: readonly Command[] = [
  SERVE,
  EXPORT,
  GATEWAY,
  KEYS,
  TOKEN_CREATE,
  TOKEN_LIST,
  TOKEN_REVOKE,
  TOKEN_ROTATE,
  GENERATIONS,
  DIFF,
  ROLLBACK,
  CONFLICTS,
  QUERY,
  EXPLAIN,
  CHECK,
  ...CONVERT_COMMANDS,
  SNAPSHOT_BUILD,
  SNAPSHOT_DUMP,
]
