/**
 * The route that explains an answer, for the operator and for tokens with `explain`.
 * @module
 */
import { Hono } from 'hono/tiny'
import { explanationJson } from '../chain/explanation-json.ts'
import { HttpError } from '../doh/http-error.ts'
import { parseJsonQuery } from '../doh/json-query.ts'
import { jsonResponse } from '../doh/json-response.ts'
import type { Gateway } from './gateway.ts'

/** Creates the app with `/v1/explain?name=&type=`. */
export function createExplainRoute(gateway: Gateway): Hono {
  const app = new Hono()
  app.get('/v1/explain', async (c) => {
    const client = await gateway.admission.admitExplain(c)
    const { message } = parseJsonQuery(new URL(c.req.url).searchParams)
    const explanation = await gateway.explain(message, client, c)
    const view = client.visibility === undefined ? null : JSON.parse(client.visibility.id)
    const json = explanation && explanationJson(explanation, view)
    if (json === undefined) throw new HttpError(500, 'no_answer', 'The query gets no answer')
    return jsonResponse(200, json)
  })
  return app
}
