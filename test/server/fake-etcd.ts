/**
 * A scripted stand-in for etcd's JSON gateway.
 * @module
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'vitest'
import type { EtcdConnection } from '../../src/resolver/plugins/etcd/options.ts'

/** A request to etcd. */
export type EtcdAsked = {
  readonly path: string
  readonly body: unknown
  readonly headers: IncomingHttpHeaders
}

/** Answers a request with a status and JSON, or writes to the response itself. */
export type EtcdScript = (
  asked: EtcdAsked,
  response: ServerResponse,
) => { readonly status?: number; readonly json: unknown } | undefined

/** A server that runs until its test ends. */
export type FakeEtcd = { readonly url: string; readonly asked: readonly EtcdAsked[] }

/** Starts a server. */
export async function startFakeEtcd(
  t: TestContext,
  script: EtcdScript,
  tls?: ServerOptions,
): Promise<FakeEtcd> {
  const asked: EtcdAsked[] = []
  const server: Server = tls === undefined ? createServer() : createSecureServer(tls)
  server.on('request', (request, response) => {
    void text(request).then((body) => {
      const question = { path: request.url ?? '', body: JSON.parse(body), headers: request.headers }
      asked.push(question)
      const answer = script(question, response)
      if (answer === undefined) return
      response.writeHead(answer.status ?? 200)
      const { json } = answer
      response.end(typeof json === 'string' ? json : JSON.stringify(json))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, asked }
}

/** Returns a directive's connection to these endpoints. */
export function connectionTo(
  endpoints: readonly string[],
  fields: Partial<EtcdConnection> = {},
): EtcdConnection {
  const at = { file: 'Corefile', line: 2, column: 3 }
  return { ...at, path: '/skydns', endpoints, tls: {}, credentials: undefined, ...fields }
}
