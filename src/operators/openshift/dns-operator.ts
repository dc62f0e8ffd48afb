/**
 * Does for OpenShift's DNS object what OpenShift's DNS operator does: writes the Corefile and CA
 * bundles into the ConfigMap that the DNS server's Pods mount, and conditions into another one.
 * @module
 */

import { Backoff, type Timing } from '../../cluster/api/backoff.ts'
import {
  ApiError,
  type Listed,
  type ObjectApi,
  STATUS_CONFLICT,
} from '../../cluster/api/object-api.ts'
import { ChangeLoop } from '../../cluster/follow/change-loop.ts'
import { recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { type Metrics, metricInfo } from '../../dns/telemetry/metrics.ts'
import {
  type Condition,
  conditionsOf,
  formatConditions,
  type OperatorState,
  parseConditions,
} from './conditions.ts'
import { type ConfigMapName, configMapsPath, hasData, writeConfigMap } from './config-map.ts'
import { type DataCheck, loadableDataOf, managementOf } from './dns-object.ts'
import { ObjectMirror } from './object-mirror.ts'

/** Options of the operator. */
type DnsOperatorOptions = Timing & {
  readonly api: ObjectApi
  /** The ConfigMap for the Corefile; conditions go into NAME-status beside it. */
  readonly configMap: ConfigMapName
  readonly check: DataCheck
  readonly metrics: Metrics
  readonly onInfo: (message: string) => void
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
}

/** The object that OpenShift calls by this name; others have no effect. */
const DNS_NAME = 'default'
const DNS: Listed = {
  resource: 'dnses',
  path: '/apis/operator.openshift.io/v1/dnses',
  fieldSelector: `metadata.name=${DNS_NAME}`,
}
const CA_NAMESPACE = 'openshift-config'
const STATUS_SUFFIX = '-status'
/** Time to gather changes: `oc apply` of an object and its ConfigMap is two of them. */
const GATHER_MS = 100

const CONDITION = metricInfo(
  'kubedoh_openshift_condition',
  'Conditions of the operator of OpenShift DNS: 1 for True, 0 for False.',
  'type',
)

/** The operator. */
export class DnsOperator {
  private readonly options: DnsOperatorOptions
  private readonly dns: ObjectMirror
  private readonly bundles: ObjectMirror
  private readonly written: ObjectMirror
  private readonly loop: ChangeLoop
  private readonly backoff: Backoff
  /** What the log says about the DNS object, and why the ConfigMap cannot be written. */
  private warned: readonly string[] = []
  private failure = ''
  private current: readonly Condition[] = []

  constructor(options: DnsOperatorOptions) {
    const { api, configMap, sleep, random, elapsed } = options
    this.options = options
    this.backoff = new Backoff(random)
    this.loop = new ChangeLoop({
      work: (signal) => this.reconcile(signal),
      gatherMs: GATHER_MS,
      intervalMs: 0,
      sleep,
      elapsed,
    })
    const mirror = (listed: Listed): ObjectMirror =>
      new ObjectMirror({ ...options, api, listed, onChange: () => this.loop.mark() })
    const resource = 'configmaps'
    this.dns = mirror(DNS)
    this.bundles = mirror({ resource, path: configMapsPath(CA_NAMESPACE) })
    this.written = mirror({ resource, path: configMapsPath(configMap.namespace) })
  }

  /** The conditions; none before the cluster has been read. */
  get conditions(): readonly Condition[] {
    return this.current
  }

  /** Whether the ConfigMap is what the DNS object wants. */
  get isReady(): boolean {
    const isTrue = (type: Condition['type']): boolean =>
      this.current.some((one) => one.type === type && one.status === 'True')
    return isTrue('Available') && !isTrue('Degraded') && !isTrue('Progressing')
  }

  /** Follows the cluster until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    const mirrors = [this.dns, this.bundles, this.written]
    await Promise.all([...mirrors, this.loop].map((one) => one.run(signal)))
  }

  private async reconcile(signal: AbortSignal): Promise<void> {
    const { dns, bundles, written } = this
    if (![dns, bundles, written].every(({ hasSynced }) => hasSynced)) return
    try {
      await this.apply(signal)
      this.backoff.reset()
      this.failure = ''
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (signal.aborted) return
      await this.retry(error, signal)
    }
  }

  /** Writes the ConfigMap if it differs, then the conditions. @throws {ApiError} */
  private async apply(signal: AbortSignal): Promise<void> {
    const { api, check, configMap, onInfo } = this.options
    const dns = this.dns.objects.get(DNS_NAME)
    const { isManaged, isVerbose } = managementOf(dns)
    const wanted = await loadableDataOf(dns, this.bundleData(), check)
    const before = this.written.objects.get(configMap.name)
    const state = { hasCorefile: hasCorefile(before), isPending: false, isManaged }
    if ('reason' in wanted) {
      this.warnOnce([wanted.message])
      await this.report({ ...state, fault: wanted }, signal)
      return
    }
    const { fault } = wanted
    this.warnOnce(fault === undefined ? wanted.notices : [fault.message, ...wanted.notices])
    const isKept = fault !== undefined && (await this.isLoadable(before))
    if (isManaged && !isKept && !hasData(before, wanted.data)) {
      this.see({ ...state, isPending: true, fault })
      await writeConfigMap(api, configMap, { before, data: wanted.data }, signal)
      onInfo(`wrote the Corefile to ConfigMap ${configMap.namespace}/${configMap.name}`)
      state.hasCorefile = true
    } else if (isVerbose) onInfo('the ConfigMap is up to date')
    await this.report({ ...state, fault }, signal)
  }

  /** Whether a server starts with the data of a ConfigMap. */
  private async isLoadable(configMap: unknown): Promise<boolean> {
    if (!hasCorefile(configMap)) return false
    const data = Object.entries(recordOf(recordOf(configMap).data)).map(([name, text]) => {
      return [name, textOf(text)] as const
    })
    return (await this.options.check(Object.fromEntries(data))).length === 0
  }

  /** Tries again later; the mirror of a ConfigMap that another writer changed marks the loop. */
  private async retry(error: ApiError, signal: AbortSignal): Promise<void> {
    const { configMap, onError, sleep } = this.options
    if (error.status !== STATUS_CONFLICT) {
      const { namespace, name } = configMap
      const message = `cannot write ConfigMap ${namespace}/${name} or its status: ${error.message}`
      if (message !== this.failure) onError(message)
      this.failure = message
      this.see({
        hasCorefile: hasCorefile(this.written.objects.get(name)),
        isPending: true,
        fault: { reason: 'WriteFailed', message },
        isManaged: managementOf(this.dns.objects.get(DNS_NAME)).isManaged,
      })
    }
    await sleep(Math.max(this.backoff.next(), error.retryAfterMs ?? 0), signal)
    this.loop.mark()
  }

  /** Writes the conditions of a state. @throws {ApiError} */
  private async report(state: OperatorState, signal: AbortSignal): Promise<void> {
    const { api, configMap } = this.options
    const { namespace, name } = configMap
    const status = { namespace, name: `${name}${STATUS_SUFFIX}` }
    const before = this.written.objects.get(status.name)
    if (this.current.length === 0) this.current = parseConditions(before?.data)
    this.see(state)
    const data = formatConditions(this.current)
    if (!hasData(before, data)) await writeConfigMap(api, status, { before, data }, signal)
  }

  private see(state: OperatorState): void {
    const { metrics, now } = this.options
    this.current = conditionsOf(state, this.current, now())
    for (const { type, status } of this.current) {
      metrics.gauge(CONDITION, [type]).value = status === 'True' ? 1 : 0
    }
  }

  private bundleData(): Map<string, Readonly<Record<string, unknown>>> {
    const entries = Array.from(this.bundles.objects, ([name, { data }]) => {
      return [name, recordOf(data)] as const
    })
    return new Map(entries)
  }

  /** Logs messages that the last state did not have. */
  private warnOnce(messages: readonly string[]): void {
    for (const message of messages) {
      if (!this.warned.includes(message)) this.options.onWarning(message)
    }
    this.warned = messages
  }
}

function hasCorefile(configMap: unknown): boolean {
  return typeof recordOf(recordOf(configMap).data).Corefile === 'string'
}
