/**
 * The route that explains an answer, at gateways and in the cluster.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import type { Explanation } from '../../resolver/chain/explain.ts'
import { explanationJson } from '../../resolver/chain/explanation-json.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import { HttpError } from './http-error.ts'
import { parseJsonQuery } from './json-query.ts'
import { jsonResponse } from './json-response.ts'

/** The client that answers are explained for. */
export type ExplainFor = {
  readonly client: Client
  /** A client that sees everything, if the operator asks what `client` does not see. */
  readonly whole?: Client
}

/** What the route needs. */
export type ExplainOptions = {
  /** Returns the client of a request. @throws {HttpError} if it may not have answers explained */
  readonly admit: (c: Context) => MaybePromise<ExplainFor>
  /** Answers a message and explains the response; `undefined` without a server block. */
  readonly explain: (
    message: Uint8Array,
    client: Client,
    c: Context,
  ) => Promise<Explanation | undefined>
}

/** Creates the app with `/v1/explain?name=&type=`. */
export function createExplainRoute({ admit, explain }: ExplainOptions): Hono {
  const app = new Hono()
  app.get('/v1/explain', async (c) => {
    const { client, whole } = await admit(c)
    const { message } = parseJsonQuery(new URL(c.req.url).searchParams)
    const explanation = await explain(message, client, c)
    const { visibility } = client
    const scope = visibility === undefined ? null : JSON.parse(visibility.id)
    const json = explanation && explanationJson(explanation, scope)
    if (json === undefined) throw new HttpError(500, 'no_answer', 'The query gets no answer')
    if (whole === undefined) return jsonResponse(200, json)
    const all = await explain(message, whole, c)
    return jsonResponse(200, {
      ...json,
      hidden: objectsOf(all).filter(unless(objectsOf(explanation))),
    })
  })
  return app
}

/** Lists the objects behind a response, each once. */
function objectsOf(explanation: Explanation | undefined): readonly string[] {
  return [...new Set(explanation?.records.flatMap(({ object }) => object ?? []))]
}

function unless(seen: readonly string[]): (object: string) => boolean {
  return (object) => !seen.includes(object)
}
