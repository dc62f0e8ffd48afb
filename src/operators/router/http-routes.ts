/**
 * A router made of a Gateway: an HTTPRoute for each HostRoute, which owns it, so that Kubernetes
 * deletes both together.
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import {
  ApiError,
  type ApiRequest,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_FORBIDDEN,
  STATUS_INVALID,
  STATUS_NOT_FOUND,
} from '../../cluster/api/object-api.ts'
import { objectKey } from '../../cluster/objects/cluster.ts'
import type { HostObject, HostRefusal } from '../../cluster/objects/objects.ts'
import { inTurns } from '../../cluster/rules/fair-shares.ts'
import type { TableRoute } from '../../cluster/rules/route-table.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'
import type { Applied, RouteTarget } from './router.ts'

/** The Gateway that the routes attach to. */
export type RouteParent = { readonly namespace: string; readonly name: string }

const API = 'gateway.networking.k8s.io/v1'
const RESOURCE = 'httproutes'
const STRIP = {
  type: 'URLRewrite',
  urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
}

/**
 * Most HTTPRoutes of unchanged HostRoutes that are compared each time, in turn: somebody may have
 * changed or deleted them, and to watch those of all others would need a further right.
 */
const COMPARED_MAX = 25

/** Returns a target that writes HTTPRoutes through an API server. */
export function httpRouteTarget(api: ObjectApi, gateway: RouteParent): RouteTarget {
  const outcomes = new Outcomes()
  let isServing = false
  return {
    apply: async ({ hosts, verdicts }, signal): Promise<Applied> => {
      const routesOf = Map.groupBy(
        hosts.flatMap(({ routes }) => routes),
        ({ object }) => object,
      )
      outcomes.forget(new Set(verdicts.map(({ object }) => objectKey(object))))
      const closed = new Map<string, ApiError>()
      const decided = new Map<HostObject, Outcome>()
      const waiting: { readonly object: HostObject; readonly wanted: Wanted }[] = []
      for (const { object } of verdicts) {
        const wanted = httpRouteOf(object, routesOf.get(object) ?? [], gateway)
        const known = outcomes.known(object, contentOf(wanted))
        if (known === undefined) waiting.push({ object, wanted })
        else decided.set(object, known)
      }
      let failure: ApiError | undefined
      const failed = new Set<string>()
      // A namespace with many changes must not hold up the few of another.
      for (const { object, wanted } of inTurns(waiting, (one) => one.object.namespace)) {
        if (failed.has(object.namespace)) continue
        const send = senderFor(object, { api, closed, signal })
        const outcome = await outcomeOf(write(send, { object, wanted }))
        if (!(outcome instanceof ApiError)) {
          outcomes.keep(object, contentOf(wanted), outcome)
          decided.set(object, outcome)
          continue
        }
        failure = outcome
        // That the object changed in between says nothing about others.
        if (outcome.status === STATUS_CONFLICT) continue
        if (outcome.status === undefined) break
        failed.add(object.namespace)
      }
      // If nothing may be written, the router's own rights are missing.
      if (outcomes.count === 0) failure ??= closed.values().next().value
      // Once written, they stay in service while the API server is away.
      isServing ||= failure === undefined
      const known = verdicts.flatMap(({ object, refusal }) => {
        const outcome = decided.get(object)
        return outcome === undefined ? [] : [{ object, refusal: refusal ?? outcome.refusal }]
      })
      if (failure === undefined) return { verdicts: known }
      const problem = `cannot write HTTPRoutes: ${failure.message}`
      return { verdicts: known, problem, isServing }
    },
  }
}

type Outcome = {
  readonly refusal: HostRefusal | undefined
  /** Whether the same content has the same outcome again. */
  readonly isFinal: boolean
}

/** The final outcomes, each with the JSON of the HTTPRoute that it is of. */
class Outcomes {
  private readonly byKey = new Map<string, Outcome & { readonly content: string | undefined }>()

  get count(): number {
    return this.byKey.size
  }

  /** Forgets the outcomes of all other objects, and those of HTTPRoutes to compare. */
  forget(present: ReadonlySet<string>): void {
    let compared = 0
    for (const [key, { refusal, content }] of this.byKey) {
      const isWritten = refusal === undefined && content !== undefined
      const isDue = isWritten && compared < COMPARED_MAX
      if (isDue) compared++
      if (isDue || !present.has(key)) this.byKey.delete(key)
    }
  }

  /** Returns the outcome of an object with this content, if it is known. */
  known(object: HostObject, content: string | undefined): Outcome | undefined {
    const known = this.byKey.get(objectKey(object))
    return known !== undefined && known.content === content ? known : undefined
  }

