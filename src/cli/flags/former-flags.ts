/**
 * Flags that have gone. Until the next version, a command takes them with a warning; help,
 * completion and the manual leave them out, and commands know only their successors.
 * @module
 */
import { isOf, OPERATORS } from './variables.ts'

/** A flag that has gone. */
export type FormerFlag = {
  readonly name: string
  /** Placeholder of its value; absent for a boolean flag. */
  readonly value?: string
  readonly isRepeated?: true
  /** First or all words of the commands that take it. */
  readonly takenBy: readonly string[]
  /**
   * What gets its value: a variable, a flag or the argument; or a variable or a flag with the value
   * that it gets; or the command to run in place of this one.
   */
  readonly successor: string
}

/** The successor of a flag whose value is an argument now. */
const ARGUMENT = 'the argument NAME'

/** The flags, in the order of docs/flags.md. */
export const FORMER_FLAGS: readonly FormerFlag[] = [
  { name: 'insecure', takenBy: ['serve', 'export', ...OPERATORS], successor: 'KUBEDOH_INSECURE=1' },
  { name: 'ca', value: 'FILE', takenBy: ['export', ...OPERATORS], successor: 'KUBEDOH_CA' },
  of('serve', 'explain-token', 'FILE', 'KUBEDOH_EXPLAIN_TOKEN_FILE'),
  of('serve', 'linger', 'DURATION', 'KUBEDOH_LINGER'),
  of('serve', 'pidfile', 'FILE', 'KUBEDOH_PIDFILE'),
  { name: 'quiet', takenBy: ['serve'], successor: 'KUBEDOH_QUIET=1' },
  { name: 'plugins', takenBy: ['serve'], successor: 'kubedoh check --plugins' },
  of('export', 'lease', 'NAMESPACE/NAME', 'KUBEDOH_LEASE'),
  of('export', 'canary', 'NAMESPACE/NAME', 'KUBEDOH_CANARY'),
  of('export', 'token', 'TOKEN', 'KUBEDOH_CLIENT_TOKEN'),
  of('export', 'etcd', 'FILE', 'KUBEDOH_ETCD'),
  of('export', 'mini-k8s', 'HOST:PORT', 'KUBEDOH_MINI_K8S'),
  of('export', 'mini-k8s-token', 'FILE', 'KUBEDOH_MINI_K8S_TOKEN'),
  of('router nginx', 'nginx', 'FILE', 'KUBEDOH_NGINX'),
  of('explain', 'cluster-domain', 'DOMAIN', 'CLUSTER_DOMAIN'),
  of('token create', 'name', 'TEXT', ARGUMENT),
  { name: 'recurse', takenBy: ['token create'], successor: '--allow recurse' },
  { name: 'explain', takenBy: ['token create'], successor: '--allow explain' },
  { ...of('token create', 'identity', 'ID', '--allow'), isRepeated: true },
  { ...of('token create', 'domain', 'DOMAIN', 'KUBEDOH_KIT_DOMAINS'), isRepeated: true },
  of('token create', 'tls-cert', 'FILE', 'KUBEDOH_PROFILE_CERT'),
  of('token create', 'tls-key', 'FILE', 'KUBEDOH_PROFILE_KEY'),
]

function of(command: string, name: string, value: string, successor: string): FormerFlag {
  return { name, value, takenBy: [command], successor }
}

/** Returns the flags that a command no longer has but takes. */
export function formerFlagsOf(command: string): readonly FormerFlag[] {
  return FORMER_FLAGS.filter(({ takenBy }) => isOf(command, takenBy))
}

/** Returns the line that names the successor of a flag; it has no value, which may be a secret. */
export function formerFlagWarning({ name, successor }: FormerFlag): string {
  return `kubedoh: warning: the next version has no --${name}; use ${successor}\n`
}

/** What a command was given: arguments, values by flag, variables. */
export type Given = {
  readonly args: readonly string[]
  readonly flags: ReadonlyMap<string, readonly string[]>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Returns what was given, with the value of a former flag at its successor. */
export function withSuccessor(given: Given, { name, successor }: FormerFlag): Given {
  const { args, flags, environment } = given
  const [to = '', fixed] = successor === ARGUMENT ? [] : successor.split(/[= ]/)
  const values = (flags.get(name) ?? []).flatMap((text) => fixed ?? (text === '' ? [] : text))
  if (values.length === 0) return given
  if (to === '') return { ...given, args: [...args, ...values] }
  if (!to.startsWith('--')) return { ...given, environment: { ...environment, [to]: `${values}` } }
  const flag = to.slice(2)
  return { ...given, flags: new Map([...flags, [flag, [...(flags.get(flag) ?? []), ...values]]]) }
}
