/**
 * An API server on loopback whose Services all change at once: some go, some come, and those that
 * stay get other addresses.
 * @module
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { CheckedQuery } from './checking-client.ts'

/** Services at a time, and how many of them are others after a change. */
const SERVICES = 40
const CHANGED = 10
const ORIGIN = 'shop.svc.cluster.local'

type Service = { readonly name: string; readonly address: string }

/** The API server. */
export class ChangingApi {
  private readonly server: Server
  private readonly watches = new Set<ServerResponse>()
  private readonly random: () => number
  private version = 0

  private constructor(server: Server, random: () => number) {
    this.server = server
    this.random = random
  }

  /** Starts it. */
  static async start(random: () => number): Promise<ChangingApi> {
    const server = createServer((request, response) => api.answer(request, response))
    const api = new ChangingApi(server, random)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return api
  }

  /** Its port. */
  get port(): number {
    const address = this.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /**
   * Changes everything. Open watches get the events; later ones get an error, because history is
   * gone.
   */
  change(): void {
    const before = servicesOf(this.version)
    this.version++
    const after = servicesOf(this.version)
    const names = new Set(after.map(({ name }) => name))
    const gone = before.filter(({ name }) => !names.has(name))
    const events = [
      ...gone.map((one) => this.event('DELETED', one)),
      ...after.map((one) => this.event('MODIFIED', one)),
    ]
    for (const watch of this.watches) watch.write(events.join(''))
  }

  /**
   * Returns queries for the names of the last two versions, which expect those of the last `count`
   * versions (default 1).
   */
  queries(count = 1): CheckedQuery[] {
    return this.expecting(this.version - count + 1, this.version)
  }

  /** Returns the same queries, which expect the names of any version up to the next one. */
  anyQueries(): CheckedQuery[] {
    return this.expecting(0, this.version + 1)
  }

  private expecting(first: number, last: number): CheckedQuery[] {
    const versions: (readonly Service[])[] = []
    for (let version = Math.max(0, first); version <= last; version++) {
      versions.push(servicesOf(version))
    }
    const all = [...servicesOf(Math.max(0, this.version - 1)), ...servicesOf(this.version)]
    return [...new Set(all.map(({ name }) => name))].map((name) => {
      const addresses = versions.map(
        (services) => services.find((one) => one.name === name)?.address ?? 'NXDOMAIN',
      )
      return { group: 'cluster', name: `${name}.${ORIGIN}`, expected: addresses }
    })
  }

  /** Stops it. */
  async stop(): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeAllConnections()
    await closed
  }

  private get resourceVersion(): string {
    return String(1000 + this.version)
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const resource = pathname.split('/').at(-1)
    // As API servers without streaming lists do.
    if (searchParams.has('sendInitialEvents')) sendStatus(response, 422, 'Invalid')
    else if (searchParams.has('watch')) this.watch(resource, searchParams, response)
    else send(response, { items: this.items(resource), metadata: this.metadata() })
  }

  private watch(resource = '', searchParams: URLSearchParams, response: ServerResponse): void {
    const isOld = searchParams.get('resourceVersion') !== this.resourceVersion
    // API servers do so in either way.
    if (isOld && this.random() < 0.5) {
      sendStatus(response, 410, 'Expired')
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (isOld) {
      const object = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 }
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
      return
    }
    if (resource !== 'services') return
    this.watches.add(response)
    response.on('close', () => this.watches.delete(response))
  }

  private items(resource: string | undefined): object[] {
    if (resource === 'services') return servicesOf(this.version).map((one) => this.object(one))
    return resource === 'namespaces' ? [{ metadata: { name: 'shop' } }] : []
  }

  private metadata(): object {
    return { resourceVersion: this.resourceVersion }
  }

  private object({ name, address }: Service): object {
    const spec = { clusterIP: address, clusterIPs: [address], ports: [{ port: 80 }] }
    const metadata = { name, namespace: 'shop', ...this.metadata() }
    return { apiVersion: 'v1', kind: 'Service', metadata, spec }
  }

  private event(type: string, service: Service): string {
    return `${JSON.stringify({ type, object: this.object(service) })}\n`
  }
}

function servicesOf(version: number): Service[] {
  return Array.from({ length: SERVICES }, (_, i) => ({
    name: `web-${CHANGED * version + i}`,
    address: `10.96.${version & 255}.${i + 1}`,
  }))
}

function sendStatus(response: ServerResponse, code: number, reason: string): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason, code }))
}

function send(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
