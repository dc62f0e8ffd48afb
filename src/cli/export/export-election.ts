/**
 * The election of one of several exporters.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { sleep } from '../../cluster/api/backoff.ts'
import { LeaderElection } from '../../cluster/api/leader-election.ts'
import type { LeaseName } from '../../cluster/api/lease.ts'
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'

/** Names of Kubernetes objects (RFC 1123). */
const LEASE = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/

/**
 * Returns the Lease of KUBEDOH_LEASE; `undefined` without it.
 * @throws {CommandError} if it is invalid, or with flags that exclude it
 */
export function leaseOf(input: Input): LeaseName | undefined {
  const text = input.env('KUBEDOH_LEASE')
  if (text === '') return undefined
  const [, namespace, name] = LEASE.exec(text) ?? []
  if (namespace === undefined || name === undefined) {
    throw new CommandError(
      `KUBEDOH_LEASE "${text}": use NAMESPACE/NAME, such as kube-system/kubedoh`,
    )
  }
  if (input.isSet('once')) throw new CommandError('--once publishes at once; unset KUBEDOH_LEASE')
  if (input.texts('objects').length > 0) {
    throw new CommandError('KUBEDOH_LEASE needs an API server; remove --objects or unset it')
  }
  return { namespace, name }
}

/** Of exporters, the elected one publishes. */
export const ELECTS_PUBLISHER = {
  elected: 'elected: publishes from now on',
  follows: 'follows the elected exporter',
} as const
/** Of gateways that each follow the cluster, the elected one reports on its objects. */
export const ELECTS_REPORTER = {
  elected: 'elected: writes the statuses of objects from now on',
  follows: 'another gateway writes the statuses of objects',
} as const

/** What an election needs. */
type ElectionParts = {
  readonly api: ObjectApi
  readonly log: Log
  readonly metrics: Metrics
  /** What the log says when this process is elected, and when another one is. */
  readonly messages: { readonly elected: string; readonly follows: string }
  /** Called when this process becomes the leader. */
  readonly onElected: () => void
}

/** Creates the election of a Lease, as the host's name with a random part. */
export function createElection(
  lease: LeaseName,
  { api, log, metrics, messages, onElected }: ElectionParts,
): LeaderElection {
  const identity = `${hostname()}_${randomUUID()}`
  return new LeaderElection({
    api,
    lease,
    identity,
    metrics,
    onElected: () => {
      log({ level: 'info', message: messages.elected, identity })
      onElected()
    },
    onFollow: (leader) => log({ level: 'info', message: messages.follows, leader }),
    onError: (message) => log({ level: 'error', message }),
    sleep,
    random: Math.random,
    now: Date.now,
    elapsed,
  })
}
