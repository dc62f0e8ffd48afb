/**
 * Writes the conditions of DNSRecords and HostRoutes: Accepted, and Programmed once the gateway has
 * the names; for routers, Routed.
 * @module
 */
import { HOST_SOURCES } from '../objects/host-sources.ts'
import type {
  HostKind,
  HostObject,
  HostRefusal,
  RecordCondition,
  RecordFacts,
} from '../objects/objects.ts'
import { inTurns } from '../rules/fair-shares.ts'
import type { RecordVerdict } from '../trees/record-verdicts.ts'
import {
  ApiError,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_FORBIDDEN,
  STATUS_INVALID,
  STATUS_NOT_FOUND,
} from './object-api.ts'

/** A condition that a writer sets. */
export type StatusCondition = {
  readonly type: string
  /** Returns its reason; it is True without a refusal. */
  readonly reasonOf: (refusal: HostRefusal | undefined) => string
}

const NAME_CONDITIONS: readonly StatusCondition[] = [
  { type: 'Accepted', reasonOf: (refusal) => refusal?.reason ?? 'Accepted' },
  { type: 'Programmed', reasonOf: (refusal) => (refusal ? 'NotAccepted' : 'Programmed') },
]

/** Options of a writer. */
type StatusWriterOptions = {
  readonly api: ObjectApi
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The types of the conditions, each with its reasons; default: Accepted and Programmed. */
  readonly conditions?: readonly StatusCondition[]
  /** Called once for a kind of failure, and again after a write succeeded in between. */
  readonly onError: (message: string) => void
  /** Ends the writing. */
  readonly signal: AbortSignal
}

const GROUP = 'kubedoh.dev'

/**
 * Writes one status after the other, the namespaces by turns; those that are up to date cost no
 * request.
 */
export class RecordStatusWriter {
  private readonly options: StatusWriterOptions
  /** The newest verdicts, until they are written. */
  private next: readonly RecordVerdict[] | undefined
  private running: Promise<void> = Promise.resolve()
  private isRunning = false
  /** The namespace that had the last turn. */
  private lastNamespace = ''
  /** What was written to an object; the watch brings another object with it. */
  private readonly written = new WeakMap<HostObject, string>()
  private readonly reported = new Map<HostKind, number | undefined>()

  constructor(options: StatusWriterOptions) {
    this.options = options
  }

  /** Writes what differs from these verdicts, which replace those before. */
  take(verdicts: readonly RecordVerdict[]): void {
    this.next = verdicts
    if (this.isRunning) return
    this.isRunning = true
    this.running = this.run().finally(() => {
      this.isRunning = false
    })
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.running
  }

  private async run(): Promise<void> {
    while (this.next !== undefined) {
      const verdicts = this.next
      this.next = undefined
      const wanted = verdicts.flatMap((verdict) => this.wantedOf(verdict) ?? [])
      const failed = new Set<HostKind>()
      for (const one of inTurns(wanted, ({ object }) => object.namespace, this.lastNamespace)) {
        if (this.options.signal.aborted) return
        // Newer verdicts replace the rest: a namespace that changes all the time has its turn only.
        if (this.next !== undefined) break
        const { kind, namespace } = one.object
        if (failed.has(kind)) continue
        this.lastNamespace = namespace
        // After most failures the next publication tries again.
        if (!(await this.write(one))) failed.add(kind)
      }
    }
  }

  /** Returns the conditions of an object, unless it has them. */
  private wantedOf({ object, refusal }: RecordVerdict): Wanted | undefined {
    const { record } = object
    // Without a version it is from no API server.
    if (record === undefined || record.resourceVersion === '') return undefined
    const { conditions: own = NAME_CONDITIONS, now } = this.options
    const conditions = conditionsOf(record, { own, refusal, nowMs: now() })
    const content = contentOf(conditions)
    if (content === (this.written.get(object) ?? contentOf(record.conditions))) return undefined
    return { object, resourceVersion: record.resourceVersion, conditions, content }
  }

  /** Returns whether to go on with other objects of the kind. */
  private async write({ object, resourceVersion, conditions, content }: Wanted): Promise<boolean> {
    const { kind, namespace, name } = object
    const body = {
      apiVersion: `${GROUP}/v1alpha1`,
      kind,
      metadata: { namespace, name, resourceVersion },
      status: { conditions },
    }
    const { resource } = HOST_SOURCES[kind]
    const path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/${resource}/${name}/status`
    const request = { method: 'PUT', path, resource: `${resource}/status`, body } as const
    try {
      await this.options.api.send(request, this.options.signal)
      this.written.set(object, content)
      this.reported.delete(kind)
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // What the schema refuses, it refuses again.
      if (error.status === STATUS_INVALID) this.written.set(object, content)
      return this.fail(error, kind)
    }
  }

  private fail({ status, message }: ApiError, kind: HostKind): boolean {
    // It was deleted, or has changed: the watch brings what there is now.
    if (status === STATUS_NOT_FOUND || status === STATUS_CONFLICT) return true
    const isKnown = this.reported.has(kind) && this.reported.get(kind) === status
    if (!isKnown && !this.options.signal.aborted) {
      const hint = status === STATUS_FORBIDDEN ? `; add to the ClusterRole: ${ruleFor(kind)}` : ''
      const effect = 'their names and routes are in service all the same'
      this.options.onError(`cannot write the status of ${kind}s: ${message}${hint}; ${effect}`)
      this.reported.set(kind, status)
    }
    return status === STATUS_INVALID
  }
}

function ruleFor(kind: HostKind): string {
  const { resource } = HOST_SOURCES[kind]
  return `{"apiGroups":["${GROUP}"],"resources":["${resource}/status"],"verbs":["update"]}`
}

/** Conditions to write. */
type Wanted = {
  readonly object: HostObject
  readonly resourceVersion: string
  readonly conditions: readonly RecordCondition[]
  /** What they say, as `contentOf` has it. */
  readonly content: string
}

type Own = {
  readonly own: readonly StatusCondition[]
  readonly refusal: HostRefusal | undefined
  readonly nowMs: number
}

/**
 * Returns the conditions of an object: those of others, as they are, and ours. One whose status
 * stays keeps its time.
 */
function conditionsOf(
  { generation, conditions: before }: RecordFacts,
  { own, refusal, nowMs }: Own,
): RecordCondition[] {
  const status = refusal === undefined ? 'True' : 'False'
  const message = refusal?.message ?? ''
  const others = before.filter((one) => own.every(({ type }) => type !== one.type))
  const ours = own.map(({ type, reasonOf }): RecordCondition => {
    const known = before.find((one) => one.type === type && one.status === status)
    const lastTransitionTime =
      known?.lastTransitionTime ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`
    const reason = reasonOf(refusal)
    return { type, status, reason, message, lastTransitionTime, observedGeneration: generation }
  })
  return [...others, ...ours]
}

/**
 * Returns what conditions say, without their times, in one order: exporter and router each append
 * their own, and would otherwise rewrite the order of the other for ever.
 */
function contentOf(conditions: readonly RecordCondition[]): string {
  const texts = conditions.map(({ type, status, reason, message, observedGeneration }) =>
    JSON.stringify([type, status, reason, message, observedGeneration]),
  )
  return texts.sort().join('\n')
}
