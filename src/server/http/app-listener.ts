/**
 * Requests of Node's HTTP servers for an app. Only this file uses hono's adapter.
 * @module
 */
import type { getRequestListener } from '@hono/node-server'
import type { App } from './http-request.ts'

/** The listener that `@hono/node-server` creates; it takes HTTP/1.1 and HTTP/2 requests. */
export type AppListener = ReturnType<typeof getRequestListener>

/**
 * Returns the listener of an app. Imports the adapter at the first request: it loads Node's own
 * undici, 50 ms of CPU time and 16 MB, which servers that answer directly do not need.
 */
export function listenerFor(app: App): AppListener {
  let listener: AppListener | undefined
  const load = async (): Promise<AppListener> => {
    const { getRequestListener } = await import('@hono/node-server')
    listener ??= getRequestListener((request, env) => app.fetch(request, env), {
      overrideGlobalObjects: false,
    })
    return listener
  }
  return async (request, response) => {
    const serve = listener ?? (await load())
    await serve(request, response)
  }
}
