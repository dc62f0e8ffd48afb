/**
 * The Worker with its objects at a distance: each call takes longer, hangs, or is refused, and is
 * counted. `/bench?delayMs=…&mode=…` sets the distance and returns the counts since the last time.
 * @module
 */
import worker from '../../worker/index.ts'

export { ClusterObject, TokenObject } from '../../worker/index.ts'

/** How objects respond. */
type Mode = 'well' | 'hang' | 'overloaded'

const HANG_MS = 60_000
let delayMs = 0
let mode: Mode = 'well'
let calls = 0
let tokenBytes = 0

const sleep = (ms: number): Promise<void> =>
  ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))

/** Half of the distance: there or back. */
async function pass(): Promise<void> {
  if (mode === 'hang') await sleep(HANG_MS)
  if (mode === 'overloaded') throw Object.assign(new Error('overloaded'), { overloaded: true })
  await sleep(delayMs / 2)
}

type Call = (...values: readonly unknown[]) => unknown
type Listener = (event: { readonly data?: unknown }) => void

/** Replaces methods of an object; those of the platform need the object itself as `this`. */
function replaced<T extends object>(target: T, methodOf: (name: string) => Call | undefined): T {
  return new Proxy(target, {
    get: (_, name) => {
      const method = methodOf(String(name))
      if (method !== undefined) return method
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (_, name, value) => Reflect.set(target, name, value, target),
  })
}

function distantSocket(socket: WebSocket, isTokens: boolean): WebSocket {
  return replaced(socket, (name) => {
    if (name !== 'addEventListener') return undefined
    return (type, listener) => {
      socket.addEventListener(String(type) as 'message', (event: MessageEvent) => {
        const { data } = event
        if (isTokens && typeof data === 'string') tokenBytes += data.length
        if (mode === 'hang') return
        void sleep(delayMs / 2).then(() => (listener as Listener)(event))
      })
    }
  })
}

function distantStub(stub: object, isTokens: boolean): object {
  return replaced(stub, (name) => async (...values) => {
    calls++
    await pass()
    const method: unknown = Reflect.get(stub, name, stub)
    const result: unknown = await Reflect.apply(method as Call, stub, values)
    await pass()
    const isSocket = result instanceof Response && result.webSocket !== null
    if (!isSocket || result.webSocket === null) return result
    return { status: result.status, webSocket: distantSocket(result.webSocket, isTokens) }
  })
}

function distant<T extends { getByName(name: string): object }>(objects: T, isTokens: boolean): T {
  return replaced(objects, (name) =>
    name === 'getByName' ? (id) => distantStub(objects.getByName(String(id)), isTokens) : undefined,
  )
}

type Fetch = typeof worker.fetch

export default {
  async fetch(...[request, env, context]: Parameters<Fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/bench') {
      delayMs = Number(searchParams.get('delayMs') ?? delayMs)
      mode = (searchParams.get('mode') ?? mode) as Mode
      const counts = { calls, tokenBytes }
      ;[calls, tokenBytes] = [0, 0]
      return Response.json(counts)
    }
    const far = {
      ...env,
      CLUSTER: distant(env.CLUSTER, false),
      TOKENS: distant(env.TOKENS, true),
    }
    return worker.fetch(request, far, context)
  },
}
