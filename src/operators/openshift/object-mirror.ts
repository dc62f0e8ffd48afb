/**
 * Mirrors some objects of the API as they are.
 * @module
 */

import type { Timing } from '../../cluster/api/backoff.ts'
import { identify } from '../../cluster/api/mirrored-objects.ts'
import type { Listed, ObjectApi } from '../../cluster/api/object-api.ts'
import type { Intake } from '../../cluster/api/object-intake.ts'
import { Reflector } from '../../cluster/api/reflector.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'

/** Options of a mirror. */
type ObjectMirrorOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  readonly api: ObjectApi
  readonly listed: Listed
  /** Called when an object changed. */
  readonly onChange: () => void
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
}

/** Most objects of one collection; others are left out, with an error. */
const OBJECTS_MAX = 5000

/** The mirror. */
export class ObjectMirror {
  /** The objects by name. */
  readonly objects: Map<string, Readonly<Record<string, unknown>>> = new Map()
  private readonly reflector: Reflector

  constructor({ listed, ...options }: ObjectMirrorOptions) {
    const onFull = (): void => options.onError(`${listed.path}: only ${OBJECTS_MAX} are read`)
    this.reflector = new Reflector({
      ...options,
      collection: listed,
      intake: intakeOf(this.objects, onFull),
      onClose: () => undefined,
    })
  }

  /** Whether the objects have been listed once. */
  get hasSynced(): boolean {
    return this.reflector.hasSynced
  }

  /** Follows the objects until `signal` ends it. Never throws because of the API server. */
  run(signal: AbortSignal): Promise<void> {
    return this.reflector.run(signal)
  }
}

/** Returns an intake that keeps objects by name. Calls `onFull` once for each list. */
function intakeOf(objects: ObjectMirror['objects'], onFull: () => void): Intake {
  let listed = new Set<string>()
  let isFull = false
  return {
    startList: () => {
      listed = new Set()
      isFull = false
    },
    endList: () => {
      for (const name of objects.keys()) if (!listed.has(name)) objects.delete(name)
    },
    take: (item) => {
      const { name } = identify(item)
      listed.add(name)
      if (objects.size < OBJECTS_MAX || objects.has(name)) objects.set(name, recordOf(item))
      else if (!isFull) {
        isFull = true
        onFull()
      }
      return undefined
    },
    drop: (item) => {
      objects.delete(identify(item).name)
    },
    settled: () => undefined,
    stop: () => undefined,
  }
}
