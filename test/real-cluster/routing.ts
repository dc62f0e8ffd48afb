/**
 * What suites of routers share: Services on loopback addresses, HostRoutes, and requests.
 * @module
 */
import { createServer, request, type Server } from 'node:http'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import type { ApiObject, ApiServer } from './api-server.ts'
import { service } from './objects.ts'

/** Service addresses that any process may listen on. */
export const LOOPBACK_SERVICES = '127.80.0.0/16'
const PATIENCE_MS = 30_000

/** Rights that a router needs, beside those to read Services. */
export const ROUTER_RULES: readonly unknown[] = [
  { apiGroups: ['kubedoh.dev'], resources: ['hostroutes'], verbs: ['list', 'watch'] },
  { apiGroups: ['kubedoh.dev'], resources: ['hostroutes/status'], verbs: ['update'] },
]

/** A HostRoute; each path is `PATH SERVICE PORT`. */
export function hostRoute(key: string, host: string, ...paths: readonly string[]): ApiObject {
  const [namespace = '', name = ''] = key.split('/')
  return {
    apiVersion: 'kubedoh.dev/v1alpha1',
    kind: 'HostRoute',
    metadata: { namespace, name },
    spec: {
      host,
      paths: paths.map((text) => {
        const [path, to, port] = text.split(' ')
        return { path, service: to, port: Number(port) }
      }),
    },
  }
}

/** A Service that answers with its name and what it was sent. */
export class EchoService {
  readonly object: ApiObject
  private readonly server: Server
  /** Milliseconds until it answers. */
  delayMs = 0

  private constructor(object: ApiObject, server: Server) {
    this.object = object
    this.server = server
  }

  /** Listens on the address of the Service `NAMESPACE/NAME`. */
  static async start(key: string, address: string, port: number): Promise<EchoService> {
    const object = service(key, { clusterIP: address, ports: [{ port, protocol: 'TCP' }] })
    const echo: EchoService = new EchoService(
      object,
      createServer((incoming, response) => {
        const { host, 'x-forwarded-prefix': prefix = '', upgrade = '' } = incoming.headers
        const text = `${object.metadata.name} ${incoming.url} ${host} ${String(prefix)}${upgrade}`
        setTimeout(() => response.end(text.trimEnd()), echo.delayMs)
      }),
    )
    await new Promise<void>((resolve, reject) => {
      echo.server.once('error', reject)
      echo.server.listen(port, address, resolve)
    })
    return echo
  }

  /** Stops it. */
  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}

/** Sends a request for a URL's path to a router on loopback. @returns `STATUS BODY` */
export function fetchFrom(port: number, host: string, path: string, upgrade = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host, ...(upgrade !== '' && { connection: 'Upgrade', upgrade }) }
    const sent = request({ host: '127.0.0.1', port, path, agent: false, headers })
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('no response')))
    sent.on('error', reject)
    sent.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => {
        resolve(`${response.statusCode} ${response.statusCode === 200 ? body : ''}`.trimEnd())
      })
      response.on('error', reject)
    })
    sent.end()
  })
}

/** Returns the conditions of an object, each as `TYPE STATUS REASON`. */
export async function conditionsOf(api: ApiServer, object: ApiObject): Promise<string[]> {
  const { conditions = [] } = recordOf(recordOf(await api.read(object)).status)
  return (Array.isArray(conditions) ? conditions : []).map((one) => {
    const { type, status, reason } = recordOf(one)
    return `${type} ${status} ${reason}`
  })
}

/** Waits until a function returns a text. Rejects with what it returns instead. */
export async function becomes(find: () => Promise<string>, expected: string): Promise<void> {
  const startMs = performance.now()
  for (;;) {
    const found = await find().catch((error: Error) => error.message)
    if (found === expected) return
    if (performance.now() - startMs > PATIENCE_MS) {
      throw new Error(`still "${found}", expected "${expected}"`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Creates an object as soon as the API server serves its kind. */
export async function createOnce(api: ApiServer, object: ApiObject): Promise<void> {
  await becomes(async () => {
    await api.create(object)
    return 'created'
  }, 'created')
}
