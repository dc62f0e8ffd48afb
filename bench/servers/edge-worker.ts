/**
 * The Worker with its objects at a distance: each call takes longer, hangs, or is refused, and is
 * counted. `/bench?delayMs=…&mode=…` sets the distance and returns the counts since the last time.
 * @module
 */
import { recordOf } from '../../src/dns/bytes/unknown.ts'
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

/** What an object sends arrives as late as its responses, also before the isolate accepts it. */
function distantSocket(socket: WebSocket, isTokens: boolean): WebSocket {
  const listeners: { readonly type: string; readonly listener: Listener }[] = []
  const accepted = Promise.withResolvers<void>()
  for (const type of ['message', 'close', 'error'] as const) {
    socket.addEventListener(type, (event: object) => {
      const { data } = recordOf(event)
      if (isTokens && typeof data === 'string') tokenBytes += data.length
      if (mode === 'hang') return
      void Promise.all([sleep(delayMs / 2), accepted.promise]).then(() => {
        for (const one of listeners) if (one.type === type) one.listener(event)
      })
    })
  }
  socket.binaryType = 'arraybuffer'
  socket.accept()
  return replaced(socket, (name) => {
    if (name === 'accept') return () => accepted.resolve()
    if (name !== 'addEventListener') return undefined
    return (type, listener) => {
      listeners.push({ type: String(type), listener: listener as Listener })
    }
  })
}

function distantStub(stub: object, isTokens: boolean): object {
  return replaced(stub, (name) => async (...values) => {
    calls++
    await pass()
    const method: unknown = Reflect.get(stub, name, stub)
    const result: unknown = await Reflect.apply(method as Call, stub, values)
    const socket = result instanceof Response ? result.webSocket : null
    const webSocket = socket === null ? undefined : distantSocket(socket, isTokens)
    await pass()
    return webSocket === undefined ? result : { status: 101, webSocket }
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
