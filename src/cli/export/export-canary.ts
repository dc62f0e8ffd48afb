/**
 * The canary of `kubedoh export`.
 * @module
 */

import { sleep } from '../../cluster/api/backoff.ts'
import type { ClusterObject } from '../../cluster/objects/objects.ts'
import { formatName, nameOf } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { Canary } from '../../exporter/canary.ts'
import { askDoh } from '../../gateway/doh/doh-client.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl, trimToken } from '../flags/operator-call.ts'

/** Names of a Namespace and of a Service: labels (RFC 1123). */
const SERVICE = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/
const TIMEOUT_MS = 5000

/** What a canary needs. */
type CanaryParts = {
  /** First origin of the cluster's names, in wire format. */
  readonly origin: Uint8Array
  readonly log: Log
  readonly metrics: Metrics
  readonly isLeader: () => boolean
  /** Takes the changed Service, to be published. */
  readonly change: (service: ClusterObject) => void
}

/**
 * Creates the canary of KUBEDOH_CANARY; `undefined` without it.
 * @throws {CommandError} if it is invalid or a token is missing
 */
export function createCanary(input: Input, parts: CanaryParts): Canary | undefined {
  const text = input.env('KUBEDOH_CANARY')
  if (text === '') return undefined
  const [, namespace, name] = SERVICE.exec(text) ?? []
  if (namespace === undefined || name === undefined) {
    throw new CommandError(`KUBEDOH_CANARY "${text}": use NAMESPACE/NAME, such as default/canary`)
  }
  const token = trimToken(input.text('token'), 'KUBEDOH_CLIENT_TOKEN')
  if (token === '')
    throw new CommandError('KUBEDOH_CANARY needs a client token: set KUBEDOH_CLIENT_TOKEN')
  const { origin, log, ...rest } = parts
  const message = writeQuery({
    name: nameOf(`${name}.${namespace}.svc.${formatName(origin)}`),
    type: TYPE.A,
  })
  const url = `${readGatewayUrl(input).replace(/\/+$/, '')}/dns-query`
  return new Canary({
    ...rest,
    service: { namespace, name },
    ask: (signal) =>
      askDoh(url, message, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        fetch: (to, init) => fetch(to, init),
        token,
      }),
    onError: (problem) => log({ level: 'warning', message: problem }),
    sleep,
    random: Math.random,
    elapsed,
  })
}
