/**
 * An API server on loopback that has a cluster, without the multicluster API and without a right to
 * Leases: it lists what exists, and sends changes.
 * @module
 */
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'vitest'
import { parse } from 'yaml'
import { openWatch, sendJson, startHttpApi, watchLine } from '../cluster/follow/http-api.ts'
import { SHOP_LISTS } from '../cluster/follow/scripted-api.ts'

/** The server. */
export class ClusterApi {
  /** Its URL. */
  readonly url: string
  private readonly watches: ReadonlyMap<string, ServerResponse>

  private constructor(url: string, watches: ReadonlyMap<string, ServerResponse>) {
    this.url = url
    this.watches = watches
  }

  /**
   * Starts a server of a shop, which runs until its test ends.
   * @param whenWatched resolves when watches may open; the server answers all else at once
   */
  static async start(
    t: TestContext,
    whenWatched: Promise<void> = Promise.resolve(),
  ): Promise<ClusterApi> {
    const watches = new Map<string, ServerResponse>()
    const url = await startHttpApi(t, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
      const resource = pathname.split('/').at(-1) ?? ''
      if (searchParams.has('sendInitialEvents')) {
        sendJson(response, { message: 'sendInitialEvents is forbidden' }, 422)
        return
      }
      if (searchParams.has('watch')) {
        watches.set(resource, response)
        void whenWatched.then(() => openWatch(response))
        return
      }
      if (resource === 'leases' || pathname.includes('/leases/')) {
        sendJson(response, { message: 'leases is forbidden' }, 403)
        return
      }
      if (pathname.startsWith('/apis/multicluster')) {
        sendJson(response, { message: 'the server could not find the requested resource' }, 404)
        return
      }
      const items: unknown = parse(SHOP_LISTS[resource] ?? '') ?? []
      sendJson(response, { items, metadata: { resourceVersion: '1' } })
    })
    return new ClusterApi(url, watches)
  }

  /** A Corefile that answers for the cluster, on loopback. */
  get corefile(): string {
    const options = `{\n    endpoint ${this.url}\n  }`
    return `. {\n  bind 127.0.0.1\n  kubernetes cluster.local ${options}\n}\n`
  }

  /** Collections that somebody watches, or wants to. */
  get watched(): number {
    return this.watches.size
  }

  /** Tells of objects of a collection, given in YAML; all come at once. */
  tell(resource: string, ...events: readonly (readonly [type: string, yaml: string])[]): void {
    const watch = this.watches.get(resource)
    if (watch === undefined) throw new TypeError(`Nobody watches ${resource}`)
    watch.write(events.map(([type, yaml]) => watchLine(type, parse(yaml))).join(''))
  }
}
