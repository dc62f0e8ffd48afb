/**
 * Mirrors some objects of the API as they are: lists them, watches from there, and lists again when
 * the watch has ended.
 * @module
 */

import type { Timing } from '../../cluster/api/backoff.ts'
import { FailureReports } from '../../cluster/api/failure-reports.ts'
import { ApiError, type Listed, type ObjectApi, STATUS_GONE } from '../../cluster/api/object-api.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'

/** Options of a mirror. */
type ObjectMirrorOptions = Pick<Timing, 'sleep' | 'random'> & {
  readonly api: ObjectApi
  readonly listed: Listed
  /** Called when an object changed. */
  readonly onChange: () => void
  readonly onError: (message: string) => void
}

/** Most objects of one list; others are left out, with an error. */
const OBJECTS_MAX = 5000

/** The mirror. */
export class ObjectMirror {
  /** The objects by name. */
  readonly objects: Map<string, Readonly<Record<string, unknown>>> = new Map()
  private readonly options: ObjectMirrorOptions
  private readonly failures: FailureReports
  private lists = 0

  constructor(options: ObjectMirrorOptions) {
    const { listed } = options
    this.options = options
    this.failures = new FailureReports({ ...options, collection: listed })
  }

  /** Whether the objects have been listed once. */
  get hasSynced(): boolean {
    return this.lists > 0
  }

  /** Follows the objects until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.watch(await this.list(signal), signal)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // The server has forgotten the version of the list: the next list is a new one.
        if (!signal.aborted && error.status !== STATUS_GONE) {
          await this.failures.pause(error, signal)
        }
      }
    }
  }

  private async list(signal: AbortSignal): Promise<string> {
    const { api, listed, onChange, onError } = this.options
    const present = new Set<string>()
    let token = ''
    let version = ''
    do {
      const page = await api.list(listed, token, signal)
      for (const item of page.items) {
        if (present.size < OBJECTS_MAX) present.add(this.set(item))
      }
      version = page.resourceVersion
      token = present.size < OBJECTS_MAX ? page.continueToken : ''
      if (present.size >= OBJECTS_MAX) onError(`${listed.path}: only ${OBJECTS_MAX} are read`)
    } while (token !== '')
    for (const name of this.objects.keys()) if (!present.has(name)) this.objects.delete(name)
    this.lists++
    this.failures.recover()
    onChange()
    return version
  }

  private async watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { api, listed, onChange } = this.options
    const over = new AbortController()
    await api.watch(listed, {
      resourceVersion,
      signal: AbortSignal.any([signal, over.signal]),
      onOpen: () => undefined,
      onEvent: ({ type, object }) => {
        if (type === 'ADDED' || type === 'MODIFIED') this.set(object)
        else if (type === 'DELETED') this.objects.delete(nameOf(object))
        // An error ends the watch, usually 410 Gone; the next one begins with a list.
        else if (type === 'ERROR') over.abort()
        if (type !== 'BOOKMARK') onChange()
      },
    })
  }

  private set(object: unknown): string {
    const name = nameOf(object)
    this.objects.set(name, recordOf(object))
    return name
  }
}

function nameOf(object: unknown): string {
  const { name } = recordOf(recordOf(object).metadata)
  return typeof name === 'string' ? name : ''
}
