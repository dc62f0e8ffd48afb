/**
 * The commands of a gateway's operator.
 * @module
 */
import type { CliCommand } from './command.ts'
import type { FlagName } from './flags/flags.ts'

/** The commands, in the order of help. */
export const OPERATOR_COMMANDS: readonly CliCommand[] = [
  ofOperator({
    name: 'token create',
    summary: 'create a client token for all names or some of them',
    args: ['[NAME]'],
    flags: ['clusters', 'origins', 'namespaces', 'allow', 'expires', 'kit', 'json'],
    examples: [
      'export KUBEDOH_ADMIN_TOKEN=…   # printed by: kubedoh keys --admin',
      "kubedoh token create ci --gateway https://dns.example.org --namespaces 'shop,team-*' --expires 90d",
      'kubedoh token create laptops --gateway https://dns.example.org --allow recurse,explain --kit laptops',
      'kubedoh token create grafana --gateway https://dns.example.org --allow viewer --expires 90d',
    ],
    notes: ['NAME is the label in token list.'],
    run: async (input, output) =>
      (await import('./gateway/token.ts')).runTokenCreate(input, output),
  }),
  ofOperator({
    name: 'token list',
    summary: 'list the client tokens, without their secrets',
    flags: ['json'],
    examples: ['kubedoh token list --gateway https://dns.example.org'],
    run: async (input, output) => (await import('./gateway/token.ts')).runTokenList(input, output),
  }),
  ofOperator({
    name: 'token revoke',
    summary: 'revoke a client token, or all tokens of a client that an issuer knows',
    args: ['ID', '[SUBJECT]'],
    examples: [
      'kubedoh token revoke 5f2a81c0d9e4 --gateway https://dns.example.org',
      'kubedoh token revoke https://gitlab.com project_path:acme/shop --gateway https://dns.example.org',
    ],
    notes: [
      'With a SUBJECT, the first argument is its issuer: both as in the tokens, iss and sub.',
    ],
    run: async (input, output) =>
      (await import('./gateway/token.ts')).runTokenRevoke(input, output),
  }),
  ofOperator({
    name: 'token rotate',
    summary: 'give a client token a new secret; the previous one stays valid for the grace period',
    args: ['ID'],
    flags: ['grace', 'json'],
    examples: ['kubedoh token rotate 5f2a81c0d9e4 --gateway https://dns.example.org --grace 1h'],
    run: async (input, output) =>
      (await import('./gateway/token.ts')).runTokenRotate(input, output),
  }),
  {
    name: 'token host',
    summary: 'print the hostname with a client token in it, for clients that take a name only',
    args: ['DOMAIN'],
    examples: [
      'export KUBEDOH_CLIENT_TOKEN=…   # printed by: kubedoh token create',
      'kubedoh token host doh.example.org',
    ],
    notes: [
      'DOMAIN is TOKEN_DOMAIN of the gateway. The hostname follows from the token in',
      'KUBEDOH_CLIENT_TOKEN; the token does not follow from the hostname.',
    ],
    run: async (input, output) => (await import('./gateway/token.ts')).runTokenHost(input, output),
  },
  ofOperator({
    name: 'token restore',
    summary: 'return to the client tokens of an earlier time, at most 30 days ago',
    flags: ['at', 'json'],
    required: ['at'],
    examples: ['kubedoh token restore --gateway https://dns.example.org --at 2026-11-28T10:00Z'],
    notes: ['Tokens that were revoked since are valid again, with the secrets of that time.'],
    run: async (input, output) =>
      (await import('./gateway/token.ts')).runTokenRestore(input, output),
  }),
  ofOperator({
    name: 'token export',
    summary: 'print the client tokens as hashes with scopes, for another gateway or this one later',
    examples: ['kubedoh token export --gateway https://dns.example.org > tokens.jsonl'],
    notes: ['Tokens of ClientTokens are not in it: the exporter of their cluster sends them.'],
    run: async (input, output) =>
      (await import('./gateway/backup.ts')).runTokenExport(input, output),
  }),
  ofOperator({
    name: 'token import',
    summary: 'add the client tokens of a file of token export, all of them or none',
    args: ['FILE'],
    examples: ['kubedoh token import tokens.jsonl --gateway https://new.example.org'],
    notes: ['A token that the gateway has with another scope, secret or end refuses the file.'],
    run: async (input, output) =>
      (await import('./gateway/backup.ts')).runTokenImport(input, output),
  }),
  ofOperator({
    name: 'backup',
    summary: 'write what exporters do not publish again: tokens, revocations, added clusters, pins',
    args: ['[FILE]'],
    examples: ['kubedoh backup gateway.jsonl --gateway https://dns.example.org'],
    notes: [
      'Without FILE, it is printed. Variables, such as CLUSTERS, and the Corefile are not in it.',
    ],
    run: async (input, output) => (await import('./gateway/backup.ts')).runBackup(input, output),
  }),
  ofOperator({
    name: 'restore',
    summary: 'add what a file of backup has to a gateway, after it has checked all of it',
    args: ['FILE'],
    examples: ['kubedoh restore gateway.jsonl --gateway https://dns.example.org'],
    notes: ['What the gateway has already stays; what it has otherwise refuses the file.'],
    run: async (input, output) => (await import('./gateway/backup.ts')).runRestore(input, output),
  }),
  ofOperator({
    name: 'generations',
    summary: 'list the generations of a cluster that the gateway keeps',
    args: ['CLUSTER'],
    flags: ['json'],
    examples: ['kubedoh generations prod --gateway https://dns.example.org'],
    run: async (input, output) =>
      (await import('./gateway/generations.ts')).runGenerations(input, output),
  }),
  ofOperator({
    name: 'diff',
    summary: 'print the records that changed since a generation',
    args: ['CLUSTER', 'FROM', '[TO]'],
    examples: ['kubedoh diff prod 1767225600 --gateway https://dns.example.org'],
    run: async (input, output) => (await import('./gateway/generations.ts')).runDiff(input, output),
  }),
  ofOperator({
    name: 'rollback',
    summary: 'make the gateway answer from an older generation, or with --release from the newest',
    args: ['CLUSTER', '[GENERATION]'],
    flags: ['release'],
    examples: [
      'kubedoh rollback prod 1767225600 --gateway https://dns.example.org',
      'kubedoh rollback prod --release --gateway https://dns.example.org',
    ],
    run: async (input, output) =>
      (await import('./gateway/generations.ts')).runRollback(input, output),
  }),
  ofOperator({
    name: 'conflicts',
    summary: 'list Services on which clusters disagree, and hostnames with several owners',
    flags: ['json'],
    examples: ['kubedoh conflicts --gateway https://dns.example.org'],
    run: async (input, output) =>
      (await import('./gateway/conflicts.ts')).runConflicts(input, output),
  }),
  ofOperator({
    name: 'status',
    summary: 'list the clusters of a gateway with their age, sizes and followers',
    flags: ['json'],
    examples: ['kubedoh status --gateway https://dns.example.org'],
    notes: ['KUBEDOH_ADMIN_TOKEN may be the read-only token, too.'],
    run: async (input, output) => (await import('./gateway/status.ts')).runStatus(input, output),
  }),
  ofOperator({
    name: 'audit',
    summary: 'list the requests of operators that a Worker has on record',
    flags: ['since', 'json'],
    examples: ['kubedoh audit --gateway https://dns.example.org --since 30d'],
    notes: ['A gateway on Node has them in its log only: lines with "audit":true.'],
    run: async (input, output) => (await import('./gateway/audit.ts')).runAudit(input, output),
  }),
  {
    name: 'stats',
    summary: 'count the answers of a Worker by Analytics Engine, or print the query for that',
    args: ['[DATASET]'],
    flags: ['since', 'by', 'json'],
    examples: [
      'export CLOUDFLARE_ACCOUNT_ID=… CLOUDFLARE_API_TOKEN=…   # may read Account Analytics',
      'kubedoh stats --since 24h --by cluster,rcode,token',
    ],
    notes: ['DATASET is that of the binding ANALYTICS, "kubedoh" by default.'],
    run: async (input, output) => (await import('./gateway/stats.ts')).runStats(input, output),
  },
]

/** Adds the flags of commands that send requests to a gateway. */
function ofOperator(command: CliCommand): CliCommand {
  const flags: readonly FlagName[] = ['gateway', ...(command.flags ?? [])]
  return { ...command, flags, required: ['gateway', ...(command.required ?? [])] }
}
