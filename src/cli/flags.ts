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
  /** Environment variable that is read when the flag is not given. */
  readonly env?: string
  /** Value when neither is given; '' for none. */
  readonly default: string
  readonly help: string
  /** Whether it can be repeated. */
  readonly isRepeated?: true
}

/** Name of a flag, without its dashes. */
export type FlagName =
  | 'conf'
  | 'dns.port'
  | 'quiet'
  | 'plugins'
  | 'pidfile'
  | 'objects'
  | 'files'
  | 'for'
  | 'kubeconfig'
  | 'doh.listen'
  | 'insecure'
  | 'etcd'
  | 'workers'
  | 'gateway'
  | 'cluster'
  | 'signing-key'
  | 'once'
  | 'listen'
  | 'domain'
  | 'system'
  | 'state'
  | 'out'
  | 'server'
  | 'token'
  | 'ca'
  | 'json'
  | 'admin'
  | 'read-only'
  | 'store'
  | 'tls-cert'
  | 'tls-key'
  | 'client-ca'
  | 'name'
  | 'clusters'
  | 'origins'
  | 'namespaces'
  | 'recurse'
  | 'explain'
  | 'identity'
  | 'expires'
  | 'grace'
  | 'set'
  | 'release'
  | 'services'
  | 'nameserver'
  | 'cluster-domain'
  | 'hosts-file'
  | 'syncinterval'
  | 'print'
  | 'localip'
  | 'basecorefile'
  | 'corefile'
  | 'kubednscm'
  | 'upstreamsvc'
  | 'setupinterface'
  | 'interfacename'
  | 'setupiptables'
  | 'rules'
  | 'skipteardown'
  | 'health-port'
  | 'metrics-listen-address'
  | 'reloadwithsignal'

