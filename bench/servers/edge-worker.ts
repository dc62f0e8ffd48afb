/**
 * The Worker with its objects at a distance: each call takes longer, hangs, or is refused, and is
 * counted. `/bench?delayMs=…&mode=…` sets the distance and returns the counts since the last time;
 * `/bench/followers` simulates isolates that follow, `/bench/tokens` adds tokens.
 * @module
 */
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import type { After } from '../../src/gateway/timing/within.ts'
import { ClusterStub } from '../../worker/cluster-stub.ts'
import worker, {
  ClusterObject as OwnClusterObject,
  TokenObject as OwnTokenObject,
} from '../../worker/index.ts'
import { followByMany } from './edge-followers.ts'

/** Rows of all statements since the last time. */
const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
let isCounted = false

/** The object, which counts the rows that its database reads and writes. */
export class ClusterObject extends OwnClusterObject {
  constructor(state: DurableObjectState, env: object) {
    countRows(state.storage.sql)
    super(state, env)
  }
}

/** The object with the tokens, which may have thousands at once. */
export class TokenObject extends OwnTokenObject {
  private readonly database: SqlStorage

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.database = state.storage.sql
  }

  /** Adds copies of a token that there is. */
  copy(count: number): void {
    const changed = "json_set(record, '$.id', ?, '$.name', ?)"
    const insert = `INSERT INTO tokens SELECT ?, ${changed} FROM tokens LIMIT 1`
    for (let i = 0; i < count; i++) {
      const id = i.toString(16).padStart(12, '0')
      this.database.exec(insert, id, id, `token-${i}`)
    }
  }
}

/** Counts the rows of all databases of this process from now on. */
function countRows(sql: SqlStorage): void {
  if (isCounted) return
  isCounted = true
  const prototype: object = Object.getPrototypeOf(sql)
  const exec: unknown = Reflect.get(prototype, 'exec')
  Reflect.set(prototype, 'exec', function (this: SqlStorage, ...values: readonly unknown[]) {
    const cursor = Reflect.apply(exec as SqlStorage['exec'], this, values)
    cursors.push(cursor)
    return cursor
  })
}

/** How objects respond. */
type Mode = 'well' | 'hang' | 'overloaded'

const HANG_MS = 60_000
let delayMs = 0
let mode: Mode = 'well'
let calls = 0
let callsMs = 0
let tokenBytes = 0

const sleep = (ms: number): Promise<void> =>
  ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))

const after: After = (ms, task) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

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
    const begunMs = performance.now()
    const method: unknown = Reflect.get(stub, name, stub)
    const result: unknown = await Reflect.apply(method as Call, stub, values)
    callsMs += performance.now() - begunMs
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
      const rowsRead = cursors.reduce((sum, one) => sum + one.rowsRead, 0)
      const rowsWritten = cursors.reduce((sum, one) => sum + one.rowsWritten, 0)
      const counts = { calls, callsMs, tokenBytes, rowsRead, rowsWritten }
      ;[calls, callsMs, tokenBytes, cursors.length] = [0, 0, 0, 0]
      return Response.json(counts)
    }
    const far = {
      ...env,
      CLUSTER: distant(env.CLUSTER, false),
      TOKENS: distant(env.TOKENS, true),
    }
    if (pathname === '/bench/tokens') {
      const tokens: unknown = env.TOKENS.getByName('tokens')
      await (tokens as { copy(count: number): Promise<void> }).copy(
        Number(searchParams.get('count')),
      )
      return new Response(null, { status: 204 })
    }
    if (pathname === '/bench/followers') {
      const [publicKey, count, startsMs, untilMs] = [
        'publicKey',
        'count',
        'startsMs',
        'untilMs',
      ].map((name) => searchParams.get(name) ?? '')
      const identity = { cluster: 'bench', publicKey: publicKey ?? '' }
      const stub = new ClusterStub(far.CLUSTER, () => identity, after)
      const wanted = { count: Number(count), startsMs: Number(startsMs), untilMs: Number(untilMs) }
      return Response.json(await followByMany(stub, wanted))
    }
    return worker.fetch(request, far, context)
  },
}
