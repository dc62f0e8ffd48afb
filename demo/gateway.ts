/**
 * Runs the Worker in miniflare: workerd with local Durable Objects.
 * @module
 */
import { join } from 'node:path'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { GatewayVariables } from '../src/gateway/config.ts'

const ROOT = join(import.meta.dirname, '..')
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** A running gateway. */
export type LocalGateway = {
  readonly url: string
  /** Stops it; resolves when its process has ended. */
  readonly stop: () => Promise<void>
}

/** Options of a gateway. */
export type LocalGatewayOptions = {
  readonly variables: GatewayVariables
  /** 0 for any free port. */
  readonly port: number
  /** Gets each line of the log. */
  readonly onLog?: (line: string) => void
  /** Folder that keeps the Durable Objects; without it they end with the gateway. */
  readonly storage?: string
}

/** Bundles a module for Workers, as it is deployed. Returns the script. */
export async function bundleWorker(
  entry: string = join(ROOT, 'worker/index.ts'),
): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'error',
  })
  const [script] = outputFiles
  if (script === undefined) throw new Error('Cannot bundle the Worker: there is no output')
  return script.contents
}

/** Starts the gateway; it answers when the promise resolves. */
export async function startGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const { variables, port, storage, onLog } = options
  const contents = new TextDecoder().decode(await bundleWorker())
  const gateway = withoutSignals(
    () =>
      new Miniflare({
        ...convertV4MiniflareOptions({
          name: 'kubedoh',
          host: '127.0.0.1',
          port,
          // Otherwise miniflare fetches a sample of request.cf from Cloudflare.
          cf: false,
          log: new Log(LogLevel.NONE),
          handleStructuredLogs: ({ message }) => onLog?.(message),
          modules: [{ type: 'ESModule', path: 'worker.js', contents }],
          compatibilityDate: '2026-10-01',
          bindings: { ...variables },
          durableObjects: {
            CLUSTER: { className: 'ClusterObject', useSQLite: true },
            TOKENS: { className: 'TokenObject', useSQLite: true },
          },
        }),
        ...(storage !== undefined && { resourcePersistencePath: storage }),
      }),
  )
  const { origin } = await gateway.ready
  return { url: origin, stop: () => gateway.dispose() }
}

/**
 * Removes the listeners that `start` adds for signals: miniflare's end the process at once, before
 * the caller has stopped what else it runs.
 */
function withoutSignals<Started>(start: () => Started): Started {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]))
  const started = start()
  for (const [signal, listeners] of before) {
    for (const listener of process.listeners(signal)) {
      if (!listeners.includes(listener)) process.off(signal, listener)
    }
  }
  return started
}
