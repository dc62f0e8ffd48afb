/**
 * The flags of all commands. The command line, its help and docs/flags.md are made from this table.
 * @module
 */

/** A flag of the command line. */
export type Flag = {
  /** Placeholder of its value in help; absent for a boolean flag. */
  readonly value?: string
  /** One-letter form, without the dash. */
  readonly short?: string
  /** Environment variable that is read when the flag is not given; `1` sets a boolean flag. */
  readonly env?: string
  /** Value when neither is given; '' when left out. */
  readonly default?: string
  readonly help: string
  /** Whether it can be repeated. */
  readonly isRepeated?: true
}

/** All flags, in the order of docs/flags.md. An empty value counts as not given. */
const TABLE = {
  conf: {
    value: 'COREFILE',
    help: 'Corefile to read (serve, gateway, router: ./Corefile; node-cache: the generated one)',
  },
  'dns.port': {
    value: 'PORT',
    short: 'p',
    default: '53',
    help: 'port of server blocks without a port',
  },
  quiet: { env: 'KUBEDOH_QUIET', help: 'do not print the ready line' },
  'log-format': {
    value: 'FORMAT',
    env: 'KUBEDOH_LOG_FORMAT',
    help: "format of all log lines: json, text or coredns; empty keeps each stream's own",
  },
  plugins: { help: 'list the plugins and exit' },
  pidfile: {
    value: 'FILE',
    env: 'KUBEDOH_PIDFILE',
    help: 'write the process ID to this file; remove the file on exit',
  },
  objects: {
    value: 'PATH',
    help: 'read Kubernetes objects from a JSON or YAML file or a folder, not from an API server',
    isRepeated: true,
  },
  files: {
    value: 'FOLDER',
    help: "base folder of the Corefile's relative paths; empty uses the Corefile's own folder",
  },
  for: {
    value: 'TARGET',
    default: 'serve',
    help: 'program that will run the Corefile: serve, gateway (Node) or worker (Cloudflare)',
  },
  kubeconfig: {
    value: 'FILE',
    help: "kubeconfig file; empty uses the pod's account, else $KUBECONFIG (doctor: none)",
  },
  http: {
    value: 'HOST:PORT',
    help: 'address on which nginx takes requests (default :80)',
    isRepeated: true,
  },
  folder: {
    value: 'FOLDER',
    default: '/run/kubedoh-router',
    help: "folder of nginx's configuration, pid file, socket and temporary files",
  },
  attach: { help: 'reload the nginx whose pid file is FOLDER/nginx.pid, and start none' },
  configmap: {
    value: 'NAMESPACE/NAME',
    default: 'openshift-dns/dns-default',
    help: 'ConfigMap to write; conditions go into NAME-status',
  },
  'doh.listen': {
    value: 'HOST:PORT',
    help: 'also serve DNS over HTTP without TLS on this loopback address',
  },
  'dot.listen': {
    value: 'HOST:PORT',
    help: 'also serve DNS over TLS on this address; needs --tls-cert and --tls-key',
  },
  insecure: { env: 'KUBEDOH_INSECURE', help: 'allow plain HTTP to and from other machines' },
  etcd: {
    value: 'FILE',
    env: 'KUBEDOH_ETCD',
    help: 'read keys from a JSON file, [{"key","value"}], not from etcd',
  },
  workers: {
    value: 'COUNT',
    default: '1',
    help: 'number of threads; they share the ports and one watch per cluster',
  },
  gateway: { value: 'URL', env: 'KUBEDOH_GATEWAY', help: 'URL of the gateway' },
  issuers: { value: 'FILE', help: 'JSON list of issuers whose tokens count' },
  cluster: { value: 'ID', help: 'ID of the cluster at the gateway' },
  'signing-key': {
    value: 'FILE',
    help: 'read the signing key from this file; empty uses KUBEDOH_SIGNING_KEY',
  },
  once: { help: 'publish or write once and exit' },
  listen: {
    value: 'HOST:PORT',
    help: 'listen address (gateway 127.0.0.1:8787, export :9154, connect and login on loopback)',
  },
  domain: { value: 'DOMAIN', help: 'domain to send to the gateway', isRepeated: true },
  system: {
    value: 'SYSTEM',
    help: "linux (systemd-resolved), macos, windows or none; empty uses this machine's",
  },
  state: {
    value: 'FILE',
    help: 'record of what was set, for a start after a crash; empty uses a standard file',
  },
  out: { value: 'FOLDER', help: 'folder to write the snapshot to' },
  server: {
    value: 'URL',
    env: 'KUBEDOH_SERVER',
    help: "server to query: HOST:PORT, udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or https://HOST/dns-query; empty uses the system's resolver (doctor: the cluster's)",
  },
  token: { value: 'TOKEN', env: 'KUBEDOH_CLIENT_TOKEN', help: 'client token for the gateway' },
  issuer: { value: 'URL', help: 'issuer to log in at, where the gateway has several' },
  device: { help: 'log in on another device, by a code; for machines without a browser' },
  ca: {
    value: 'FILE',
    env: 'KUBEDOH_CA',
    help: "PEM file of the CAs to trust; empty trusts the system's",
  },
  as: { value: 'ID', help: 'answer as for the token with this ID, and list what it does not see' },
  from: {
    value: 'PLACE',
    help: 'NAMESPACE or NAMESPACE/POD whose search list to walk',
  },
  json: { help: 'print JSON' },
  bundle: {
    value: 'FILE',
    help: 'write what a colleague needs to help, without secrets, to this new file',
  },
  store: {
    value: 'WHERE',
    default: 'memory',
    help: 'store of snapshots and tokens: file:FOLDER, s3://BUCKET/PREFIX or memory',
  },
  follow: {
    value: 'URL',
    help: 'follow another gateway instead of keeping a store, as its replica',
  },
  'tls-cert': { value: 'FILE', help: 'PEM file of the certificate chain' },
  'tls-key': { value: 'FILE', help: 'PEM file of the private key' },
  'client-ca': {
    value: 'FILE',
    help: 'PEM file of the CAs of client certificates, for cert:SHA256 identities of tokens',
  },
  admin: { help: 'create the operator (admin) token, which manages client tokens' },
  'read-only': {
    help: 'create a token for /readyz, /metrics, kubedoh explain and kubedoh status only',
  },
  replica: { help: 'create a token with which other gateways can follow this one' },
  exchange: {
    help: 'create a key by which a gateway gives tokens in exchange for those of issuers',
  },
  name: {
    value: 'NAME',
    help: 'doctor: name that all upstreams must answer alike; init worker: name of the Worker',
  },
  hostname: {
    value: 'HOST',
    help: 'custom domain of the Worker, in a zone of the account; empty uses workers.dev',
  },
  clusters: {
    value: 'IDS',
    help: 'comma-separated clusters the token may query; * matches any text (empty: all)',
    isRepeated: true,
  },
  origins: {
    value: 'NAMES',
    help: 'comma-separated origins the token may query; * matches any text (empty: all)',
    isRepeated: true,
  },
  namespaces: {
    value: 'NAMES',
    help: 'comma-separated namespaces or labels (team=a&tier=*); * matches any text (empty: all)',
    isRepeated: true,
  },
  allow: {
    value: 'WHAT',
    help: 'recurse (external names), explain, viewer, issuer, operator, cert:SHA256, access:MAIL',
    isRepeated: true,
  },
  kit: {
    value: 'FOLDER',
    help: 'write set-up files for devices, browsers, CI and programs to this new folder',
  },
  expires: { value: 'TIME', help: 'lifetime of the token, such as 12h or 90d' },
  at: { value: 'TIME', help: 'time in UTC to return to, such as 2026-11-28T10:00Z' },
  release: { help: 'end the rollback' },
  since: { value: 'TIME', default: '7d', help: 'how far back to look, such as 12h or 90d' },
  by: {
    value: 'COLUMNS',
    default: 'cluster,rcode',
    help: 'count by some of cluster, rcode, type, method, freshness, token, colo, country',
  },
  end: { help: 'end a rotation: take out all keys but the newest' },
  set: { value: 'NAME=VALUE', help: 'value that the files do not contain', isRepeated: true },
  grace: { value: 'TIME', default: '24h', help: 'how long the previous secret stays valid' },
  services: {
    value: 'NAMES',
    env: 'SERVICES',
    help: 'comma-separated Services to resolve, without the cluster domain, such as web.shop.svc',
  },
  nameserver: {
    value: 'ADDRESS',
    env: 'NAMESERVER',
    help: 'DNS server of the cluster: ADDRESS or ADDRESS:PORT',
  },
  'cluster-domain': {
    value: 'DOMAIN',
    env: 'CLUSTER_DOMAIN',
    default: 'cluster.local',
    help: 'domain of the cluster',
  },
  'hosts-file': { value: 'FILE', default: '/etc/hosts', help: 'hosts file to keep up to date' },
  syncinterval: { value: 'SECONDS', default: '60', help: 'interval of the checks' },
  print: { help: 'print what the command would write or run, and exit' },
  localip: { value: 'ADDRESSES', help: 'comma-separated addresses of the cache, IPv4 or IPv6' },
  basecorefile: {
    value: 'FILE',
    default: '/etc/coredns/Corefile.base',
    help: 'template of the Corefile, with __PILLAR__ placeholders',
  },
  corefile: { value: 'FILE', default: '/etc/Corefile', help: 'Corefile to generate' },
  kubednscm: {
    value: 'FOLDER',
    default: '/etc/kube-dns',
    help: 'folder of the ConfigMap of kube-dns, with stubDomains and upstreamNameservers',
  },
  upstreamsvc: {
    value: 'SERVICE',
    default: 'kube-dns',
    help: 'DNS Service behind the cache; its address is in SERVICE_SERVICE_HOST',
  },
  setupinterface: {
    value: 'BOOL',
    default: 'true',
    help: 'create an interface with the addresses',
  },
  interfacename: { value: 'NAME', default: 'nodelocaldns', help: 'name of the interface' },
  setupiptables: {
    value: 'BOOL',
    default: 'true',
    help: 'load rules that skip connection tracking',
  },
  rules: {
    value: 'KIND',
    default: 'auto',
    help: 'rules to load: iptables, nftables or auto (iptables where it works)',
  },
  skipteardown: { value: 'BOOL', default: 'false', help: 'leave interface and rules on exit' },
  'health-port': {
    value: 'PORT',
    default: '8080',
    help: 'port of the health directive, for the rules',
  },
  'metrics-listen-address': {
    value: 'HOST:PORT',
    default: '0.0.0.0:9353',
    help: 'listen address of the metrics of setup errors; empty disables it',
  },
  reloadwithsignal: {
    value: 'BOOL',
    default: 'false',
    help: 'accepted for NodeLocal DNSCache; a changed Corefile is always loaded at once',
  },
} as const

