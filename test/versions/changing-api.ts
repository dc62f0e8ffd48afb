/**
 * An API server on loopback with Services whose addresses change.
 * @module
 */
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'vitest'
import { openWatch, sendJson, startHttpApi, watchLine } from '../cluster/follow/http-api.ts'

const NAMESPACE = { metadata: { name: 'shop' } }

/** The server. Exporters list it when they start, and watch it. */
export class ChangingApi {
  /** Its URL. */
  readonly url: string
  private readonly services: Map<string, object>
  private readonly watches: Set<ServerResponse>
  private version = 1

  private constructor(url: string, services: Map<string, object>, watches: Set<ServerResponse>) {
    this.url = url
    this.services = services
    this.watches = watches
  }

  /** Starts a server without Services, which runs until its test ends. */
  static async start(t: TestContext): Promise<ChangingApi> {
    const services = new Map<string, object>()
    const watches = new Set<ServerResponse>()
    const url = await startHttpApi(t, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
      if (searchParams.has('sendInitialEvents')) {
        sendJson(response, { message: 'sendInitialEvents is forbidden' }, 422)
      } else if (searchParams.has('watch')) {
        openWatch(response)
        if (!pathname.endsWith('/services')) return
        watches.add(response)
        response.once('close', () => watches.delete(response))
      } else if (/^\/api\/v1\/(services|namespaces)$|\/endpointslices$/.test(pathname)) {
        const items = new Map<string | undefined, readonly object[]>([
          ['services', [...services.values()]],
          ['namespaces', [NAMESPACE]],
        ]).get(pathname.split('/').at(-1))
        sendJson(response, { items: items ?? [], metadata: { resourceVersion: '1' } })
      } else {
        sendJson(response, { message: 'the server could not find the requested resource' }, 404)
      }
    })
    return new ChangingApi(url, services, watches)
  }

  /** Adds a Service of namespace `shop`, or changes its address. */
  set(name: string, clusterIP: string): void {
    this.version++
    const known = this.services.has(name)
    const object = {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { namespace: 'shop', name, resourceVersion: String(this.version) },
      spec: { clusterIP, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    }
    this.services.set(name, object)
    for (const watch of this.watches) watch.write(watchLine(known ? 'MODIFIED' : 'ADDED', object))
  }
}