  /** Keeps the outcome of an object with this content, if it is final. */
  keep(object: HostObject, content: string | undefined, outcome: Outcome): void {
    if (outcome.isFinal) this.byKey.set(objectKey(object), { ...outcome, content })
  }
}

type Send = (request: Omit<ApiRequest, 'resource'>) => Promise<unknown>

/** Returns the verdict on an object; an error that the object did not cause, as it is. */
async function outcomeOf(writing: Promise<HostRefusal | undefined>): Promise<Outcome | ApiError> {
  try {
    const refusal = await writing
    return { refusal, isFinal: refusal === undefined }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, message } = error
    if (status !== STATUS_INVALID && !isClosing(error)) return error
    const refusal = { reason: 'ConfigurationRefused', message: `no HTTPRoute: ${message}` } as const
    return { refusal, isFinal: status === STATUS_INVALID }
  }
}

/** Whether requests of this method fail in the whole namespace, for instance for its quota. */
function isClosing({ status }: ApiError): boolean {
  return status === STATUS_FORBIDDEN || status === STATUS_NOT_FOUND
}

/**
 * Returns a function that sends requests, each method in the object's namespace until it fails
 * there: a tenant without a right or a quota costs one request, whatever its number of objects.
 */
function senderFor({ namespace }: HostObject, { api, closed, signal }: Sending): Send {
  return async (request) => {
    const place = `${request.method} ${namespace}`
    const known = closed.get(place)
    if (known !== undefined) throw known
    try {
      return await api.send({ ...request, resource: RESOURCE }, signal)
    } catch (error) {
      const isAbsence = request.method !== 'POST' && statusOf(error) === STATUS_NOT_FOUND
      if (error instanceof ApiError && isClosing(error) && !isAbsence) closed.set(place, error)
      throw error
    }
  }
}

type Sending = {
  readonly api: ObjectApi
  /** The first error of each method in each namespace where that fails. */
  readonly closed: Map<string, ApiError>
  readonly signal: AbortSignal
}

type Wanted = ReturnType<typeof httpRouteOf>

function contentOf(wanted: Wanted): string | undefined {
  return wanted && JSON.stringify(wanted)
}

/** Returns the HTTPRoute of an object's routes; `undefined` without any. */
function httpRouteOf(object: HostObject, routes: readonly TableRoute[], gateway: RouteParent) {
  if (routes.length === 0) return undefined
  const { namespace, name, uid } = object
  const owner = { apiVersion: 'kubedoh.dev/v1alpha1', kind: 'HostRoute', name, uid }
  return {
    apiVersion: API,
    kind: 'HTTPRoute',
    metadata: { namespace, name, ownerReferences: [{ ...owner, controller: true }] },
    spec: {
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway }],
      hostnames: object.hosts.map((host) => host.name),
      rules: routes.map(({ path, service, port }) => ({
        matches: [{ path: { type: 'PathPrefix', value: path } }],
        ...(path !== '/' && { filters: [STRIP] }),
        backendRefs: [{ group: '', kind: 'Service', name: service, port, weight: 1 }],
      })),
    },
  }
}

/**
 * Makes the HTTPRoute of an object the wanted one. Returns a refusal if another owner has its name.
 * @throws {ApiError}
 */
async function write(
  send: Send,
  { object, wanted }: { readonly object: HostObject; readonly wanted: Wanted },
): Promise<HostRefusal | undefined> {
  const folder = `/apis/${API}/namespaces/${object.namespace}/${RESOURCE}`
  const path = `${folder}/${object.name}`
  const before = await orAbsent(send({ method: 'GET', path }))
  if (before === undefined) {
    if (wanted !== undefined) await send({ method: 'POST', path: folder, body: wanted })
    return undefined
  }
  if (!isOwn(before, object)) {
    if (wanted === undefined) return undefined
    return { reason: 'Conflict', message: 'no HTTPRoute: another owner has one of its name' }
  }
  const metadata = recordOf(recordOf(before).metadata)
  const { resourceVersion } = metadata
  if (wanted === undefined) {
    await orAbsent(send({ method: 'DELETE', path, body: { preconditions: { resourceVersion } } }))
  } else if (!isDeepStrictEqual(recordOf(before).spec, wanted.spec)) {
    // Labels and finalizers of others stay.
    await send({ method: 'PUT', path, body: { ...wanted, metadata } })
  }
  return undefined
}

function isOwn(route: unknown, { uid }: HostObject): boolean {
  const { ownerReferences = [] } = recordOf(recordOf(route).metadata)
  const owners = Array.isArray(ownerReferences) ? ownerReferences : []
  return uid !== undefined && owners.some((owner) => recordOf(owner).uid === uid)
}

/** Resolves with `undefined` if the object is absent. */
async function orAbsent<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent
  } catch (error) {
    if (statusOf(error) === STATUS_NOT_FOUND) return undefined
    throw error
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined
}
