/**
 * An API server with objects in memory: lists, watches, creates and updates as the real one does.
 * @module
 */

import {
  ApiError,
  type Listed,
  type ObjectApi,
  type WatchOptions,
} from '../../../src/cluster/api/object-api.ts'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'

type FakeObject = Readonly<Record<string, unknown>>

const GONE = { kind: 'Status', code: 410 }

/** The server. */
export class FakeObjects implements ObjectApi {
  readonly host: string = 'api.test:6443'
  /** Refuses writes with this error. */
  refusal: ApiError | undefined
  /** Successful writes: method and path. */
  readonly writes: string[] = []
  private readonly objects = new Map<string, FakeObject>()
  private readonly watches = new Set<{ listed: Listed; options: WatchOptions; end: () => void }>()
  private version = 0

  /** Creates or replaces an object, as another client. */
  set(path: string, object: FakeObject): void {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const metadata = {
      ...recordOf(object.metadata),
      name,
      resourceVersion: String(++this.version),
    }
    const type = this.objects.has(path) ? 'MODIFIED' : 'ADDED'
    const stored = { ...object, metadata }
    this.objects.set(path, stored)
    this.tell(path, type, stored)
  }

  delete(path: string): void {
    const object = this.objects.get(path)
    this.objects.delete(path)
    this.tell(path, 'DELETED', object)
  }

  /** Deletes an object that no watch reports: the server has forgotten their versions. */
  deleteUnseen(path: string): void {
    this.objects.delete(path)
    for (const { options } of this.watches) options.onEvent({ type: 'ERROR', object: GONE })
  }

  data(path: string): Readonly<Record<string, unknown>> {
    return recordOf(this.objects.get(path)?.data)
  }

  readonly list: ObjectApi['list'] = async ({ path }) => {
    const found = [...this.objects].filter(([one]) => one.startsWith(`${path}/`))
    return {
      items: found.map(([, object]) => object),
      resourceVersion: String(this.version),
      continueToken: '',
    }
  }

  readonly watch: ObjectApi['watch'] = (listed, options) => {
    if (options.sendInitialEvents) throw new ApiError('it does not stream lists', 422)
    return new Promise((resolve) => {
      const watch = { listed, options, end: resolve }
      this.watches.add(watch)
      options.signal.addEventListener('abort', () => resolve())
      if (options.signal.aborted) resolve()
    })
  }

  readonly send: ObjectApi['send'] = async ({ method, path, body }) => {
    if (this.refusal !== undefined) throw this.refusal
    const { name, resourceVersion } = recordOf(recordOf(body).metadata)
    const at = method === 'POST' ? `${path}/${String(name)}` : path
    const known = recordOf(this.objects.get(at)?.metadata).resourceVersion
    if (known !== resourceVersion) throw new ApiError('the object has been modified', 409)
    this.writes.push(`${method} ${at}`)
    this.set(at, recordOf(body))
    return {}
  }

  private tell(path: string, type: string, object: unknown): void {
    for (const { listed, options } of this.watches) {
      if (path.startsWith(`${listed.path}/`)) options.onEvent({ type, object })
    }
  }
}
