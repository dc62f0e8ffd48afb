/**
 * The Lease object (coordination.k8s.io/v1) of an election, as the API server has it.
 * @module
 */
import { recordOf } from '../../dns/bytes/unknown.ts'
import { ApiError, type ApiRequest, type ObjectApi, STATUS_NOT_FOUND } from './object-api.ts'

/** Namespace and name of a Lease. */
export type LeaseName = { readonly namespace: string; readonly name: string }

/** What a Lease says. */
export type Lease = {
  /** Metadata as it was read: an update keeps it. */
  readonly metadata: unknown
  /** '' for a Lease that was deleted. */
  readonly resourceVersion: string
  /** Identity of the leader; '' for none. */
  readonly holder: string
  /** How long it is valid after each renewal; at most {@link DURATION_MS_MAX}. */
  readonly durationMs: number
  readonly acquireTime: string
  readonly transitions: number
}

/** Longest validity that a follower believes: it must not wait for hours for a wrong Lease. */
const DURATION_MS_MAX = 60_000
/** Resource of the requests, for metrics and RBAC rules. */
export const LEASES = 'leases'

/** Returns the path of all Leases of a namespace. */
export function leasesPath({ namespace }: LeaseName): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
}

/** Reads a Lease; `undefined` if it does not exist. @throws {ApiError} */
export async function readLease(
  api: ObjectApi,
  name: LeaseName,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  try {
    const path = `${leasesPath(name)}/${name.name}`
    return parseLease(await api.send({ method: 'GET', path, resource: LEASES }, signal))
  } catch (error) {
    if (error instanceof ApiError && error.status === STATUS_NOT_FOUND) return undefined
    throw error
  }
}

/** Parses a Lease of the API server. Missing fields count as empty. */
export function parseLease(object: unknown): Lease {
  const { metadata, spec } = recordOf(object)
  const { resourceVersion } = recordOf(metadata)
  const { holderIdentity, leaseDurationSeconds, acquireTime, leaseTransitions } = recordOf(spec)
  const seconds = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0
  return {
    metadata,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: Math.min(DURATION_MS_MAX, seconds * 1000),
    acquireTime: typeof acquireTime === 'string' ? acquireTime : '',
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  }
}

/** A change of a Lease. */
type Claim = {
  /** The leader to be; '' releases the Lease. */
  readonly holder: string
  readonly durationMs: number
  /** Milliseconds since 1970: for people only, no decision depends on it. */
  readonly nowMs: number
}

/**
 * Returns the request that creates or updates a Lease. It fails with 409 if another writer came
 * first.
 * @param before the Lease as it was read; creates it if `undefined` or deleted
 */
export function claimRequest(
  { namespace, name }: LeaseName,
  before: Lease | undefined,
  { holder, durationMs, nowMs }: Claim,
): ApiRequest {
  // MicroTime has exactly six digits after the point.
  const renewTime = new Date(nowMs).toISOString().replace('Z', '000Z')
  const isSame = before !== undefined && (before.holder === holder || holder === '')
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: (isSame && before.acquireTime) || renewTime,
    renewTime,
    leaseTransitions: (before?.transitions ?? 0) + (isSame || before === undefined ? 0 : 1),
  }
  const isNew = before === undefined || before.resourceVersion === ''
  const metadata = isNew ? { namespace, name } : before.metadata
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  const path = leasesPath({ namespace, name })
  return isNew
    ? { method: 'POST', path, resource: LEASES, body }
    : { method: 'PUT', path: `${path}/${name}`, resource: LEASES, body }
}
