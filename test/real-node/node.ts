/**
 * A Kubernetes node with its control plane in namespaces of its own, which end with this process.
 * @module
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type Binaries, prepareHelm } from '../real-cluster/binaries.ts'
import { prepareDebian } from './packages.ts'
import {
  controlParts,
  FIRST,
  firstParts,
  NODE,
  nodeParts,
  type Part,
  type Place,
  SECOND,
  writeControlPlane,
  writeFiles,
} from './parts.ts'

const SCRIPT = join(import.meta.dirname, 'node.sh')
const READY_MS = 120_000
const PAUSE_MS = 100
/** As Kubernetes has it. */
const LOST_AFTER_SECONDS = 50
const OUTPUT_MAX = 64 * 1024 * 1024

const run = promisify(execFile)

/** A running node, and the commands that administer it. */
export class KubernetesNode {
  /** Folder of the node, with the log of every part as `NAME.log`. */
  readonly folder: string
  private readonly place: Place
  private readonly helmPath: string = prepareHelm()
  private first: ChildProcess | undefined
  /** Process 1 of the node, as this machine counts. */
  private pid = 0

  private constructor(place: Omit<Place, 'run' | 'debian'>) {
    this.folder = mkdtempSync(join(tmpdir(), 'kubedoh-node-'))
    this.place = { ...place, run: this.folder, debian: prepareDebian() }
  }

  /**
   * Starts a node with a control plane, and waits until it can run pods.
   * @param lostAfterSeconds after how long without a sign of a node its pods leave Services
   * @throws {Error} with the log of what failed
   */
  static start(
    binaries: Binaries,
    lostAfterSeconds: number = LOST_AFTER_SECONDS,
  ): Promise<KubernetesNode> {
    removeOldCgroups()
    const node = new KubernetesNode({ binaries, node: FIRST, lostAfterSeconds })
    return node.started(() => node.startControlPlane())
  }

  /**
   * Starts a second node in the cluster of this one, and waits until it can run pods. Stop it
   * before this one.
   * @throws {Error} with the log of what failed
   */
  startSecond(): Promise<KubernetesNode> {
    const node = new KubernetesNode({ ...this.place, node: SECOND })
    return node.started(() => node.join(this))
  }

  private async started(start: () => Promise<void>): Promise<this> {
    try {
      await start()
    } catch (error) {
      const logs = globSync(join(this.folder, '*.log'))
      const tails = logs.map((log) => `${log}:\n${readFileSync(log, 'utf8').slice(-1500)}`)
      await this.stop()
      throw new Error(`the node does not start\n${tails.join('\n')}`, { cause: error })
    }
    return this
  }

  private async startControlPlane(): Promise<void> {
    await this.startNamespaces()
    writeControlPlane(this.place)
    writeFiles(this.place, this.folder)
    for (const part of firstParts(this.place)) this.startPart(part)
    await this.waitForOutput(['get', '--raw', '/readyz'], 'ok')
    for (const part of controlParts(this.place)) this.startPart(part)
    await this.startNode()
    // A pod is refused before a controller has created its ServiceAccount.
    await this.waitForOutput(['get', 'serviceaccount', 'default', '-o', 'name'], 'serviceaccount/')
  }

  private async join(control: KubernetesNode): Promise<void> {
    await this.startNamespaces()
    writeFiles(this.place, control.folder)
    const { node: one } = control.place
    const { node: two } = this.place
    // A cable between their bridges.
    const ends = ['type', 'veth', 'peer', 'name', one.name, 'netns', String(this.pid)]
    await control.exec('ip', 'link', 'add', two.name, ...ends)
    for (const [node, here, there] of [
      [control, one, two],
      [this, two, one],
    ] as const) {
      await node.exec('ip', 'link', 'set', there.name, 'master', 'node0', 'up')
      await node.exec('ip', 'route', 'add', there.pods, 'via', there.ip, 'src', here.ip)
    }
    await this.startNode()
  }

  private async startNamespaces(): Promise<void> {
    for (const name of ['cni', 'certs']) mkdirSync(join(this.folder, name))
    this.first = this.spawnLogged('namespaces', ['start'])
    await waitFor('the namespaces', () => existsSync(join(this.folder, 'started')))
    // setpriv and unshare replace the shell; their only child is process 1.
    const { pid } = this.first
    this.pid = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  }

  private async startNode(): Promise<void> {
    const { engine, others } = nodeParts(this.place)
    this.startPart(engine)
    // The kubelet ends when it does not find it.
    const socket = `/proc/${this.pid}/root/run/containerd/containerd.sock`
    await waitFor('containerd', () => existsSync(socket))
    for (const part of others) this.startPart(part)
    const { name } = this.place.node
    const status = '{.status.conditions[?(@.type=="Ready")].status}'
    await this.waitForOutput(['get', 'node', name, '-o', `jsonpath=${status}`], 'True')
  }

  private startPart({ name, command }: Part): void {
    this.spawnLogged(name, ['enter', String(this.pid), ...command])
  }

