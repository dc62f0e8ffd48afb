/**
 * A router made of a Gateway: an HTTPRoute for each HostRoute, which owns it, so that Kubernetes
 * deletes both together.
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import { recordOf } from '../bytes/unknown.ts'
import {
  ApiError,
  type ApiRequest,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_NOT_FOUND,
} from '../exporter/object-api.ts'
import { objectKey } from '../kubernetes/objects/cluster.ts'
import { describeObject, type HostObject, type Refusal } from '../kubernetes/objects/objects.ts'
import type { TableRoute } from '../kubernetes/rules/route-table.ts'
import type { Applied, RouteTarget } from './router.ts'

/** The Gateway that the routes attach to. */
export type ParentGateway = { readonly namespace: string; readonly name: string }

const API = 'gateway.networking.k8s.io/v1'
const RESOURCE = 'httproutes'
const STRIP = {
  type: 'URLRewrite',
  urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
}

/** Returns a target that writes HTTPRoutes through an API server. */
export function httpRouteTarget(api: ObjectApi, gateway: ParentGateway): RouteTarget {
  /** What was written for an object, by its key. */
  const written = new Map<string, string>()
  return {
    apply: async ({ hosts, verdicts }, signal): Promise<Applied> => {
      const routesOf = Map.groupBy(
        hosts.flatMap(({ routes }) => routes),
        ({ object }) => object,
      )
      const present = new Set(verdicts.map(({ object }) => objectKey(object)))
      for (const key of written.keys()) if (!present.has(key)) written.delete(key)
      const decided: { object: HostObject; refusal: Refusal | undefined }[] = []
      try {
        for (const { object, refusal } of verdicts) {
          const wanted = httpRouteOf(object, routesOf.get(object) ?? [], gateway)
          const content = JSON.stringify(wanted)
          const key = objectKey(object)
          const isKnown = written.get(key) === content
          const taken = isKnown ? undefined : await write(api, { object, wanted }, signal)
          if (taken === undefined) written.set(key, content)
          decided.push({ object, refusal: refusal ?? taken })
        }
        return { verdicts: decided }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return { verdicts: decided, problem: `cannot write HTTPRoutes: ${error.message}` }
      }
    },
  }
}

type Wanted = ReturnType<typeof httpRouteOf>

/** Returns the HTTPRoute of an object's routes; `undefined` without any. */
function httpRouteOf(object: HostObject, routes: readonly TableRoute[], gateway: ParentGateway) {
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
  api: ObjectApi,
  { object, wanted }: { readonly object: HostObject; readonly wanted: Wanted },
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const folder = `/apis/${API}/namespaces/${object.namespace}/${RESOURCE}`
  const path = `${folder}/${object.name}`
  const send = (request: Pick<ApiRequest, 'method' | 'path' | 'body'>): Promise<unknown> =>
    api.send({ ...request, resource: RESOURCE }, signal)
  const before = await orAbsent(send({ method: 'GET', path }))
  if (before === undefined) {
    if (wanted !== undefined) await send({ method: 'POST', path: folder, body: wanted })
    return undefined
  }
  if (!isOwn(before, object)) {
    if (wanted === undefined) return undefined
    const message = `${describeObject(object)} has no HTTPRoute: another owner has one of its name`
    return { reason: 'Conflict', message }
  }
  if (wanted === undefined) await orAbsent(send({ method: 'DELETE', path }))
  else if (!isDeepStrictEqual(recordOf(before).spec, wanted.spec)) {
    const { resourceVersion } = recordOf(recordOf(before).metadata)
    const body = { ...wanted, metadata: { ...wanted.metadata, resourceVersion } }
    await send({ method: 'PUT', path, body })
  }
  return undefined
}

function isOwn(route: unknown, { uid }: HostObject): boolean {
  const { ownerReferences = [] } = recordOf(recordOf(route).metadata)
  const owners = Array.isArray(ownerReferences) ? ownerReferences : []
  return uid !== undefined && owners.some((owner) => recordOf(owner).uid === uid)
}

/** Resolves with `undefined` if the object is absent, or has changed and is to be read again. */
async function orAbsent<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent
  } catch (error) {
    const status = error instanceof ApiError ? error.status : undefined
    if (status === STATUS_NOT_FOUND || status === STATUS_CONFLICT) return undefined
    throw error
  }
}
