import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError, type ApiRequest, type ObjectApi } from '../../../src/cluster/api/object-api.ts'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { routeTable } from '../../../src/cluster/rules/route-table.ts'
import { httpRouteTarget } from '../../../src/operators/router/http-routes.ts'
import { routeTo } from '../../cluster/host-route-cases.ts'

const SIGNAL = new AbortController().signal
const CONTEXT = {
  recordZones: [{ namespace: '*', zones: ['a.test'] }],
  serviceOf: () => ({ clusterIPs: ['10.96.0.1'], ports: [{ port: 80, protocol: 'TCP' }] }) as never,
}
const PATH = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes'

function route(spec: object = routeTo('/cart'), some: object = {}): HostObject {
  const metadata = { name: 'r', namespace: 'shop', uid: 'u1', generation: 1, ...some }
  return parseObject({ kind: 'HostRoute', metadata, spec }) as HostObject
}

/** Returns a HostRoute with a host of its own. */
function routeOf(key: string): HostObject {
  const [namespace = '', name = ''] = key.split('/')
  return route({ ...routeTo('/'), host: `${name}-${namespace}.a.test` }, { namespace, name })
}

/**
 * Applies HostRoutes at an API server that has no HTTPRoutes, and that refuses some requests to
 * create one. Returns these requests, and the problem.
 */
async function refusing(
  keys: readonly string[],
  status: number | undefined,
  pattern: RegExp,
  times = 1,
) {
  const posted: string[] = []
  const send = async ({ method, path, body }: ApiRequest): Promise<unknown> => {
    if (method === 'GET') throw new ApiError('absent', 404)
    const { name } = (body as { metadata: { name: string } }).metadata
    posted.push(`${path.split('/').at(-2)}/${name}`)
    if (pattern.test(posted.at(-1) ?? '')) throw new ApiError('no', status)
    return {}
  }
  const target = httpRouteTarget({ send } as unknown as ObjectApi, { namespace: 'a', name: 'b' })
  const table = routeTable(keys.map(routeOf), CONTEXT)
  let applied = await target.apply(table, SIGNAL)
  for (let i = 1; i < times; i++) applied = await target.apply(table, SIGNAL)
  const verdicts = applied.verdicts.map(({ refusal }) => refusal?.reason)
  return { posted, verdicts, problem: applied.problem }
}

