/**
 * The HTTP servers of the directives `health`, `ready` and `prometheus`.
 * @module
 */
import { Hono } from 'hono'
import type { Feature } from '../chain/feature.ts'
import { listenMessage } from '../node/output.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { startHealthProbe } from './health-probe.ts'
import { HttpServer } from './http-server.ts'
import { ListenError } from './sockets.ts'

/** What the servers publish. */
export type FeatureSource = {
  /** Metrics of the health probe. */
  readonly metrics: Metrics
  /** Returns all metrics in the Prometheus text format. */
  readonly format: () => string | Promise<string>
  /** Returns the names of plugins that are not ready, or the state during a shutdown. */
  readonly notReady: () => readonly string[] | Promise<readonly string[]>
}

type Served = { readonly server: HttpServer; app: Hono }

/** HTTP servers by address. */
export class FeatureServers {
  private readonly servers = new Map<string, Served>()
  /** Functions that stop the health probes, by the address of `health`. */
  private readonly probes = new Map<string, () => void>()
  private readonly source: FeatureSource
  private readonly sharesPorts: boolean

  /** @param sharesPorts whether another process may listen on the same ports, to take over */
  constructor(source: FeatureSource, sharesPorts = false) {
    this.source = source
    this.sharesPorts = sharesPorts
  }

  /**
   * Opens a server for each new address, and closes those that no feature needs any more.
   * @throws {ListenError} when it cannot listen on an address; nothing has changed then
   */
  async apply(features: readonly Feature[]): Promise<void> {
    const wanted = new Map<string, Hono>()
    for (const feature of features) this.addRoutes(wanted, feature)
    for (const [address, served] of await this.openMissing(wanted)) {
      this.servers.set(address, served)
    }
    this.probe(new Set(features.flatMap((one) => (one.kind === 'health' ? [one.address] : []))))
    for (const [address, served] of this.servers) {
      const app = wanted.get(address)
      if (app !== undefined) {
        served.app = app
        continue
      }
      this.servers.delete(address)
      await served.server.close()
    }
  }

  async close(): Promise<void> {
    this.probe(new Set())
    await closeAll(this.servers)
    this.servers.clear()
  }

  /** Starts a health probe for each of these addresses, and stops all others. */
  private probe(addresses: ReadonlySet<string>): void {
    for (const address of addresses) {
      if (this.probes.has(address)) continue
      const { host = 'localhost', port } = parseListenAddress(address)
      this.probes.set(address, startHealthProbe({ host, port }, this.source.metrics))
    }
    for (const [address, stop] of this.probes) {
      if (addresses.has(address)) continue
      stop()
      this.probes.delete(address)
    }
  }

  private async openMissing(wanted: ReadonlyMap<string, Hono>): Promise<Map<string, Served>> {
    const opened = new Map<string, Served>()
    try {
      for (const [address, app] of wanted) {
        if (!this.servers.has(address))
          opened.set(address, await open(address, app, this.sharesPorts))
      }
      return opened
    } catch (error) {
      await closeAll(opened)
      throw error
    }
  }

  /** Adds the route of a feature. Features with the same address share a server. */
  private addRoutes(wanted: Map<string, Hono>, feature: Feature): void {
    if (!('address' in feature)) return
    const app = wanted.get(feature.address) ?? new Hono()
    wanted.set(feature.address, app)
    switch (feature.kind) {
      case 'health':
        app.get('/health', (c) => c.text('OK'))
        return
      case 'ready':
        app.get('/ready', async (c) => {
          const waiting = await this.source.notReady()
          return waiting.length === 0 ? c.text('OK') : c.text(waiting.join(','), 503)
        })
        return
      case 'metrics':
        app.get('/metrics', async (c) => c.text(await this.source.format()))
        return
    }
  }
}

/** Opens a server whose app can be replaced while it serves. */
async function open(address: string, app: Hono, reusePort: boolean): Promise<Served> {
  const { host, port } = parseListenAddress(address)
  const current = new Hono()
  const served: Served = { server: new HttpServer(current), app }
  current.all('*', (c) => served.app.fetch(c.req.raw))
  try {
    await served.server.listen(host, port, { reusePort })
  } catch (error) {
    throw new ListenError(listenMessage(error, `HTTP ${address}`), { cause: error })
  }
  return served
}

async function closeAll(servers: ReadonlyMap<string, Served>): Promise<void> {
  await Promise.all([...servers.values()].map(({ server }) => server.close()))
}

/** Splits `HOST:PORT` or `:PORT`; no host means all addresses. @throws {ListenError} */
export function parseListenAddress(text: string): {
  readonly host: string | undefined
  readonly port: number
} {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65535) {
    throw new ListenError(`"${text}" is not HOST:PORT`)
  }
  const host = bracketed ?? plain ?? ''
  return { host: host === '' ? undefined : host, port: Number(port) }
}
