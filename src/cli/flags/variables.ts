/**
 * The environment variables of commands, beside those of flags. A test compares them with
 * docs/environment.md.
 * @module
 */

/** An environment variable. */
export type Variable = {
  readonly name: string
  /** First or all words of the commands that read it. */
  readonly readBy: readonly string[]
  readonly help: string
}

const OPERATORS = ['token', 'generations', 'diff', 'rollback', 'conflicts', 'explain', 'doctor']
const SERVERS = ['serve', 'node-cache']
const WATCHERS = [
  ...SERVERS,
  'export',
  'openshift',
  'router nginx',
  'router gateway-api',
  'explain',
]

/** The variables, in the order of help. */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'KUBEDOH_TOKEN',
    readBy: ['export'],
    help: "the exporter's token (kubedoh keys CLUSTER)",
  },
  {
    name: 'KUBEDOH_SIGNING_KEY',
    readBy: ['export'],
    help: "the exporter's signing key, unless --signing-key names a file",
  },
  {
    name: 'KUBEDOH_ADMIN_TOKEN',
    readBy: OPERATORS,
    help: "the operator's token (kubedoh keys --admin)",
  },
  {
    name: 'KUBEDOH_EXPLAIN_TOKEN',
    readBy: ['serve'],
    help: 'the token of /v1/explain, unless --explain-token names a file',
  },
  {
    name: 'KUBEDOH_UDP_BATCHES',
    readBy: SERVERS,
    help: '0 receives and sends one datagram at a time',
  },
  {
    name: 'KUBEDOH_SLOW_TURNS',
    readBy: [...SERVERS, 'gateway', 'export'],
    help: 'log: logs what takes the event loop over 10 ms; a path: appends it there',
  },
  {
    name: 'LOCAL_IPS',
    readBy: [...SERVERS, 'export', 'explain', 'snapshot build'],
    help: "comma-separated addresses instead of those of the machine's interfaces",
  },
  {
    name: 'KUBERNETES_SERVICE_HOST',
    readBy: WATCHERS,
    help: "set in pods, where the pod's service account is used",
  },
  {
    name: 'KUBECONFIG',
    readBy: WATCHERS,
    help: 'kubeconfig file outside a pod (default ~/.kube/config)',
  },
  {
    name: 'CLUSTERS, ADMIN_TOKEN_SHA256, PUBLIC, …',
    readBy: ['gateway'],
    help: 'as in wrangler.toml; all are in docs/gateway-variables.md',
  },
]

/** Returns the variables that a command reads. */
export function variablesOf(command: string): readonly Variable[] {
  return VARIABLES.filter(({ readBy }) =>
    readBy.some((one) => one === command || command.startsWith(`${one} `)),
  )
}
