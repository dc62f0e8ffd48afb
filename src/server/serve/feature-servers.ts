/**
 * The HTTP servers of the directives `health`, `ready` and `prometheus`.
 * @module
 */
import { Hono } from 'hono'
import { METRICS_TYPE, type Metrics } from '../../dns/telemetry/metrics.ts'
import type { Feature } from '../../resolver/contract/feature.ts'
import { startHealthProbe } from '../http/health-probe.ts'
import type { Direct, Ready } from '../http/http-request.ts'
import { HttpServer } from '../http/http-server.ts'
import { listenMessage } from '../node/output.ts'
import { parseListenAddress } from '../sockets/listen-address.ts'
import { ListenError } from '../sockets/sockets.ts'

/** What the servers publish. */
export type FeatureSource = {
  /** Metrics of the health probe. */
  readonly metrics: Metrics
  /** Returns all metrics in the Prometheus text format. */
  readonly format: () => string | Promise<string>
  /** Returns the names of plugins that are not ready, or the state during a shutdown. */
  readonly notReady: () => readonly string[] | Promise<readonly string[]>
  /** Returns what clusters lack, and why, one line each; never waits. */
  readonly problems?: () => readonly string[]
}

/** Returns a text with status 200, or another status. */
type Page = () => Shown | Promise<Shown>
type Shown = string | { readonly status: number; readonly text: string; readonly type?: string }

/** Pages by their paths. */
type Pages = ReadonlyMap<string, Page>

type Served = { readonly server: HttpServer; pages: Pages }

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
    const wanted = new Map<string, Map<string, Page>>()
    for (const feature of features) this.addPages(wanted, feature)
    for (const [address, served] of await this.openMissing(wanted)) {
      this.servers.set(address, served)
    }
    this.probe(new Set(features.flatMap((one) => (one.kind === 'health' ? [one.address] : []))))
    for (const [address, served] of this.servers) {
      const pages = wanted.get(address)
      if (pages !== undefined) {
        served.pages = pages
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

  private async openMissing(wanted: ReadonlyMap<string, Pages>): Promise<Map<string, Served>> {
    const opened = new Map<string, Served>()
    try {
      for (const [address, pages] of wanted) {
        if (!this.servers.has(address))
          opened.set(address, await open(address, pages, this.sharesPorts))
      }
      return opened
    } catch (error) {
      await closeAll(opened)
      throw error
    }
  }

  /** Adds the page of a feature. Features with the same address share a server. */
  private addPages(wanted: Map<string, Map<string, Page>>, feature: Feature): void {
    if (!('address' in feature)) return
    const pages = wanted.get(feature.address) ?? new Map<string, Page>()
    wanted.set(feature.address, pages)
    switch (feature.kind) {
      case 'health':
        pages.set('/health', () => 'OK')
        return
      case 'ready':
        pages.set('/ready', async () => {
          const waiting = await this.source.notReady()
          // The first line is CoreDNS's body, which has no others.
          const isReady = waiting.length === 0
          const lines = [isReady ? 'OK' : waiting.join(','), ...(this.source.problems?.() ?? [])]
          return { status: isReady ? 200 : 503, text: lines.join('\n') }
        })
        return
      case 'metrics':
        pages.set('/metrics', async () => {
          return { status: 200, text: await this.source.format(), type: METRICS_TYPE }
        })
        return
    }
  }
}

/** Opens a server whose pages can be replaced while it serves. */
async function open(address: string, pages: Pages, reusePort: boolean): Promise<Served> {
  const { host, port } = parseListenAddress(address)
  const direct: Direct = ({ method, path }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    const page = isRead ? served.pages.get(path.split('?', 1)[0] ?? '') : undefined
    return page && (async () => textResponse(await page()))
  }
  // The app answers 404, which needs no route.
  const served: Served = { server: new HttpServer(new Hono(), { direct }), pages }
  try {
    await served.server.listen(host, port, { reusePort })
  } catch (error) {
    throw new ListenError(listenMessage(error, `HTTP ${address}`), { cause: error })
  }
  return served
}

function textResponse(shown: Shown): Ready {
  const page = typeof shown === 'string' ? { status: 200, text: shown } : shown
  const { status, text, type = 'text/plain; charset=utf-8' } = page
  const body = Buffer.from(text)
  const headers = { 'content-type': type, 'content-length': String(body.length) }
  return { status, headers, body }
}

async function closeAll(servers: ReadonlyMap<string, Served>): Promise<void> {
  await Promise.all([...servers.values()].map(({ server }) => server.close()))
}
