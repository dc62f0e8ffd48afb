/**
 * A node and a pod as network namespaces, joined by a cable. The cluster's DNS server listens on an
 * address of the node, and the node translates the address of Service kube-dns to it, as kube-proxy
 * does.
 * @module
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

/** The cache's own address and that of Service kube-dns, by family. */
export const LOCAL: readonly string[] = [
  '169.254.20.10',
  '10.96.0.10',
  'fd00:20::10',
  'fd00:96::10',
]
/** The addresses of the DNS server of the cluster. */
const UPSTREAM = ['10.96.0.11', 'fd00:96::11']
/** A name that the cluster's server and the cache answer differently. */
export const WHO = 'who.shop.svc.cluster.local'
export const BY_CLUSTER = '192.0.2.1'
export const BY_CACHE = '192.0.2.2'

/** A name that the cluster's server answers after 1.5 s. */
export const SLOW = 'slow.shop.svc.cluster.local'

/** The template: kubeadm's of NodeLocal DNSCache, with a name of its own. */
const TEMPLATE = `${WHO}:53 {
    bind __PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__
    hosts {
        ${BY_CACHE} ${WHO}
        2001:db8::2 ${WHO}
    }
}
__PILLAR__DNS__DOMAIN__:53 {
    errors
    cache {
        success 9984 30
        denial 9984 5
    }
    reload
    loop
    bind __PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__
    forward . __PILLAR__CLUSTER__DNS__ {
        force_tcp
    }
    prometheus :9253
    health __PILLAR__LOCAL__DNS__:8080
}
.:53 {
    errors
    cache 30
    reload
    loop
    bind __PILLAR__LOCAL__DNS__ __PILLAR__DNS__SERVER__
    forward . __PILLAR__UPSTREAM__SERVERS__
    prometheus :9253
}
`
const CLUSTER = `.:53 {
    bind ${UPSTREAM.join(' ')}
    hosts {
        ${BY_CLUSTER} ${WHO}
        2001:db8::1 ${WHO}
        192.0.2.80 web.shop.svc.cluster.local
        2001:db8::80 web.shop.svc.cluster.local
        192.0.2.90 www.example.org
    }
}
${SLOW} {
    bind ${UPSTREAM.join(' ')}
    erratic {
        delay 1 1500ms
    }
}
`

/** What is around a cache: files of the node, and servers with addresses on it. */
export type Around = {
  /**
   * `Cluster` is the Corefile of the servers, which run in one process; `objects.json` has
   * theirs.
   */
  readonly files: Readonly<Record<string, string>>
  /** Addresses of the servers. */
  readonly servers: readonly string[]
  /** A Service and the server to which the node sends its queries, as kube-proxy does. */
  readonly services: readonly (readonly [service: string, server: string])[]
}

/** The servers that NodeLocal DNSCache's manifest expects. */
const KUBEADM: Around = {
  files: { 'Corefile.base': TEMPLATE, Cluster: CLUSTER },
  servers: UPSTREAM,
  services: [
    ['10.96.0.10', '10.96.0.11'],
    ['fd00:96::10', 'fd00:96::11'],
  ],
}

/** Output of a process. */
export type Running = { readonly child: ChildProcess; readonly output: () => string }

/** Queries that were sent and lost. */
export type Counts = Readonly<Record<'udp' | 'tcp' | 'lostUdp' | 'lostTcp', number>>

/** A node with one pod. */
export class Node {
  readonly folder: string
  private readonly name = `kubedoh-${process.pid}`
  private readonly running = new Set<ChildProcess>()

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Creates the namespaces and starts the cluster's server. All of it ends with the test. */
  static async create(t: TestContext, around: Around = KUBEADM): Promise<Node> {
    const node = new Node(temporaryFolder(t, around.files))
    t.onTestFinished(() => node.remove())
    const { name } = node
    for (const one of [name, `${name}-pod`]) execFileSync('ip', ['netns', 'add', one])
    node.sh(`ip link set lo up
ip link add pod0 type veth peer name eth0 netns ${name}-pod
ip address add 10.244.0.1/24 dev pod0
ip address add fd00:244::1/64 dev pod0 nodad
ip link set pod0 up
${around.servers.map((address) => `ip address add ${address} dev lo`).join('\n')}
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
${around.services.flatMap(([service, server]) => forwardRules(service, server)).join('\n')}`)
    node.pod(`ip link set lo up
ip link set eth0 up
ip address add 10.244.0.2/24 dev eth0
ip address add fd00:244::2/64 dev eth0 nodad
ip route add default via 10.244.0.1
ip -6 route add default via fd00:244::1`)
    const objects = 'objects.json' in around.files ? join(node.folder, 'objects.json') : ''
    const flags = ['--conf', join(node.folder, 'Cluster'), '--objects', objects]
    const cluster = node.start(['serve', ...flags])
    await node.shows(cluster, /ready: DNS/)
    return node
  }

