/**
 * Runs the Worker in miniflare, workerd with local Durable Objects, for `npm start` and for tests.
 * @module
 */
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type Request,
  type Response,
} from 'miniflare'
import { bundleWorker } from './worker.ts'

const HOST = '127.0.0.1'
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** A running gateway. */
export type LocalGateway = {
  readonly url: string
  /** Stops it; resolves when its process has ended. */
  readonly stop: () => Promise<void>
}

/** Options of a gateway. */
export type LocalGatewayOptions = {
  readonly variables: Readonly<Record<string, string>>
  /** Any free port when left out or 0. */
  readonly port?: number
  /** Gets each line of the log. */
  readonly onLog?: (line: string) => void
  /** Folder that keeps the Durable Objects; without it they end with the gateway. */
  readonly storage?: string
  /** Module to run in place of the Worker. */
  readonly entry?: string
  /** Answers the requests that the Worker makes; without it they go to the Internet. */
  readonly outbound?: (request: Request) => Promise<Response>
}

/**
 * Starts the gateway; it answers when the promise resolves. Clients connect to workerd itself:
 * miniflare's own server in front would change headers, bodies and statuses.
 */
export async function startGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const { variables, port = 0, storage, onLog, outbound } = options
  const contents = new TextDecoder().decode(await bundleWorker(options.entry))
  const gateway = withoutSignals(
    () =>
      new Miniflare({
        ...convertV4MiniflareOptions({
          name: 'kubedoh',
          host: HOST,
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
            // Optional: other entries need not have it.
            ...(options.entry === undefined && {
              AUDIT: { className: 'AuditObject', useSQLite: true },
            }),
          },
          unsafeDirectSockets: [{ host: HOST, port }],
          ...(outbound !== undefined && { outboundService: outbound }),
        }),
        ...(storage !== undefined && { resourcePersistencePath: storage }),
      }),
  )
  const { origin } = await gateway.unsafeGetDirectURL()
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
