/**
 * The environment variables of commands, without those that a flag of the same command has. A test
 * compares them with docs/environment.md.
 * @module
 */

/** An environment variable. */
export type Variable = {
  readonly name: string
  /** First or all words of the commands that read it. */
  readonly readBy: readonly string[]
  readonly help: string
}

/** First words of the commands that send requests to a gateway for its operator. */
export const OPERATORS: readonly string[] = [
  'token',
  'backup',
  'restore',
  'generations',
  'diff',
  'rollback',
  'conflicts',
  'status',
  'audit',
  'explain',
  'doctor',
]
/** Commands that use a login where no token is set. */
const LOGINS = ['login', 'logout', 'query', 'connect', 'cluster', ...OPERATORS]
const SERVERS = ['serve', 'node-cache']
/** Commands that send spans. */
const TRACED = ['serve', 'gateway', 'export']
const WATCHERS = [
  ...SERVERS,
  'export',
  'gateway',
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
    name: 'KUBEDOH_LEASE',
    readBy: ['export', 'gateway'],
    help: 'Lease, NAMESPACE/NAME, that elects one of several exporters, or of several gateways',
  },
  {
    name: 'KUBEDOH_CANARY',
    readBy: ['export'],
    help: 'Service, NAMESPACE/NAME, to publish and change, to time the gateway with',
  },
  {
    name: 'KUBEDOH_CLIENT_TOKEN',
    readBy: ['export', 'token host'],
    help: 'client token: export queries with it for KUBEDOH_CANARY, token host prints its name',
  },
  {
    name: 'KUBEDOH_CLIENT_TOKEN_FILE',
    readBy: ['query', 'connect'],
    help: 'file with the client token, where KUBEDOH_CLIENT_TOKEN has none; connect rereads it',
  },
  {
    name: 'KUBEDOH_ETCD',
    readBy: ['export', 'gateway'],
    help: 'JSON file of keys, [{"key","value"}], to read in place of etcd',
  },
  {
    name: 'KUBEDOH_CLIENT_TOKENS',
    readBy: ['export', 'gateway'],
    help: 'namespace whose ClientTokens may give the names of any other; unset sends none',
  },
  {
    name: 'KUBEDOH_RBAC',
    readBy: ['export', 'gateway'],
    help: '1: also publish who may read Services where, for rules of issuers',
  },
  {
    name: 'KUBEDOH_MINI_K8S',
    readBy: ['export'],
    help: 'HOST:PORT of the REST paths of mini-k8s; --objects keeps the objects',
  },
  {
    name: 'KUBEDOH_MINI_K8S_TOKEN',
    readBy: ['export'],
    help: 'file with the bearer token of KUBEDOH_MINI_K8S',
  },
  {
    name: 'KUBEDOH_ADMIN_TOKEN',
    readBy: ['cluster', ...OPERATORS],
    help: "the operator's token (kubedoh keys --admin)",
  },
  {
    name: 'XDG_CONFIG_HOME',
    readBy: LOGINS,
    help: 'folder of kubedoh/credentials.json, the logins (default ~/.config)',
  },
  {
    name: 'BROWSER',
    readBy: ['login'],
    help: "program that opens the page of the login (default the system's)",
  },
  {
    name: 'KUBEDOH_CLUSTER',
    readBy: ['gateway'],
    help: 'ID of the cluster whose API server the gateway follows itself, without an exporter',
  },
  {
    name: 'KUBEDOH_CLUSTER_COREFILE',
    readBy: ['gateway'],
    help: 'Corefile that names what to read of it, as --conf of export does',
  },
  {
    name: 'KUBEDOH_REPLICA_TOKEN',
    readBy: ['gateway'],
    help: 'the token for --follow (kubedoh keys --replica)',
  },
  { name: 'KUBEDOH_REPLICA_TOKEN_FILE', readBy: ['gateway'], help: 'file with that token' },
  {
    name: 'AWS_REGION',
    readBy: ['gateway'],
    help: 'region of the bucket of --store s3:// (default us-east-1 with an endpoint)',
  },
  {
    name: 'AWS_ACCESS_KEY_ID',
    readBy: ['gateway'],
    help: 'identifier of the key for --store s3://',
  },
  {
    name: 'AWS_SECRET_ACCESS_KEY',
    readBy: ['gateway'],
    help: 'secret of that key',
  },
  {
    name: 'AWS_SESSION_TOKEN',
    readBy: ['gateway'],
    help: 'token of the session, for a key that ends',
  },
  {
    name: 'AWS_ENDPOINT_URL',
    readBy: ['gateway'],
    help: 'URL of a server that speaks the protocol of S3 (default that of AWS)',
  },
  {
    name: 'AWS_ENDPOINT_URL_S3',
    readBy: ['gateway'],
    help: 'as AWS_ENDPOINT_URL, which it overrides',
  },
  {
    name: 'AWS_ROLE_ARN',
    readBy: ['gateway'],
    help: 'role to take in place of a key, by a token of the cluster',
  },
  {
    name: 'AWS_WEB_IDENTITY_TOKEN_FILE',
    readBy: ['gateway'],
    help: 'file with that token',
  },
  {
    name: 'AWS_ENDPOINT_URL_STS',
    readBy: ['gateway'],
    help: 'URL of the service that gives keys for the token (default that of AWS)',
  },
  {
    name: 'KUBEDOH_VARIABLES',
    readBy: ['gateway'],
    help: 'folder with a file for each gateway variable, read again when one changes',
  },
  {
    name: 'KUBEDOH_EXPLAIN_TOKEN',
    readBy: ['serve'],
    help: 'the token of /v1/explain over HTTP (--doh.listen)',
  },
  { name: 'KUBEDOH_EXPLAIN_TOKEN_FILE', readBy: ['serve'], help: 'file with that token' },
  {
    name: 'KUBEDOH_LINGER',
    readBy: ['serve', 'gateway'],
    help: 'how long to go on when asked to stop, so that clients go elsewhere (default 0s)',
  },
  { name: 'KUBEDOH_PIDFILE', readBy: ['serve'], help: 'file for the process ID' },
  { name: 'KUBEDOH_QUIET', readBy: ['serve'], help: '1 prints no ready line' },
  { name: 'KUBEDOH_NGINX', readBy: ['router nginx'], help: 'program of nginx (default nginx)' },
  {
    name: 'KUBEDOH_KIT_DOMAINS',
    readBy: ['token create'],
    help: 'comma-separated domains of --kit (default those of the clusters that the token sees)',
  },
  {
    name: 'KUBEDOH_PROFILE_CERT',
    readBy: ['token create'],
    help: 'PEM file of the certificate chain that signs the profile for Apple devices',
  },
  { name: 'KUBEDOH_PROFILE_KEY', readBy: ['token create'], help: 'PEM file of its private key' },
  {
    name: 'KUBEDOH_CA',
    readBy: ['gateway', 'export', 'cluster', ...OPERATORS],
    help: "PEM file of the CAs to trust (default the system's)",
  },
  {
    name: 'KUBEDOH_INSECURE',
    readBy: ['serve', 'export', 'connect', 'login', 'logout', 'cluster', ...OPERATORS],
    help: '1 allows plain HTTP to and from other machines',
  },
  {
    name: 'CLUSTER_DOMAIN',
    readBy: ['explain'],
    help: 'domain of the cluster (default cluster.local)',
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
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    readBy: TRACED,
    help: 'URL of a collector, to which spans go as OTLP; unset makes none',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    readBy: TRACED,
    help: 'the same with its path, such as http://collector:4318/v1/traces',
  },
  {
    name: 'OTEL_SERVICE_NAME',
    readBy: TRACED,
    help: 'name of the program there (default kubedoh-server, -gateway or -exporter)',
  },
  {
    name: 'LOCAL_IPS',
    readBy: [...SERVERS, 'export', 'gateway', 'explain', 'snapshot build'],
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
  {
    name: 'CLOUDFLARE_ACCOUNT_ID',
    readBy: ['stats'],
    help: "the account's identifier (npx wrangler whoami); empty prints the query only",
  },
  {
    name: 'CLOUDFLARE_API_TOKEN',
    readBy: ['stats'],
    help: 'a token of the account with Account Analytics: Read',
  },
  {
    name: 'CLOUDFLARE_API_BASE_URL',
    readBy: ['stats'],
    help: 'URL of the API (default https://api.cloudflare.com/client/v4)',
  },
  {
    name: 'CLUSTERS',
    readBy: ['cluster rotate'],
    help: 'the variable of the gateway, to print what it becomes; empty prints the fields only',
  },
]

/** Returns the variables that a command reads. */
export function variablesOf(command: string): readonly Variable[] {
  return VARIABLES.filter(({ readBy }) => isOf(command, readBy))
}

/** Commands that ask nobody, unlike others with the same first word. */
const ALONE: ReadonlySet<string> = new Set(['token host'])

/** Returns whether a command is in a list of commands, or its first word is. */
export function isOf(command: string, list: readonly string[]): boolean {
  if (ALONE.has(command)) return list.includes(command)
  return list.some((one) => one === command || command.startsWith(`${one} `))
}