/** An API server with one HTTPRoute, and what was written to it. */
function apiWith(before?: unknown) {
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
    replace: (by: unknown): void => {
      present = by
    },
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
    assert.deepEqual(calls, [`GET ${PATH}/r`, `POST ${PATH}`, `GET ${PATH}/r`])
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
    const metadata = {
      resourceVersion: '5',
      ownerReferences: [{ uid: 'u1' }],
      finalizers: ['controller.test/x'],
      labels: { team: 'a' },
    }
    const own = { metadata, spec: {} }
    const { api, calls, bodies } = apiWith(own)
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    await target.apply(routeTable([route()], CONTEXT), SIGNAL)
    const [body] = bodies as { metadata: unknown }[]
    assert.deepEqual(body?.metadata, metadata)
    const refused = routeTable([route({ ...routeTo('/'), host: 'b.test' })], CONTEXT)
    const { verdicts } = await target.apply(refused, SIGNAL)
    assert.equal(verdicts[0]?.refusal?.reason, 'OutsideAllowedZones')
    assert.deepEqual(
      calls.map((call) => call.split(' ')[0]),
      ['GET', 'PUT', 'GET', 'DELETE'],
    )
    assert.deepEqual(bodies[1], { preconditions: { resourceVersion: '5' } })
  })

  test('is deleted if the HostRoute was refused while no router ran', async () => {
    const { api, calls } = apiWith({ metadata: { ownerReferences: [{ uid: 'u1' }] }, spec: {} })
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    const refused = routeTable([route({ ...routeTo('/'), host: 'b.test' })], CONTEXT)
    for (const _ of [1, 2]) await target.apply(refused, SIGNAL)
    assert.deepEqual(calls, [`GET ${PATH}/r`, `DELETE ${PATH}/r`])
  })

  test('comes back if somebody deletes or changes it', async () => {
    const { api, bodies, replace } = apiWith()
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    const table = routeTable([route()], CONTEXT)
    await target.apply(table, SIGNAL)
    const [created] = bodies as { spec: object }[]
    replace(undefined)
    await target.apply(table, SIGNAL)
    replace({ ...created, spec: { hostnames: ['b.test'] } })
    await target.apply(table, SIGNAL)
    assert.deepEqual(bodies, [created, created, created])
  })

  test('is compared in turn with those of many others', async () => {
    const { api, calls } = apiWith()
    const target = httpRouteTarget(api, { namespace: 'infra', name: 'web' })
    const table = routeTable(
      Array.from({ length: 100 }, (_, i) => routeOf(`shop/r${i}`)),
      CONTEXT,
    )
    await target.apply(table, SIGNAL)
    const read: Set<string>[] = []
    for (let i = 0; i < 4; i++) {
      const before = calls.length
      await target.apply(table, SIGNAL)
      read.push(new Set(calls.slice(before).filter((call) => call.startsWith('GET'))))
    }
    assert.deepEqual(
      read.map(({ size }) => size),
      [25, 25, 25, 25],
    )
    assert.equal(new Set(read.flatMap((names) => [...names])).size, 100)
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

  const KEYS = ['a/1', 'a/2', 'b/1']
  const refused = 'ConfigurationRefused'
  test('that is invalid is refused once, and others are written', async () => {
    assert.deepEqual(await refusing(KEYS, 422, /^a.1$/, 2), {
      // This API server still has none when the others are compared.
      posted: ['a/1', 'b/1', 'a/2', 'a/2', 'b/1'],
      verdicts: [refused, undefined, undefined],
      problem: undefined,
    })
  })

  test('stays in service while the API server is away', async () => {
    const { api } = apiWith()
    let isAway = true
    const send: ObjectApi['send'] = (request, signal) =>
      isAway ? Promise.reject(new ApiError('away', 503)) : api.send(request, signal)
    const target = httpRouteTarget({ ...api, send }, { namespace: 'infra', name: 'web' })
    const table = routeTable([route()], CONTEXT)
    const problem = 'cannot write HTTPRoutes: away'
    assert.deepEqual(await target.apply(table, SIGNAL), { verdicts: [], problem, isServing: false })
    isAway = false
    assert.equal((await target.apply(table, SIGNAL)).problem, undefined)
    isAway = true
    assert.deepEqual(await target.apply(table, SIGNAL), { verdicts: [], problem, isServing: true })
  })

  test('that is forbidden ends the attempts in its namespace only', async () => {
    assert.deepEqual(await refusing(KEYS, 403, /^a.1$/), {
      posted: ['a/1', 'b/1'],
      verdicts: [refused, refused, undefined],
      problem: undefined,
    })
  })

  test('that changed in between is a problem, to be tried again, and others are written', async () => {
    assert.deepEqual(await refusing(KEYS, 409, /^a.1$/), {
      posted: ['a/1', 'b/1', 'a/2'],
      verdicts: [undefined, undefined],
      problem: 'cannot write HTTPRoutes: no',
    })
  })

  test('takes turns with those of other namespaces', async () => {
    const many = Array.from({ length: 50 }, (_, i) => `a/${i + 100}`)
    const { posted } = await refusing([...many, 'b/1', 'c/1'], 422, /none/)
    assert.deepEqual(posted.slice(0, 4), ['a/100', 'b/1', 'c/1', 'a/101'])
  })

  test('that the API server fails to write ends the attempts in its namespace only', async () => {
    assert.deepEqual(await refusing([...KEYS, 'b/2'], 503, /^a.1$/), {
      posted: ['a/1', 'b/1', 'b/2'],
      verdicts: [undefined, undefined],
      problem: 'cannot write HTTPRoutes: no',
    })
  })

  test('that cannot be written ends the attempts', async () => {
    assert.deepEqual(await refusing(KEYS, undefined, /^a.1$/), {
      posted: ['a/1'],
      verdicts: [],
      problem: 'cannot write HTTPRoutes: no',
    })
    assert.deepEqual(await refusing(KEYS, 403, /./), {
      posted: ['a/1', 'b/1'],
      verdicts: [refused, refused, refused],
      problem: 'cannot write HTTPRoutes: no',
    })
  })
})
