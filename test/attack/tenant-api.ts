/**
 * An API server on loopback with some Services, and objects of a tenant, which clients replace
 * (`PUT /RESOURCE/NAME`) and delete. An option says whether it streams lists, as new ones do.
 * @module
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { portOf } from '../server/clients.ts'

/** An object, of which only the collection is known here. */
export type TenantObject = Readonly<Record<string, unknown>>

/** What the server has. */
export type TenantApiOptions = {
  /** Services of the operator, which queries of others are about. */
  readonly services: number
  /** Whether lists are streamed (KEP-3157). */
  readonly streams: boolean
}

/** The address of each Service. */
const SERVICE_ADDRESS = '10.96.0.1'

/** The API server. */
export class TenantApi {
  private readonly server: Server
  private readonly options: TenantApiOptions
  private readonly watches = new Map<string, Set<ServerResponse>>()
  /** Objects of the tenant, by collection and name. */
  private readonly objects = new Map<string, Map<string, TenantObject>>()
  private version = 1000

  private constructor(server: Server, options: TenantApiOptions) {
    this.server = server
    this.options = options
  }

  /** Starts it. */
  static async start(options: TenantApiOptions): Promise<TenantApi> {
    const server = createServer((request, response) => void api.answer(request, response))
    const api = new TenantApi(server, options)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return api
  }

  /** Its port. */
  get port(): number {
    return portOf(this.server.address())
  }

  /** Stops it. */
  async stop(): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeAllConnections()
    await closed
  }

  private put(resource: string, name: string, object: TenantObject): void {
    this.version++
    const metadata = {
      ...recordOf(object.metadata),
      ...{ name, namespace: 'tenant', uid: name, resourceVersion: String(this.version) },
      creationTimestamp: '2026-01-01T00:00:00Z',
    }
    const known = this.objects.get(resource) ?? new Map<string, TenantObject>()
    const type = known.has(name) ? 'MODIFIED' : 'ADDED'
    const whole = { ...object, metadata }
    this.objects.set(resource, known.set(name, whole))
    this.send(resource, type, whole)
  }

  private delete(resource: string, name: string): void {
    this.version++
    const object = this.objects.get(resource)?.get(name)
    if (object === undefined) return
    this.objects.get(resource)?.delete(name)
    const resourceVersion = String(this.version)
    const metadata = { ...recordOf(object.metadata), resourceVersion }
    this.send(resource, 'DELETED', { ...object, metadata })
  }

  private send(resource: string, type: string, object: TenantObject): void {
    const line = `${JSON.stringify({ type, object })}\n`
    for (const watch of this.watches.get(resource) ?? []) watch.write(line)
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const [resource = '', name = ''] = pathname.split('/').slice(-2)
    if (request.method === 'PUT') {
      this.put(resource, name, recordOf(await json(request)))
      response.end()
    } else if (request.method === 'DELETE') {
      this.delete(resource, name)
      response.end()
    } else this.read(name, searchParams, response)
  }

  private read(resource: string, parameters: URLSearchParams, response: ServerResponse): void {
    response.setHeader('content-type', 'application/json')
    const isList = parameters.has('sendInitialEvents')
    if (isList && !this.options.streams) {
      response.statusCode = 422
      response.end(JSON.stringify({ kind: 'Status', message: 'Invalid', code: 422 }))
    } else if (parameters.has('watch')) this.watch(resource, isList, response)
    else {
      const limit = Number(parameters.get('limit') ?? 500)
      const from = Number(parameters.get('continue') ?? 0)
      const items = this.items(resource)
      const token = from + limit < items.length ? String(from + limit) : ''
      const metadata = { resourceVersion: String(this.version), continue: token }
      response.end(JSON.stringify({ items: items.slice(from, from + limit), metadata }))
    }
  }

  private watch(resource: string, isList: boolean, response: ServerResponse): void {
    response.flushHeaders()
    const own = this.watches.get(resource) ?? new Set<ServerResponse>()
    this.watches.set(resource, own.add(response))
    response.on('close', () => own.delete(response))
    if (!isList) return
    for (const object of this.items(resource)) {
      response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const metadata = { resourceVersion: String(this.version), annotations }
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`)
  }

  private items(resource: string): TenantObject[] {
    const own = [...(this.objects.get(resource)?.values() ?? [])]
    if (resource === 'services') return [...this.services(), ...own]
    if (resource !== 'namespaces') return own
    return ['shop', 'tenant'].map((name) => ({ metadata: { name, resourceVersion: '1' } }))
  }

  private services(): TenantObject[] {
    return Array.from({ length: this.options.services }, (_, i) => ({
      metadata: { name: `web-${i}`, namespace: 'shop', resourceVersion: '1' },
      spec: { clusterIP: SERVICE_ADDRESS, clusterIPs: [SERVICE_ADDRESS], ports: [{ port: 80 }] },
    }))
  }
}
