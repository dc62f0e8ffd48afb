/**
 * The conditions of OpenShift's operators (config.openshift.io/v1, ClusterOperator), and their form
 * in a ConfigMap.
 * @module
 */
import { parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import type { Fault } from './dns-object.ts'

/** A condition. */
export type Condition = {
  readonly type: ConditionType
  readonly status: 'True' | 'False'
  /** One word in CamelCase. */
  readonly reason: string
  readonly message: string
  /** When the status last changed (RFC 3339). */
  readonly lastTransitionTime: string
}

/** What conditions say about. */
export type ConditionType = 'Available' | 'Progressing' | 'Degraded' | 'Upgradeable'

/** What the operator knows of itself. */
export type OperatorState = {
  /** Whether the ConfigMap has a Corefile. */
  readonly hasCorefile: boolean
  /** Whether the ConfigMap is not yet what the DNS object wants. */
  readonly isPending: boolean
  /** Why the DNS object has no Corefile, or why the ConfigMap cannot be written. */
  readonly fault: Fault | { readonly reason: 'WriteFailed'; readonly message: string } | undefined
  readonly isManaged: boolean
}

const FINE = { reason: 'AsExpected', message: '' }

/**
 * Returns the conditions of a state, in the order of `ConditionType`.
 * @param before the conditions until now: those whose status stays keep their time
 * @param nowMs milliseconds since 1970
 */
export function conditionsOf(
  { hasCorefile, isPending, fault, isManaged }: OperatorState,
  before: readonly Condition[],
  nowMs: number,
): Condition[] {
  const condition = (
    type: ConditionType,
    isTrue: boolean,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): Condition => {
    const status = isTrue ? 'True' : 'False'
    const known = before.find((one) => one.type === type && one.status === status)
    const lastTransitionTime =
      known?.lastTransitionTime ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`
    return { type, status, reason, message, lastTransitionTime }
  }
  const none = { reason: 'NoCorefile', message: 'the ConfigMap has no Corefile' }
  const reconciling = { reason: 'Reconciling', message: 'the ConfigMap is not up to date' }
  const unmanaged = { reason: 'OperatorUnmanaged', message: 'managementState is Unmanaged' }
  return [
    condition('Available', hasCorefile, hasCorefile ? FINE : none),
    condition('Progressing', isPending, isPending ? reconciling : FINE),
    condition('Degraded', fault !== undefined, fault ?? FINE),
    condition('Upgradeable', isManaged, isManaged ? FINE : unmanaged),
  ]
}

/** Returns the conditions in the data of a ConfigMap; none if it has no valid ones. */
export function parseConditions(data: unknown): Condition[] {
  const { conditions } = recordOf(data)
  const list = typeof conditions === 'string' ? parseJson(conditions) : undefined
  return Array.isArray(list) ? list.filter(isCondition) : []
}

/** Returns conditions as the data of a ConfigMap. */
export function formatConditions(conditions: readonly Condition[]): Record<string, string> {
  return { conditions: `${JSON.stringify(conditions, null, 2)}\n` }
}

function isCondition(value: unknown): value is Condition {
  const { type, status, reason, message, lastTransitionTime } = recordOf(value)
  return [type, status, reason, message, lastTransitionTime].every((one) => typeof one === 'string')
}