  /** Starts a command of kubedoh on the node. */
  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
    const entry = join(import.meta.dirname, '../../src/cli/run.ts')
    const child = spawn('ip', ['netns', 'exec', this.name, process.execPath, entry, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.running.add(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        child.emit('text')
      })
    }
    child.once('exit', () => this.running.delete(child))
    return { child, output: () => text }
  }

  /** Starts the cache, and waits until it is ready. */
  async startCache(...more: readonly string[]): Promise<Running> {
    const cache = this.start(['node-cache', ...this.cacheArgs(), ...more], {
      KUBE_DNS_UPSTREAM_SERVICE_HOST: UPSTREAM[0] ?? '',
    })
    await this.shows(cache, /ready: DNS/)
    return cache
  }

  /** The flags of the cache, as in NodeLocal DNSCache's manifest. */
  cacheArgs(): readonly string[] {
    const file = (name: string): string => join(this.folder, name)
    return [
      ...[
        '-localip',
        LOCAL.join(','),
        '-conf',
        file('Corefile'),
        '-upstreamsvc',
        'kube-dns-upstream',
      ],
      ...['-basecorefile', file('Corefile.base'), '-kubednscm', file('kube-dns')],
    ]
  }

  /** Waits for output. @throws {Error} if the process ends without it */
  async shows({ child, output }: Running, pattern: RegExp): Promise<void> {
    while (!pattern.test(output())) {
      const ended = once(child, 'exit').then(() => 'ended')
      const next = await Promise.race([once(child, 'text'), ended])
      if (next === 'ended' && !pattern.test(output())) throw new Error(`ended: ${output()}`)
    }
  }

  /** Ends a process as the kubelet does, and waits for its end. */
  async stop({ child }: Running): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  /** Runs a shell script on the node and returns its output. */
  sh(script: string): string {
    return inNamespace(this.name, script)
  }

  /** Runs a shell script in the pod, which may have a resolv.conf. */
  pod(script: string): string {
    return inNamespace(`${this.name}-pod`, script)
  }

  /** Asks the servers for a name from the pod until `stop`, which returns the counts. */
  async load(name: string, servers: readonly string[]): Promise<{ stop: () => Promise<Counts> }> {
    const program = join(import.meta.dirname, 'load.ts')
    const args = ['netns', 'exec', `${this.name}-pod`, process.execPath, program, name, ...servers]
    const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.running.add(child)
    child.once('exit', () => this.running.delete(child))
    await once(child.stdout, 'data')
    const stop = async (): Promise<Counts> => {
      const printed = once(child.stdout, 'data')
      child.stdin.end()
      const [text] = await printed
      return JSON.parse(String(text)) as Counts
    }
    return { stop }
  }

  /** Sets the pod's resolv.conf, which `ip netns exec` mounts. */
  setResolvConf(text: string): void {
    this.writeResolvConf(`${this.name}-pod`, text)
  }

  /** Sets the node's resolv.conf. */
  setOwnResolvConf(text: string): void {
    this.writeResolvConf(this.name, text)
  }

  private writeResolvConf(namespace: string, text: string): void {
    const folder = `/etc/netns/${namespace}`
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'resolv.conf'), text)
  }

  /** Queries from the pod; returns the addresses. */
  dig(server: string, name: string, ...options: readonly string[]): string {
    return this.pod(digCommand(server, name, options)).trim()
  }

  /** Does as `dig` while the test goes on. */
  async digLater(server: string, name: string, ...options: readonly string[]): Promise<string> {
    const args = [
      'netns',
      'exec',
      `${this.name}-pod`,
      'sh',
      '-c',
      digCommand(server, name, options),
    ]
    const { stdout } = await promisify(execFile)('ip', args)
    return stdout.trim()
  }

  private async remove(): Promise<void> {
    for (const child of this.running) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    for (const one of [this.name, `${this.name}-pod`]) {
      execFileSync('ip', ['netns', 'delete', one])
      rmSync(`/etc/netns/${one}`, { recursive: true, force: true })
    }
  }
}

function forwardRules(service: string, server: string): string[] {
  const program = service.includes(':') ? 'ip6tables' : 'iptables'
  return ['udp', 'tcp'].map(
    (protocol) =>
      `${program} -t nat -A PREROUTING -d ${service} -p ${protocol} --dport 53 -j DNAT --to ${server}`,
  )
}

function digCommand(server: string, name: string, options: readonly string[]): string {
  return `dig +short +tries=1 +time=3 ${options.join(' ')} @${server} ${name}`
}

function inNamespace(name: string, script: string): string {
  const args = ['netns', 'exec', name, 'sh', '-ec', script]
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
