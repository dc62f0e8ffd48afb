/**
 * Runs the gateway in workerd without miniflare: for the protocol items, which send raw bytes of
 * HTTP and must see workerd's own statuses, for tests that start many gateways (miniflare takes 130
 * ms to write its configuration), and for benches, which count the CPU time of the process. All
 * other tests run the Worker in miniflare (`build/local-gateway.ts`).
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { bundleWorker } from '../build/worker.ts'
import { isRecord } from '../src/dns/bytes/unknown.ts'

const START_MS = 20_000

/** A gateway that runs. */
export type LocalGateway = {
  readonly url: string
  /** Of the process. */
  readonly pid: number
  /** Milliseconds from the process's start until it listened. */
  readonly startMs: number
  /** Ends it, and resolves when it is gone. */
  readonly stop: () => Promise<void>
}

/** How to run it. */
export type LocalGatewayOptions = {
  readonly variables: Readonly<Record<string, string>>
  /** 0 for any that is free. */
  readonly port: number
  /** Gets a line of its log. */
  readonly onLog?: (line: string) => void
  /** Folder that keeps what is published beyond the gateway's end. */
  readonly storage?: string
  /** Module to run in place of the Worker. */
  readonly entry?: string
  /**
   * Port on this machine that gets the requests of the Worker, over plain HTTP and by their
   * hosts.
   */
  readonly outboundPort?: number
}

/** Starts the gateway; it answers when the promise resolves. */
export async function startGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-gateway-'))
  writeFileSync(join(folder, 'worker.js'), await bundleWorker(options.entry))
  mkdirSync(options.storage ?? join(folder, 'objects'), { recursive: true })
  writeFileSync(join(folder, 'config.capnp'), workerdConfig(options, folder))
  const spawnedMs = performance.now()
  const child = spawn(workerdPath(), ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => {
      rmSync(folder, { recursive: true, force: true })
      resolve()
    })
  })
  const { onLog } = options
  for (const stream of [child.stdout, child.stderr]) {
    if (stream instanceof Readable) createInterface(stream).on('line', (line) => onLog?.(line))
  }
  try {
    const port = await listeningPort(child)
    const stop = (): Promise<void> => {
      child.kill('SIGTERM')
      return gone
    }
    const startMs = performance.now() - spawnedMs
    return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, startMs, stop }
  } catch (error) {
    child.kill('SIGKILL')
    await gone
    throw error
  }
}

function workerdConfig(options: LocalGatewayOptions, folder: string): string {
  const { variables, port, storage = join(folder, 'objects'), outboundPort } = options
  const bindings = Object.entries(variables)
    .map(([name, value]) => `    (name = "${name}", text = ${JSON.stringify(value)}),`)
    .join('\n')
  const upstreams =
    outboundPort === undefined
      ? ''
      : `(name = "upstreams", external = (address = "127.0.0.1:${outboundPort}", http = ())),`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "gateway", worker = .gateway),
    (name = "objects", disk = (path = ${JSON.stringify(storage)}, writable = true)),
    ${upstreams}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "gateway")],
);
const gateway :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01",
  bindings = [
${bindings}
    (name = "CLUSTER", durableObjectNamespace = "ClusterObject"),
    (name = "TOKENS", durableObjectNamespace = "TokenObject"),
  ],
  durableObjectNamespaces = [
    (className = "ClusterObject", uniqueKey = "kubedoh", enableSql = true),
    (className = "TokenObject", uniqueKey = "kubedoh-tokens", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "objects"),
  ${upstreams === '' ? '' : 'globalOutbound = "upstreams",'}
);
`
}

/** The package has no types; its default export is the path of the binary for this machine. */
function workerdPath(): string {
  const workerd: unknown = createRequire(import.meta.url)('workerd')
  if (isRecord(workerd) && typeof workerd.default === 'string') return workerd.default
  throw new Error('Cannot run the gateway: package "workerd" has no binary for this machine')
}

/** Waits for workerd to say on its control channel that it listens. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const control = child.stdio[3]
    if (!(control instanceof Readable)) {
      reject(new Error('workerd has no control channel'))
      return
    }
    const timer = setTimeout(() => {
      reject(new Error('workerd does not listen after 20 s'))
    }, START_MS)
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`workerd ended with status ${code}`))
    })
    createInterface(control).on('line', (line) => {
      const event: unknown = JSON.parse(line)
      if (isListenEvent(event)) {
        clearTimeout(timer)
        resolve(event.port)
      }
    })
  })
}

function isListenEvent(event: unknown): event is { readonly port: number } {
  return isRecord(event) && event.event === 'listen' && typeof event.port === 'number'
}
