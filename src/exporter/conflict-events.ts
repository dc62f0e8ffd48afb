/**
 * Events on the objects that claim one hostname, so that `kubectl describe` shows each owner who
 * answers. The role may lack the right to create them: nothing else depends on it.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Timing } from '../cluster/api/backoff.ts'
import {
  ApiError,
  type ApiRequest,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_FORBIDDEN,
  STATUS_INVALID,
  STATUS_NOT_FOUND,
} from '../cluster/api/object-api.ts'
import { HOST_SOURCES } from '../cluster/objects/host-sources.ts'
import { describeObject } from '../cluster/objects/objects.ts'
import { inTurns } from '../cluster/rules/fair-shares.ts'
import type { Naming } from '../cluster/rules/object-hosts.ts'
import type { HostConflict } from '../cluster/trees/host-conflicts.ts'

/** Options of these events. */
export type ConflictEventsOptions = Pick<Timing, 'sleep' | 'now' | 'elapsed'> & {
  readonly api: ObjectApi
  /** Returns whether this process publishes: a follower creates no Events. */
  readonly isLeader: () => boolean
  /** Called when an Event cannot be created, once until one can. */
  readonly onError: (message: string) => void
}

/** Interval of Events: a mistake in many objects must not become a flood of requests. */
const PAUSE_MS = 1000
/** Pause after an error of the server. */
const RETRY_MS = 30_000
/**
 * Pause after a refusal in a namespace, until when an operator may have granted the right. Another
 * namespace may have no such quota, or not be about to end.
 */
const FORBIDDEN_MS = 600_000
/** Longest wait for a response. */
const TIMEOUT_MS = 10_000
/** Errors that another attempt would get again. */
const FINAL_STATUSES: ReadonlySet<number | undefined> = new Set([
  400,
  STATUS_NOT_FOUND,
  STATUS_INVALID,
])

type Pending = {
  readonly conflict: string
  readonly namespace: string
  readonly request: () => ApiRequest
}

/** Creates one Event per conflict and object. */
export class ConflictEvents {
  private readonly options: ConflictEventsOptions
  private readonly known = new Set<string>()
  /** By the name of the Event. */
  private readonly pending = new Map<string, Pending>()
  /** Namespaces that refused an Event, and until when none is tried there. */
  private readonly closed = new Map<string, number>()
  /** The namespace that had the last turn. */
  private lastNamespace = ''
  private isReported = false

  constructor(options: ConflictEventsOptions) {
    this.options = options
  }

  /**
   * Takes the present conflicts, which are few. Queues Events for new ones, and forgets those that
   * ended.
   */
  update(conflicts: readonly HostConflict[]): void {
    const present = new Map(conflicts.map((one) => [keyOf(one), one]))
    for (const key of this.known) if (!present.has(key)) this.known.delete(key)
    for (const [name, { conflict }] of this.pending) {
      if (!present.has(conflict)) this.pending.delete(name)
    }
    for (const [key, conflict] of present) {
      if (this.known.has(key)) continue
      this.known.add(key)
      for (const object of conflict.objects) this.queue(key, conflict, object)
    }
  }

  /** Creates queued Events, one a second, namespaces by turns, until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { isLeader, sleep } = this.options
    while (!signal.aborted) {
      await sleep(isLeader() ? await this.sendNext(signal) : PAUSE_MS, signal)
    }
  }

  private queue(key: string, conflict: HostConflict, object: Naming): void {
    // The same name for the same conflict: after a restart the server already has the Event.
    const text = `${key} ${describeObject(object)}`
    const name = `kubedoh.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    const request = (): ApiRequest => eventRequest(name, { conflict, object }, this.options.now())
    this.pending.set(name, { conflict: key, namespace: namespaceOf(object), request })
  }

  /** @returns milliseconds until the next attempt */
  private async sendNext(signal: AbortSignal): Promise<number> {
    const next = this.next()
    if (next === undefined) return PAUSE_MS
    const [name, { namespace, request }] = next
    this.lastNamespace = namespace
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      await this.options.api.send(request(), bounded)
      this.isReported = false
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status !== STATUS_CONFLICT && !signal.aborted) this.report(error)
      if (error.status === STATUS_FORBIDDEN) {
        this.closed.set(namespace, this.options.elapsed() + FORBIDDEN_MS)
        return PAUSE_MS
      }
      if (error.status !== STATUS_CONFLICT && !FINAL_STATUSES.has(error.status)) {
        return Math.max(RETRY_MS, error.retryAfterMs ?? 0)
      }
    }
    this.pending.delete(name)
    return PAUSE_MS
  }

  /** Returns the Event whose namespace has the next turn. */
  private next(): [name: string, Pending] | undefined {
    const nowMs = this.options.elapsed()
    for (const [namespace, untilMs] of this.closed) {
      if (untilMs <= nowMs) this.closed.delete(namespace)
    }
    const open = [...this.pending].filter(([, { namespace }]) => !this.closed.has(namespace))
    return inTurns(open, ([, { namespace }]) => namespace, this.lastNamespace)[0]
  }

  private report({ status, message }: ApiError): void {
    if (this.isReported) return
    this.isReported = true
    const rule = '{"apiGroups":[""],"resources":["events"],"verbs":["create"]}'
    const advice = status === STATUS_FORBIDDEN ? `; for Events add to its ClusterRole: ${rule}` : ''
    this.options.onError(`cannot create an Event about a hostname: ${message}${advice}`)
  }
}

/** Returns the namespace of Events on an object; those on objects of none are in this one. */
function namespaceOf(object: Naming): string {
  return object.namespace || 'default'
}

function keyOf({ host, objects }: HostConflict): string {
  return [host, ...objects.map(describeObject)].join(' ')
}

/** Returns the request that creates an Event (core v1, which `kubectl describe` reads). */
function eventRequest(
  name: string,
  { conflict, object }: { readonly conflict: HostConflict; readonly object: Naming },
  nowMs: number,
): ApiRequest {
  const time = new Date(nowMs).toISOString()
  const namespace = namespaceOf(object)
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/events`,
    resource: 'events',
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: referenceTo(object),
      type: 'Warning',
      reason: 'HostnameConflict',
      message: describeFor(object, conflict),
      source: { component: 'kubedoh' },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    },
  }
}

function referenceTo(object: Naming): Readonly<Record<string, string>> {
  const { kind, namespace, name } = object
  const { group, versions } =
    kind === 'Service' ? { group: '', versions: ['v1'] } : HOST_SOURCES[kind]
  const uid = object.kind === 'Service' ? object.outside?.uid : object.uid
  return {
    apiVersion: group === '' ? 'v1' : `${group}/${versions[0]}`,
    kind,
    name,
    ...(namespace !== '' && { namespace }),
    ...(uid !== undefined && { uid }),
  }
}

function describeFor(object: Naming, { host, objects }: HostConflict): string {
  const [winner, ...others] = objects.map(describeObject)
  const own = describeObject(object)
  return own === winner
    ? `DNS answers ${host} from this object; ${others.join(', ')} also claims it`
    : `DNS answers ${host} from ${winner}, not from this object`
}
