/**
 * The Worker with the calls of an earlier build, which does not follow: during a deployment, an
 * older Worker may call newer objects. It sends what the first build sent, one key of a cluster.
 * @module
 */
import type { Env } from '../../worker/env.ts'
import worker from '../../worker/index.ts'

export { ClusterObject, TokenObject } from '../../worker/index.ts'

/** The methods that the first build called. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  CLUSTER: ['readManifest', 'readShard', 'putShard', 'putManifest', 'putPublication', 'state'],
  TOKENS: ['list', 'add', 'noteUse'],
}

/** What the platform says of an object without `fetch`. */
const CANNOT_FOLLOW = 'The object does not export a fetch() function'

export default {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const { CLUSTER, TOKENS } = env
    const older = {
      ...env,
      CLUSTER: olderNamespace(CLUSTER, CALLS.CLUSTER ?? []),
      TOKENS: olderNamespace(TOKENS, CALLS.TOKENS ?? []),
    }
    return worker.fetch(request as Parameters<typeof worker.fetch>[0], older, context)
  },
} satisfies ExportedHandler<Env>

function olderNamespace<T extends object>(namespace: T, calls: readonly string[]): T {
  return new Proxy(namespace, {
    get: (target, name) => {
      if (name !== 'getByName') return Reflect.get(target, name)
      return (...values: unknown[]) => olderStub(call(target, name, values), calls)
    },
  })
}

function olderStub(stub: unknown, calls: readonly string[]): object {
  if (typeof stub !== 'object' || stub === null) throw new TypeError('there is no stub')
  return new Proxy(stub, {
    get: (target, name) => {
      if (name === 'fetch') return () => Promise.reject(new TypeError(CANNOT_FOLLOW))
      if (!calls.includes(String(name))) throw new TypeError(`no older call is ${String(name)}`)
      return (...values: unknown[]) => call(target, name, values.map(withOneKey))
    },
  })
}

function call(target: object, name: PropertyKey, values: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(target, name)
  if (typeof method !== 'function') throw new TypeError(`${String(name)} is no method`)
  return Reflect.apply(method, target, values)
}

function withOneKey(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('publicKeys' in value)) return value
  const { publicKeys: _, ...older } = value
  return older
}