/** Name of a flag, without its dashes. */
export type FlagName = keyof typeof TABLE

/** Returns the help of a flag with its default, whether it can be repeated, and its variable. */
export function flagHelp(flag: Flag): string {
  const notes = [
    ...(flag.default === undefined ? [] : [`default ${flag.default}`]),
    ...(flag.isRepeated === undefined ? [] : ['can be repeated']),
    ...(flag.env === undefined ? [] : [flag.env]),
  ]
  return notes.length === 0 ? flag.help : `${flag.help} (${notes.join(', ')})`
}

/** All flags, by name. */
export const FLAGS: Readonly<Record<FlagName, Flag>> = TABLE

/** Arguments, flags and environment of one run of a command. */
export class Input {
  /** Positional arguments. */
  readonly args: readonly string[]
  private readonly given: ReadonlyMap<string, readonly string[]>
  private readonly environment: Readonly<Record<string, string | undefined>>

  /** @param given values by flag; a boolean flag has '' */
  constructor(
    args: readonly string[],
    given: ReadonlyMap<string, readonly string[]>,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.args = args
    this.given = given
    this.environment = environment
  }

  /** Returns a flag's value from the command line, else the environment, else its default. */
  text(name: FlagName): string {
    const { env, default: otherwise = '' } = FLAGS[name]
    const given = this.given.get(name)?.at(-1)
    if (given !== undefined && (given !== '' || env === undefined)) return given || otherwise
    return (env && this.environment[env]) ?? otherwise
  }

  /** Returns all values of a repeated flag. */
  texts(name: FlagName): readonly string[] {
    return (this.given.get(name) ?? []).filter((text) => text !== '')
  }

  /** Returns whether a flag was given, with or without a value, or its variable is 1. */
  isSet(name: FlagName): boolean {
    const { env = '', value } = FLAGS[name]
    return this.given.has(name) || (value === undefined && this.environment[env] === '1')
  }

  /** Returns the input of another command, with flags of its own, in the same environment. */
  withFlags(given: ReadonlyMap<string, readonly string[]>): Input {
    return new Input([], given, this.environment)
  }

  /** Returns an environment variable; '' when it is not set. */
  env(name: string): string {
    return this.environment[name] ?? ''
  }
}
