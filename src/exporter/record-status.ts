/**
 * Writes the conditions of DNSRecords: Accepted, and Programmed once the gateway has the names.
 * @module
 */
import type { HostObject, RecordCondition, RecordFacts } from '../kubernetes/objects/objects.ts'
import type { RecordVerdict } from '../kubernetes/trees/record-verdicts.ts'
import {
  ApiError,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_FORBIDDEN,
  STATUS_INVALID,
  STATUS_NOT_FOUND,
} from './object-api.ts'

/** Options of a writer. */
type StatusWriterOptions = {
  readonly api: ObjectApi
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called once for a kind of failure, and again after a write succeeded in between. */
  readonly onError: (message: string) => void
  /** Ends the writing. */
  readonly signal: AbortSignal
}

const GROUP = 'kubedoh.dev'
const RESOURCE = 'dnsrecords'
const RULE = `{"apiGroups":["${GROUP}"],"resources":["${RESOURCE}/status"],"verbs":["update"]}`

/** Writes one status after the other; those that are up to date already cost no request. */
export class RecordStatusWriter {
  private readonly options: StatusWriterOptions
  /** The newest verdicts, until they are written. */
  private next: readonly RecordVerdict[] | undefined
  private running: Promise<void> = Promise.resolve()
  private isRunning = false
  /** What was written to an object; the watch brings another object with it. */
  private readonly written = new WeakMap<HostObject, string>()
  private reported: number | undefined | 'none' = 'none'

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
      for (const verdict of verdicts) {
        if (this.options.signal.aborted) return
        // Newer verdicts replace the rest. After most failures the next publication tries again.
        if (this.next !== undefined || !(await this.write(verdict))) break
      }
    }
  }

  /** Returns whether to go on with other records. */
  private async write({ object, refusal }: RecordVerdict): Promise<boolean> {
    const { record, namespace, name } = object
    // Without a version it is from no API server.
    if (record === undefined || record.resourceVersion === '') return true
    const conditions = conditionsOf(record, refusal, this.options.now())
    const content = contentOf(conditions)
    if (content === (this.written.get(object) ?? contentOf(record.conditions))) return true
    const { resourceVersion } = record
    const body = {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'DNSRecord',
      metadata: { namespace, name, resourceVersion },
      status: { conditions },
    }
    const path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/${RESOURCE}/${name}/status`
    const request = { method: 'PUT', path, resource: `${RESOURCE}/status`, body } as const
    try {
      await this.options.api.send(request, this.options.signal)
      this.written.set(object, content)
      this.reported = 'none'
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // What the schema refuses, it refuses again.
      if (error.status === STATUS_INVALID) this.written.set(object, content)
      return this.fail(error)
    }
  }

  private fail({ status, message }: ApiError): boolean {
    // It was deleted, or has changed: the watch brings what there is now.
    if (status === STATUS_NOT_FOUND || status === STATUS_CONFLICT) return true
    if (this.reported !== status && !this.options.signal.aborted) {
      const hint = status === STATUS_FORBIDDEN ? `; add to the ClusterRole: ${RULE}` : ''
      const effect = 'names are published all the same'
      this.options.onError(`cannot write the status of DNSRecords: ${message}${hint}; ${effect}`)
      this.reported = status
    }
    return status === STATUS_INVALID
  }
}

/** Returns the conditions of a record; one whose status stays keeps its time. */
function conditionsOf(
  { generation, conditions: before }: RecordFacts,
  refusal: RecordVerdict['refusal'],
  nowMs: number,
): RecordCondition[] {
  const status = refusal === undefined ? 'True' : 'False'
  const condition = (type: string, reason: string, message: string): RecordCondition => {
    const known = before.find((one) => one.type === type && one.status === status)
    const lastTransitionTime =
      known?.lastTransitionTime ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`
    return { type, status, reason, message, lastTransitionTime, observedGeneration: generation }
  }
  if (refusal === undefined) {
    return [condition('Accepted', 'Accepted', ''), condition('Programmed', 'Programmed', '')]
  }
  return [
    condition('Accepted', refusal.reason, refusal.message),
    condition('Programmed', 'NotAccepted', refusal.message),
  ]
}

/** Returns what conditions say, without their times. */
function contentOf(conditions: readonly RecordCondition[]): string {
  return JSON.stringify(
    conditions.map(({ type, status, reason, message, observedGeneration }) => {
      return [type, status, reason, message, observedGeneration]
    }),
  )
}
