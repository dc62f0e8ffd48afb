import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError, type ApiRequest, type ObjectApi } from '../../src/exporter/object-api.ts'
import type { HostObject } from '../../src/kubernetes/objects/objects.ts'
import { parseObject } from '../../src/kubernetes/objects/parse-object.ts'
import { routeTable } from '../../src/kubernetes/rules/route-table.ts'
import { httpRouteTarget } from '../../src/router/http-routes.ts'
import { routeTo } from '../kubernetes/host-route-cases.ts'

const SIGNAL = new AbortController().signal
const CONTEXT = {
  recordZones: [{ namespace: '*', zones: ['a.test'] }],
  serviceOf: () => ({ clusterIPs: ['10.96.0.1'], ports: [{ port: 80, protocol: 'TCP' }] }) as never,
}
const PATH = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes'

function route(spec: object = routeTo('/cart')): HostObject {
  const metadata = { name: 'r', namespace: 'shop', uid: 'u1', generation: 1 }
  return parseObject({ kind: 'HostRoute', metadata, spec }) as HostObject
}

/** An API server with HTTPRoutes, and what was written to it. */
function apiWith(before?: unknown): { api: ObjectApi; calls: string[]; bodies: unknown[] } {
  const calls: string[] = []
  const bodies: unknown[] = []
  let present = before
  const send = ({ method, path, body }: ApiRequest): Promise<unknown> => {
    calls.push(`${method} ${path}`)
    if (method === 'GET' && present === undefined) throw new ApiError('absent', 404)
    if (method === 'DELETE') present = undefined
    if (body !== undefined) {
      bodies.push(body)
      present = body
    }
    return Promise.resolve(present)
  }
  return {
    api: { send: async (request: ApiRequest) => await send(request) } as unknown as ObjectApi,
    calls,
    bodies,
  }
}

describe('the HTTPRoute of a HostRoute', () => {
  test('strips the path, belongs to the HostRoute, and is written once', async () => {
    const { api, calls, bodies } = apiWith()
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    for (const _ of [1, 2]) {
      const { verdicts, problem } = await target.apply(routeTable([route()], CONTEXT), SIGNAL)
      assert.deepEqual([verdicts[0]?.refusal, problem], [undefined, undefined])
    }
    assert.deepEqual(calls, [`GET ${PATH}/r`, `POST ${PATH}`])
    const owner = { apiVersion: 'kubedoh.dev/v1alpha1', kind: 'HostRoute', name: 'r', uid: 'u1' }
    const rewrite = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } }
    const group = 'gateway.networking.k8s.io'
    assert.deepEqual(bodies, [
      {
        apiVersion: `${group}/v1`,
        kind: 'HTTPRoute',
        metadata: {
          namespace: 'shop',
          name: 'r',
          ownerReferences: [{ ...owner, controller: true }],
        },
        spec: {
          parentRefs: [{ group, kind: 'Gateway', namespace: 'infra', name: 'web' }],
          hostnames: ['shop.a.test'],
          rules: [
            {
              matches: [{ path: { type: 'PathPrefix', value: '/cart' } }],
              filters: [{ type: 'URLRewrite', urlRewrite: rewrite }],
              backendRefs: [{ group: '', kind: 'Service', name: 'web', port: 80, weight: 1 }],
            },
          ],
        },
      },
    ])
  })

  test('is updated if it differs, and deleted when the HostRoute is refused', async () => {
    const own = { metadata: { resourceVersion: '5', ownerReferences: [{ uid: 'u1' }] }, spec: {} }
    const { api, calls, bodies } = apiWith(own)
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    await target.apply(routeTable([route()], CONTEXT), SIGNAL)
    const [body] = bodies as { metadata: { resourceVersion: string } }[]
    assert.equal(body?.metadata.resourceVersion, '5')
    const refused = routeTable([route({ ...routeTo('/'), host: 'b.test' })], CONTEXT)
    const { verdicts } = await target.apply(refused, SIGNAL)
    assert.equal(verdicts[0]?.refusal?.reason, 'OutsideAllowedZones')
    assert.deepEqual(
      calls.map((call) => call.split(' ')[0]),
      ['GET', 'PUT', 'GET', 'DELETE'],
    )
  })

  test('of another owner stays as it is', async () => {
    for (const metadata of [{}, { ownerReferences: [{ uid: 'u2' }] }]) {
      const { api, calls } = apiWith({ metadata, spec: {} })
      const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
      const { verdicts } = await target.apply(routeTable([route()], CONTEXT), SIGNAL)
      assert.equal(verdicts[0]?.refusal?.reason, 'Conflict')
      assert.deepEqual(calls, [`GET ${PATH}/r`])
    }
  })

  test('that cannot be written is a problem, to be tried again', async () => {
    const send = (): Promise<never> => Promise.reject(new ApiError('forbidden', 403))
    const target = httpRouteTarget({ send } as unknown as ObjectApi, { namespace: 'a', name: 'b' })
    const { problem } = await target.apply(routeTable([route()], CONTEXT), SIGNAL)
    assert.equal(problem, 'cannot write HTTPRoutes: forbidden')
  })
})
