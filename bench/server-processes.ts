/**
 * The DNS servers that the benchmark of `kubedoh serve` compares: each in a process of its own that
 * is pinned to one core, while the load and the API server have the other.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/free-port.ts'
import { type Running, start } from '../test/real-cluster/processes.ts'
import { type Build, OWN_BUILD } from './against/commit.ts'
import { BUNDLES, ROOT } from './places.ts'

/** The core of the server under test, and that of everything else. */
const SERVER_CORE = '0'
const LOAD_CORE = '1'

/** A server that runs on the loopback address. */
export type DnsProcess = {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly stop: Running['stop']
  /** Path of its Corefile. */
  readonly corefile?: string
}

/** How to start a server. */
type Command = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly port: number
  readonly variables?: Readonly<Record<string, string>>
}

/** What the Corefile of a server is made of. */
export type CorefileParts = {
  readonly kubeconfig: string
  /** Ports of the servers that external names go to. */
  readonly upstreams: readonly number[]
}

/** Moves this process, and what it starts from now on, to the core of the load. */
export function pinToLoadCore(): void {
  pin(process.pid, LOAD_CORE)
}

/** Moves a process to the core of the servers under test. */
export function pinToServerCore(pid: number): void {
  pin(pid, SERVER_CORE)
}

function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' })
}

/** Finds or installs a program. Returns what is missing when it is unavailable. */
export function prepareProgram(command: string, debian: string): string | undefined {
  const isFound = (): boolean => spawnSync('which', [command]).status === 0
  if (isFound()) return undefined
  if (process.getuid?.() === 0) {
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', debian])
  }
  return isFound() ? undefined : `missing: ${command}; install the Debian package ${debian}`
}

/** Compiles the C echo server. Returns its path. */
export function compileEcho(folder: string): string {
  const path = join(folder, 'udp-echo')
  execFileSync('cc', ['-O2', '-o', path, join(ROOT, 'bench/servers/udp-echo.c')])
  return path
}

/** Starts a server; does not wait until it answers. */
export function startProcess(command: Command): DnsProcess {
  const { name, args, port, variables } = command
  const pinned = ['-c', SERVER_CORE, command.command, ...args]
  const running = start('taskset', pinned, { GOMAXPROCS: '1', ...variables })
  return { name, port, pid: running.child.pid ?? 0, stop: running.stop }
}

/** Starts the C echo server. */
export async function startEcho(path: string): Promise<DnsProcess> {
  const port = await freePort()
  return startProcess({ name: 'the C echo', command: path, args: [String(port)], port })
}

/** Starts unbound, which answers from local data only, and every name below `example.org`. */
export async function startUnbound(
  folder: string,
  localData: Iterable<string> = [],
): Promise<DnsProcess> {
  const port = await freePort()
  const conf = join(folder, `unbound-${port}.conf`)
  const data = Array.from(localData, (record) => `  local-data: "${record}"\n`)
  writeFileSync(
    conf,
    `server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  num-threads: 1
  username: ""
  chroot: ""
  pidfile: ""
  use-syslog: no
  module-config: "iterator"
  local-zone: "." static
  local-zone: "cluster.local." static
  local-zone: "example.org." redirect
  local-data: "example.org. 5 A 192.0.2.1"
${data.join('')}remote-control:
  control-enable: no
`,
  )
  const args = ['-d', '-c', conf]
  return startProcess({ name: 'unbound local-data', command: 'unbound', args, port })
}

/** Flags of dnsdist, which its configuration's path follows. */
export const DNSDIST_ARGS: readonly string[] = ['--supervised', '--disable-syslog', '-C']

/** Formats dnsdist's configuration: a packet cache before a server of DNS, over HTTPS. */
export function formatDnsdist(on: {
  readonly port: number
  /** That of plain DNS, which dnsdist wants too. */
  readonly plainPort: number
  readonly upstream: number
  readonly cert: string
  readonly key: string
}): string {
  return `setLocal('127.0.0.1:${on.plainPort}')
addDOHLocal('127.0.0.1:${on.port}', '${on.cert}', '${on.key}', '/dns-query')
newServer({address='127.0.0.1:${on.upstream}'}):setUp()
getPool(''):setCache(newPacketCache(100000))
setMaxUDPOutstanding(10000)
`
}

/** Formats a Corefile: the `kubernetes` plugin alone, or what kubeadm installs. */
export async function formatCorefile(
  kind: 'alone' | 'kubeadm',
  { kubeconfig, upstreams }: CorefileParts,
): Promise<string> {
  if (kind === 'alone') {
    return `.:53 {
  bind 127.0.0.1
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
  }
}
`
  }
  return `.:53 {
  bind 127.0.0.1
  errors
  health 127.0.0.1:${await freePort()} {
    lameduck 0s
  }
  ready 127.0.0.1:${await freePort()}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  prometheus 127.0.0.1:${await freePort()}
  forward . ${upstreams.map((upstream) => `127.0.0.1:${upstream}`).join(' ')} {
    max_concurrent 1000
  }
  cache 30
  loop
  reload
  loadbalance
}
`
}

/** Starts CoreDNS or a bundle of `kubedoh serve`, on Node or a `runtime`, with a Corefile. */
export async function startCorefile(
  server: {
    readonly name: string
    readonly coredns?: string
    readonly runtime?: string
    readonly build?: Build
  },
  text: string,
  options: Pick<Command, 'variables'> & { readonly flags?: readonly string[] } = {},
): Promise<DnsProcess> {
  const port = await freePort()
  const corefile = join(BUNDLES, `Corefile-${port}`)
  writeFileSync(corefile, text.replace('.:53', `.:${port}`))
  const { flags = [], ...rest } = options
  const { name, coredns, runtime, build: { command, entry } = OWN_BUILD } = server
  const begin = (
    program: string,
    args: readonly string[],
    variables = rest.variables,
  ): DnsProcess => {
    const parts = { name, port, command: program, args, ...rest, ...(variables && { variables }) }
    return Object.assign(startProcess(parts), { corefile })
  }
  if (coredns !== undefined) return begin(coredns, ['-conf', corefile])
  const args = ['serve', '--conf', corefile, ...flags]
  if (runtime !== undefined) return begin(runtime, [entry, ...args])
  const variables = { KUBEDOH_ENTRY: entry, ...rest.variables }
  return begin(command, args, variables)
}

/**
 * Resolves when a process has used less than a tenth of a processor for two seconds: an API server
 * may pause within a long list.
 */
export async function untilQuiet(pid: number): Promise<void> {
  const ticks = (): number => {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user = NaN, system = NaN] = fields.split(' ').slice(11, 13).map(Number)
    return user + system
  }
  for (let before = ticks(); ; ) {
    await sleep(2000)
    const now = ticks()
    if (now - before < 20) return
    before = now
  }
}

/** Returns the resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const [, kb = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}
