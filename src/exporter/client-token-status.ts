/**
 * Writes the status of ClientTokens: what `kubedoh token list` says of a token.
 * @module
 */
import type { Timing } from '../cluster/api/backoff.ts'
import {
  ApiError,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_FORBIDDEN,
  STATUS_NOT_FOUND,
} from '../cluster/api/object-api.ts'
import type { RecordCondition } from '../cluster/objects/objects.ts'
import type { ClientToken, ClientTokenStatus } from '../cluster/objects/parse-client-token.ts'
import type { TokenRefusal } from '../snapshot/format/client-tokens.ts'
import type { GivenScope } from './client-token-rules.ts'

const GROUP = 'kubedoh.dev'
/** Where the API server has the objects. */
export const CLIENT_TOKENS_PATH: string = `/apis/${GROUP}/v1alpha1/clienttokens`
const RULE = `{"apiGroups":["${GROUP}"],"resources":["clienttokens/status"],"verbs":["update"]}`

/** What there is to say of an object. */
export type TokenReport = {
  readonly object: ClientToken
  /** Identifier in the gateway's list; '' without one. */
  readonly identifier: string
  readonly scope: GivenScope | undefined
  /** A day, or ''. */
  readonly lastUsed: string
  readonly refusal: TokenRefusal | undefined
}

/** What writing needs. */
type StatusOptions = Pick<Timing, 'now'> & {
  readonly api: Pick<ObjectApi, 'send'>
  /** Gets why a status cannot be written, once for each reason. */
  readonly onError: (message: string) => void
}

/** Writes one status after the other; those that are up to date cost no request. */
export class ClientTokenStatuses {
  private readonly options: StatusOptions
  /** What was written to an object; the watch brings another object with it. */
  private readonly written = new WeakMap<ClientToken, string>()
  private failure = ''

  constructor(options: StatusOptions) {
    this.options = options
  }

  /** Writes what differs. Never throws because of the API server. */
  async write(reports: readonly TokenReport[], signal: AbortSignal): Promise<void> {
    for (const report of reports) {
      if (signal.aborted) return
      const status = statusOf(report, this.options.now())
      const { object } = report
      const text = contentOf(status)
      // Without a version it is from no API server.
      const isWritten = text === (this.written.get(object) ?? contentOf(object.status))
      if (isWritten || object.resourceVersion === '') continue
      if (!(await this.put(object, status, signal))) return
      this.written.set(object, text)
    }
  }

  /** Returns whether to go on with other objects. */
  private async put(
    { namespace, name, resourceVersion }: ClientToken,
    { lastUsed, ...rest }: ClientTokenStatus,
    signal: AbortSignal,
  ): Promise<boolean> {
    const body = {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'ClientToken',
      metadata: { namespace, name, resourceVersion },
      status: { ...rest, ...(lastUsed !== '' && { lastUsed }) },
    }
    const path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/clienttokens/${name}/status`
    try {
      const request = { method: 'PUT', path, resource: 'clienttokens/status', body } as const
      await this.options.api.send(request, signal)
      this.failure = ''
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // It was deleted, or has changed: the watch brings what there is now.
      if (error.status === STATUS_NOT_FOUND || error.status === STATUS_CONFLICT) return true
      const hint = error.status === STATUS_FORBIDDEN ? `; add to the ClusterRole: ${RULE}` : ''
      this.report(`cannot write the status of ClientTokens: ${error.message}${hint}`, signal)
      return false
    }
  }

  private report(message: string, signal: AbortSignal): void {
    if (message === this.failure || signal.aborted) return
    this.failure = message
    this.options.onError(message)
  }
}

/** A condition whose status stays keeps its time, and those of others stay as they are. */
function statusOf(
  { object, identifier, scope, lastUsed, refusal }: TokenReport,
  nowMs: number,
): ClientTokenStatus {
  const { conditions } = object.status
  const type = 'Accepted'
  const status = refusal === undefined ? 'True' : 'False'
  const known = conditions.find((one) => one.type === type && one.status === status)
  const accepted: RecordCondition = {
    type,
    status,
    reason: refusal?.reason ?? 'Accepted',
    message: refusal?.message ?? '',
    lastTransitionTime:
      known?.lastTransitionTime ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
    observedGeneration: object.generation,
  }
  return {
    identifier,
    scope: scope === undefined ? '' : scopeText(scope),
    lastUsed,
    observedGeneration: object.generation,
    conditions: [...conditions.filter((one) => one.type !== type), accepted],
  }
}

function scopeText({ namespaces, origins, recurse, explain }: GivenScope): string {
  const at = origins.includes('*') ? [] : [`at ${origins.join(',')}`]
  const may = [...(recurse ? ['recurse'] : []), ...(explain ? ['explain'] : [])]
  return [namespaces.join(','), ...at, ...may].join(' ')
}

function contentOf({ conditions, ...rest }: ClientTokenStatus): string {
  const { identifier, scope, lastUsed, observedGeneration } = rest
  const accepted = conditions.find(({ type }) => type === 'Accepted')
  const { status, reason, message } = accepted ?? {}
  return JSON.stringify([
    ...[identifier, scope, lastUsed, observedGeneration],
    ...[status, reason, message, accepted?.observedGeneration],
  ])
}