/** All flags, in the order of docs/flags.md. An empty value counts as not given. */
export const FLAGS: Readonly<Record<FlagName, Flag>> = {
  conf: {
    value: 'COREFILE',
    default: '',
    help: 'Corefile to read; serve defaults to ./Corefile, node-cache to the generated one',
  },
  'dns.port': {
    value: 'PORT',
    short: 'p',
    default: '53',
    help: 'port of server blocks without a port',
  },
  quiet: { default: '', help: 'do not print the ready line' },
  plugins: { default: '', help: 'list the plugins and exit' },
  pidfile: {
    value: 'FILE',
    default: '',
    help: 'write the process ID to this file; remove the file on exit',
  },
  objects: {
    value: 'PATH',
    default: '',
    help: 'read Kubernetes objects from a JSON or YAML file or a folder, not from an API server',
    isRepeated: true,
  },
  files: {
    value: 'FOLDER',
    default: '',
    help: "base folder of the Corefile's relative paths; empty uses the Corefile's own folder",
  },
  for: {
    value: 'TARGET',
    default: 'serve',
    help: 'program that will run the Corefile: serve, gateway (Node) or worker (Cloudflare)',
  },
  kubeconfig: {
    value: 'FILE',
    default: '',
    help: "kubeconfig file; empty uses the pod's service account, or $KUBECONFIG outside a pod",
  },
  'doh.listen': {
    value: 'HOST:PORT',
    default: '',
    help: 'also serve DNS over HTTP without TLS on this loopback address',
  },
  insecure: { default: '', help: 'allow plain HTTP to and from other machines' },
  etcd: {
    value: 'FILE',
    default: '',
    help: 'read keys from a JSON file, [{"key","value"}], not from etcd',
  },
  workers: {
    value: 'COUNT',
    default: '1',
    help: 'number of threads; they share the ports and one watch per cluster',
  },
  gateway: {
    value: 'URL',
    env: 'KUBEDOH_GATEWAY',
    default: '',
    help: 'URL of the gateway',
  },
  cluster: { value: 'ID', default: '', help: 'ID of the cluster at the gateway' },
  'signing-key': {
    value: 'FILE',
    default: '',
    help: 'read the signing key from this file; empty uses KUBEDOH_SIGNING_KEY',
  },
  once: { default: '', help: 'publish or write once and exit' },
  listen: {
    value: 'HOST:PORT',
    default: '',
    help:
      'listen address of the gateway (127.0.0.1:8787 if not given) or of the status server of ' +
      'export (127.0.0.1:9154 if not given; empty disables it) or hosts (none if not given); ' +
      'loopback address of connect (127.0.0.1:5300 if not given)',
  },
  domain: {
    value: 'DOMAIN',
    default: '',
    help: 'domain to send to the gateway',
    isRepeated: true,
  },
  system: {
    value: 'SYSTEM',
    default: '',
    help: "linux (systemd-resolved), macos, windows or none; empty uses this machine's",
  },
  state: {
    value: 'FILE',
    default: '',
    help: 'record of what was set, for a start after a crash; empty uses a standard file',
  },
  out: { value: 'FOLDER', default: '', help: 'folder to write the snapshot to' },
  server: {
    value: 'URL',
    env: 'KUBEDOH_SERVER',
    default: '',
    help:
      'server to query: HOST:PORT, udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or ' +
      "https://HOST/dns-query; empty uses the system's resolver",
  },
  token: {
    value: 'TOKEN',
    env: 'KUBEDOH_CLIENT_TOKEN',
    default: '',
    help: 'client token for the gateway',
  },
  ca: {
    value: 'FILE',
    env: 'KUBEDOH_CA',
    default: '',
    help: "PEM file of the CAs to trust; empty trusts the system's",
  },
  json: { default: '', help: 'print JSON' },
  store: {
    value: 'WHERE',
    default: 'memory',
    help: 'store of snapshots and tokens: file:FOLDER or memory',
  },
  'tls-cert': { value: 'FILE', default: '', help: 'PEM file of the certificate chain' },
  'tls-key': { value: 'FILE', default: '', help: 'PEM file of the private key' },
  'client-ca': {
    value: 'FILE',
    default: '',
    help: 'PEM file of the CAs of client certificates, for cert:SHA256 identities of tokens',
  },
  admin: { default: '', help: 'create the operator (admin) token, which manages client tokens' },
  'read-only': { default: '', help: 'create a token that can read only /readyz and /metrics' },
  name: { value: 'TEXT', default: '', help: 'label of the token, shown by token list' },
  clusters: {
    value: 'IDS',
    default: '',
    help: 'comma-separated clusters the token may query; * matches any text (empty: all)',
    isRepeated: true,
  },
  origins: {
    value: 'NAMES',
    default: '',
    help: 'comma-separated origins the token may query; * matches any text (empty: all)',
    isRepeated: true,
  },
  namespaces: {
    value: 'NAMES',
    default: '',
    help:
      'comma-separated namespaces the token may query, by name (team-*) or by labels ' +
      '(team=shop&tier=*); * matches any text (empty: all)',
    isRepeated: true,
  },
  recurse: { default: '', help: 'let the token query external names through forward' },
  explain: { default: '', help: 'let the token use kubedoh explain' },
  identity: {
    value: 'ID',
    default: '',
    help:
      'let a client in without the secret: cert:SHA256 of its certificate, access:MAIL or ' +
      'access:@DOMAIN of Cloudflare Access',
    isRepeated: true,
  },
  expires: { value: 'TIME', default: '', help: 'lifetime of the token, such as 12h or 90d' },
  release: { default: '', help: 'end the rollback' },
  set: {
    value: 'NAME=VALUE',
    default: '',
    help: 'value that the files do not contain',
    isRepeated: true,
  },
  grace: { value: 'TIME', default: '24h', help: 'how long the previous secret stays valid' },
  services: {
    value: 'NAMES',
    env: 'SERVICES',
    default: '',
    help: 'comma-separated Services to resolve, without the cluster domain, such as web.shop.svc',
  },
  nameserver: {
    value: 'ADDRESS',
    env: 'NAMESERVER',
    default: '',
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
  print: { default: '', help: 'print what the command would write or run, and exit' },
  localip: {
    value: 'ADDRESSES',
    default: '',
    help: 'comma-separated addresses of the cache, IPv4 or IPv6',
  },
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
}

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
    const flag = FLAGS[name]
    const given = this.given.get(name)?.at(-1)
    if (given !== undefined && (given !== '' || flag.env === undefined)) {
      return given === '' ? flag.default : given
    }
    const fromEnvironment = flag.env === undefined ? undefined : this.environment[flag.env]
    return fromEnvironment ?? flag.default
  }

  /** Returns all values of a repeated flag. */
  texts(name: FlagName): readonly string[] {
    return (this.given.get(name) ?? []).filter((text) => text !== '')
  }

  /** Returns whether a flag was given, with or without a value. */
  isSet(name: FlagName): boolean {
    return this.given.has(name)
  }

  /** Returns an environment variable; '' when it is not set. */
  env(name: string): string {
    return this.environment[name] ?? ''
  }
}