  private spawnLogged(name: string, args: readonly string[]): ChildProcess {
    const log = createWriteStream(join(this.folder, `${name}.log`))
    const child = spawn(SCRIPT, args, {
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false })
    return child
  }

  private environment(): Record<string, string> {
    const { debian } = this.place
    return {
      PATH: `${debian}/usr/bin:${debian}/usr/sbin:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`,
      RUN: this.folder,
      CGROUP: basename(this.folder),
      NODE_NAME: this.place.node.name,
      NODE_ADDRESS: `${this.place.node.ip}/${NODE.bits}`,
      SERVICES: NODE.services,
      KUBECONFIG: join(this.folder, 'admin.conf'),
      // kubectl and helm keep caches there.
      HOME: this.folder,
    }
  }

  /** Runs a command in the node's network, with this machine's files. @returns its output */
  exec(command: string, ...args: readonly string[]): Promise<string> {
    return this.nsenter([command, ...args])
  }

  /** Runs kubectl as an administrator. @returns its output */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.exec(this.place.binaries.kubernetes, 'kubectl', ...args)
  }

  /** Runs helm as an administrator. @returns its output */
  helm(...args: readonly string[]): Promise<string> {
    return this.exec(this.helmPath, ...args)
  }

  /** Runs kubectl with standard input. @returns its output */
  kubectlWith(input: string, ...args: readonly string[]): Promise<string> {
    return this.nsenter([this.place.binaries.kubernetes, 'kubectl', ...args], input)
  }

  /** Creates or changes the objects of a manifest. */
  async apply(manifest: string): Promise<void> {
    await this.kubectlWith(manifest, 'apply', '-f', '-')
  }

  /** Loads an image archive into containerd. */
  async importImage(archive: Uint8Array): Promise<void> {
    const ctr = ['ctr', '--namespace', 'k8s.io', 'images', 'import', '-']
    await this.nsenter(['--mount', ...ctr], archive)
  }

  /** Gives an image of containerd another name. */
  async tagImage(name: string, other: string): Promise<void> {
    const ctr = ['ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force', name, other]
    await this.nsenter(['--mount', ...ctr])
  }

  /** Returns the start of a command line that runs a command of this machine in a pod's network. */
  async inPod(pod: string): Promise<string[]> {
    const pid = await this.processOf(pod)
    return ['env', `CGROUP=${basename(this.folder)}`, SCRIPT, 'network', String(pid)]
  }

  /**
   * Returns the process of a pod's first container, as this machine counts. @param pod with
   * `-n`
   */
  async processOf(...pod: readonly string[]): Promise<number> {
    const id = await this.kubectl(
      ...['get', 'pod', '-o', 'jsonpath={.status.containerStatuses[0].containerID}', ...pod],
    )
    const pattern = `/proc/[0-9]*/cgroup`
    const own = globSync(pattern).find((path) =>
      readIfThere(path).includes(id.replace('containerd://', '')),
    )
    if (own === undefined) throw new Error(`no process of ${pod.join(' ')}`)
    return Number(own.split('/')[2])
  }

  /** @param args options of nsenter, then a command */
  private async nsenter(args: readonly string[], input: string | Uint8Array = ''): Promise<string> {
    const running = run('nsenter', ['--target', String(this.pid), '--net', ...args], {
      env: this.environment(),
      maxBuffer: OUTPUT_MAX,
    })
    // A command that reads nothing may end first; its exit status says whether that matters.
    running.child.stdin?.on('error', () => undefined).end(input)
    return (await running).stdout
  }

  private waitForOutput(args: readonly string[], wanted: string): Promise<void> {
    return waitFor(args.join(' '), async () => {
      try {
        return (await this.kubectl(...args)).includes(wanted)
      } catch {
        return false
      }
    })
  }

  /** Ends every process of the node, and removes its files and cgroups. */
  async stop(): Promise<void> {
    if (
      this.first !== undefined &&
      this.first.exitCode === null &&
      this.first.signalCode === null
    ) {
      const ended = once(this.first, 'exit')
      this.first.kill('SIGKILL')
      await ended
    }
    await waitFor('the end of the cgroups', () => removeCgroups(basename(this.folder)))
    // Also of a node that a test has ended already.
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits until a condition holds. @throws {Error} after two minutes */
export async function waitFor(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + READY_MS
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`gave up waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** Removes the cgroups of nodes whose processes have ended, if a run could not. */
function removeOldCgroups(): void {
  for (const folder of globSync('/sys/fs/cgroup/memory/kubedoh-node-*')) {
    // Process 1 of a running node is in its top folder.
    if (readIfThere(join(folder, 'cgroup.procs')) === '') removeCgroups(basename(folder))
  }
}

/** Removes a node's cgroups. @returns whether none is left */
function removeCgroups(name: string): boolean {
  const folders = globSync(`/sys/fs/cgroup/*/${name}`)
  if (folders.length === 0) return true
  spawnSync('find', [...folders, '-depth', '-type', 'd', '-delete'])
  return globSync(`/sys/fs/cgroup/*/${name}`).length === 0
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
