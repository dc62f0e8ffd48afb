/**
 * The Worker on a platform that counts, and fails on request:
 *
 * - `/test/counts` returns how often shards were read there, and how often in vain;
 * - `/test/failing/METHOD` has a method of what is bound fail from now on: `put`, `delete`, …;
 * - `/test/reading/FAULT` has reads lie from now on: `hang`, `flip`, `cut`, `empty`, or `well`;
 * - `/test/points` gives the points that were written to Analytics Engine;
 * - `/test/resolve/BINDING` queries another Worker by a service binding: the values of the body.
 * @module
 */
import type { NameResolver } from '../../src/library/edge.ts'
import type { Env } from '../../worker/env.ts'
import gateway from '../../worker/index.ts'

export { ClusterObject, NameService, TokenObject } from '../../worker/index.ts'

const counts = { reads: 0, misses: 0 }
const points: unknown[] = []
/** The method that fails. */
let failing = ''
/** How reads lie. */
let reading = 'well'

export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const [, first, what, which = ''] = new URL(request.url).pathname.split('/')
    if (first !== 'test') return gateway.fetch(request, watched(env), context)
    if (what === 'resolve') return resolve(Reflect.get(env, which), await request.json())
    if (what === 'counts') return Response.json(counts)
    if (what === 'points') return Response.json(points)
    if (what === 'reading') reading = which
    else failing = which
    return new Response()
  },
}

/** Queries as another Worker does. Has the error as a program would get it. */
async function resolve(
  service: NameResolver,
  values: Parameters<NameResolver['resolve']>,
): Promise<Response> {
  try {
    return Response.json(await service.resolve(...values))
  } catch (error) {
    return Response.json({ error: String(error) })
  }
}

function watched(env: Env): Env {
  const { SHARDS_KV: kv, SHARDS_R2: bucket, ANALYTICS: dataset } = env
  return {
    ...env,
    ...(dataset && { ANALYTICS: watch(dataset) }),
    ...(kv && { SHARDS_KV: watch(kv) }),
    ...(bucket && { SHARDS_R2: watch(bucket) }),
  }
}

/** The same binding, its calls counted. */
function watch<Binding extends object>(binding: Binding): Binding {
  return new Proxy(binding, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...given: unknown[]): unknown => {
        if (name === failing) throw new Error(`${failing} fails`)
        if (name === 'writeDataPoint') points.push(...given)
        const result: unknown = Reflect.apply(method, target, given)
        if (name !== 'get' || !(result instanceof Promise)) return result
        return result.then(reading === 'well' ? count : lie)
      }
    },
  })
}

function count(result: unknown): unknown {
  counts.reads++
  if (result === null) counts.misses++
  return result
}

/** Gives what KV or R2 gave, changed as `/test/reading` has it. */
async function lie(result: unknown): Promise<unknown> {
  if (reading === 'hang') return new Promise(() => undefined)
  if (result instanceof ArrayBuffer) return spoil(result)
  if (!isBlob(result)) return result
  const bytes = await result.arrayBuffer()
  return { arrayBuffer: async () => spoil(bytes) }
}

function isBlob(value: unknown): value is { arrayBuffer(): Promise<ArrayBuffer> } {
  return typeof value === 'object' && value !== null && 'arrayBuffer' in value
}

function spoil(buffer: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(buffer.slice(0))
  if (reading === 'flip') bytes[9] = (bytes[9] ?? 0) ^ 4
  return reading === 'cut'
    ? buffer.slice(0, -1)
    : reading === 'empty'
      ? new ArrayBuffer(0)
      : bytes.buffer
}
