/**
 * An API server with one Lease: creates, updates by resource version, and watches, as
 * coordination.k8s.io/v1 does.
 * @module
 */

import type { LeaseName } from '../../../src/cluster/api/lease.ts'
import {
  ApiError,
  type ApiRequest,
  type ObjectApi,
  type WatchOptions,
} from '../../../src/cluster/api/object-api.ts'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'

/** The Lease of the tests. */
export const LEASE: LeaseName = { namespace: 'kube-system', name: 'kubedoh' }

/** The server. Each candidate has an API of its own, which can be cut off. */
export class LeaseServer {
  /** Holders, in order, as written; '' for a release. */
  readonly holders: string[] = []
  private lease: Readonly<Record<string, unknown>> | undefined
  private version = 0
  private readonly watches = new Set<WatchOptions>()

  /** The Lease, field by field of its spec. */
  get spec(): Readonly<Record<string, unknown>> {
    return recordOf(this.lease?.spec)
  }

  /** Returns the API as one candidate has it, until `isCut` holds. */
  api(isCut: () => boolean = () => false): ObjectApi {
    return {
      host: 'api.test:6443',
      list: () => Promise.reject(new ApiError('no lists')),
      watch: (_listed, options) => this.watch(options, isCut),
      send: async (request) => {
        if (isCut()) throw new ApiError('connect ECONNREFUSED')
        return this.handle(request)
      },
    }
  }

  /** Deletes the Lease, as an operator may. */
  remove(): void {
    const object = this.lease
    this.lease = undefined
    for (const { onEvent } of this.watches) onEvent({ type: 'DELETED', object })
  }

  private handle({ method, body }: ApiRequest): unknown {
    if (method === 'GET') {
      if (this.lease === undefined) throw new ApiError('not found', 404)
      return this.lease
    }
    const { metadata, spec } = recordOf(body)
    const { resourceVersion } = recordOf(metadata)
    const expected = this.lease === undefined ? undefined : String(this.version)
    if (resourceVersion !== expected) throw new ApiError('the object has been modified', 409)
    this.version++
    this.lease = { metadata: { ...LEASE, resourceVersion: String(this.version) }, spec }
    const { holderIdentity } = recordOf(spec)
    if (holderIdentity !== this.holders.at(-1)) this.holders.push(String(holderIdentity))
    const type = expected === undefined ? 'ADDED' : 'MODIFIED'
    for (const { onEvent } of this.watches) onEvent({ type, object: this.lease })
    return this.lease
  }

  private async watch(options: WatchOptions, isCut: () => boolean): Promise<void> {
    if (isCut()) throw new ApiError('connect ECONNREFUSED')
    const { signal, onOpen, onEvent } = options
    const relay: WatchOptions = { ...options, onEvent: (event) => isCut() || onEvent(event) }
    this.watches.add(relay)
    onOpen()
    if (options.resourceVersion !== String(this.version)) {
      onEvent({ type: 'MODIFIED', object: this.lease })
    }
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve())
      if (signal.aborted) resolve()
    })
    this.watches.delete(relay)
  }
}
