/**
 * All flags of all commands: the command line, its help and the README's table come from here.
 * @module
 */

/** A flag. */
export type Flag = {
  /** What its value is called in help; absent for a flag that is there or not. */
  readonly value?: string
  /** One letter that stands for it, without the dash. */
  readonly short?: string
  /** Environment variable that counts when the flag is not given. */
  readonly env?: string
  /** Value when neither is given; '' for none. */
  readonly default: string
  readonly help: string
  /** Whether it may be given several times. */
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

/** The flags. An empty value counts as not given. */
export const FLAGS: Readonly<Record<FlagName, Flag>> = {
  conf: { value: 'COREFILE', default: '', help: 'the Corefile; serve reads ./Corefile without it' },
  'dns.port': {
    value: 'PORT',
    short: 'p',
    default: '53',
    help: 'port of server blocks that name none',
  },
  quiet: { default: '', help: 'print no line when the server is ready' },
  plugins: { default: '', help: 'list the plugins' },
  pidfile: {
    value: 'FILE',
    default: '',
    help: 'write the process id to a file, removed at the end',
  },
  objects: {
    value: 'PATH',
    default: '',
    help: 'objects from a JSON or YAML file or a folder of them, in place of an API server',
    isRepeated: true,
  },
  files: { value: 'FOLDER', default: '', help: "what the Corefile's paths are relative to" },
  for: {
    value: 'TARGET',
    default: 'serve',
    help: 'what runs the Corefile: serve, gateway (on Node) or worker (Cloudflare)',
  },
  kubeconfig: {
    value: 'FILE',
    default: '',
    help: 'how to reach the API server; in a pod, its service account, else your kubeconfig',
  },
  'doh.listen': {
    value: 'HOST:PORT',
    default: '',
    help: 'answer DNS over plain HTTP as well, on a loopback address',
  },
  insecure: { default: '', help: 'allow plain HTTP beyond this machine' },
  etcd: {
    value: 'FILE',
    default: '',
    help: 'keys from a JSON file, [{"key","value"}], in place of an etcd',
  },
  workers: {
    value: 'COUNT',
    default: '1',
    help: 'threads that share the ports, and one watch of each cluster',
  },
  gateway: {
    value: 'URL',
    env: 'KUBEDOH_GATEWAY',
    default: '',
    help: 'the gateway',
  },
  cluster: { value: 'ID', default: '', help: 'what the gateway calls the cluster' },
  'signing-key': {
    value: 'FILE',
    default: '',
    help: 'file with the signing key, in place of KUBEDOH_SIGNING_KEY',
  },
  once: { default: '', help: 'publish once, and end' },
  listen: {
    value: 'HOST:PORT',
    default: '',
    help: 'where a gateway answers, or an exporter tells how it is ("" for nowhere)',
  },
  out: { value: 'FOLDER', default: '', help: 'where to write the snapshot' },
  server: {
    value: 'URL',
    env: 'KUBEDOH_SERVER',
    default: '',
    help:
      'HOST:PORT or udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or https://HOST/dns-query; ' +
      'else the system’s resolver',
  },
  token: {
    value: 'TOKEN',
    env: 'KUBEDOH_CLIENT_TOKEN',
    default: '',
    help: 'token for the gateway',
  },
  ca: {
    value: 'FILE',
    env: 'KUBEDOH_CA',
    default: '',
    help: "authorities of the server's certificate, in PEM, in place of the machine's",
  },
  json: { default: '', help: 'print JSON' },
  store: {
    value: 'WHERE',
    default: 'memory',
    help: 'what keeps snapshots and tokens: file:FOLDER or memory',
  },
  'tls-cert': { value: 'FILE', default: '', help: 'certificate chain of the gateway, in PEM' },
  'tls-key': { value: 'FILE', default: '', help: 'its key, in PEM' },
  'client-ca': {
    value: 'FILE',
    default: '',
    help: "authorities of clients' certificates, in PEM, for identities cert:SHA256",
  },
  admin: {
    default: '',
    help: 'create the operator (admin) token, which makes the tokens of clients',
  },
  'read-only': { default: '', help: 'create a token that reads /readyz and /metrics alone' },
  name: { value: 'TEXT', default: '', help: 'whose token it is, for people' },
  clusters: {
    value: 'IDS',
    default: '',
    help: 'clusters that it sees, with "," between and "*" for anything; all without',
    isRepeated: true,
  },
  origins: {
    value: 'NAMES',
    default: '',
    help: 'origins that it may ask below, in the same way; all without',
    isRepeated: true,
  },
  namespaces: {
    value: 'NAMES',
    default: '',
    help:
      'namespaces that it sees, in the same way, also by labels: team=shop, team=shop&tier=*; ' +
      'all without',
    isRepeated: true,
  },
  recurse: { default: '', help: 'let it ask for names elsewhere, where the Corefile forwards' },
  explain: { default: '', help: 'let it ask how answers came about (kubedoh explain)' },
  identity: {
    value: 'ID',
    default: '',
    help: 'who needs no secret: cert:SHA256 of a client certificate, access:MAIL or access:@DOMAIN',
    isRepeated: true,
  },
  expires: { value: 'TIME', default: '', help: 'how long it holds, such as 12h or 90d' },
  release: { default: '', help: 'end a rollback' },
  set: {
    value: 'NAME=VALUE',
    default: '',
    help: 'a value that the files leave open',
    isRepeated: true,
  },
  grace: { value: 'TIME', default: '24h', help: 'how long the secret before goes on to hold' },
}

/** What a command was given. */
export class Input {
  /** Arguments that are no flags. */
  readonly args: readonly string[]
  private readonly given: ReadonlyMap<string, readonly string[]>
  private readonly environment: Readonly<Record<string, string | undefined>>

  /** @param given values by flag; a flag without a value has '' */
  constructor(
    args: readonly string[],
    given: ReadonlyMap<string, readonly string[]>,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.args = args
    this.given = given
    this.environment = environment
  }

  /** A flag's value: as given, from the environment, or its default. */
  text(name: FlagName): string {
    const flag = FLAGS[name]
    const given = this.given.get(name)?.at(-1)
    if (given !== undefined && (given !== '' || flag.env === undefined)) {
      return given === '' ? flag.default : given
    }
    const fromEnvironment = flag.env === undefined ? undefined : this.environment[flag.env]
    return fromEnvironment ?? flag.default
  }

  /** All values of a flag that may be given several times. */
  texts(name: FlagName): readonly string[] {
    return (this.given.get(name) ?? []).filter((text) => text !== '')
  }

  /** Whether a flag without a value is there. */
  isSet(name: FlagName): boolean {
    return this.given.has(name)
  }

  /** A variable of the environment; '' when it is not set. */
  env(name: string): string {
    return this.environment[name] ?? ''
  }
}
