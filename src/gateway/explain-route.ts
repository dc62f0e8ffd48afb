/**
 * The route that tells how an answer came about, to the operator and to tokens that may know.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import type { Explanation } from '../chain/explain.ts'
import type { View } from '../chain/plugin.ts'
import { parseResponse } from '../dns/message.ts'
import { formatName } from '../dns/name.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType } from '../dns/rr-type.ts'
import { HttpError } from '../doh/http-error.ts'
import { parseJsonQuery } from '../doh/json-query.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { formatRecord } from '../records/zone-text.ts'

/** What the route needs. */
export type ExplainOptions = {
  /** Finds what the sender sees. @throws {HttpError} 401, 403 when it may not ask here */
  readonly viewOf: (c: Context) => Promise<View | undefined>
  readonly explain: (
    message: Uint8Array,
    view: View | undefined,
    c: Context,
  ) => Promise<Explanation | undefined>
}

/** Makes the app with `/v1/explain?name=&type=`. */
export function createExplainRoute({ viewOf, explain }: ExplainOptions): Hono {
  const app = new Hono()
  app.get('/v1/explain', async (c) => {
    const view = await viewOf(c)
    const { message } = parseJsonQuery(new URL(c.req.url).searchParams)
    const explanation = await explain(message, view, c)
    const reply = explanation?.reply && parseResponse(explanation.reply)
    if (explanation === undefined || reply === undefined) {
      throw new HttpError(500, 'no_answer', 'The query gets no answer')
    }
    const { question, rcode, answer, authority, additional } = reply
    const { serverBlock = null, plugins, facts } = explanation
    return jsonResponse(200, {
      question: question && { name: formatName(question.name), type: formatType(question.type) },
      status: formatRcode(rcode),
      answer: answer.map((record) => formatRecord(record)),
      authority: authority.map((record) => formatRecord(record)),
      additional: additional.map((record) => formatRecord(record)),
      serverBlock,
      plugins,
      facts,
      view: view === undefined ? null : JSON.parse(view.id),
    })
  })
  return app
}
