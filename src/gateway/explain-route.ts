/**
 * The route that explains an answer, for the operator and for tokens with `explain`.
 * @module
 */
import { Hono } from 'hono/tiny'
import { parseResponse } from '../dns/message.ts'
import { formatName } from '../dns/name.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType } from '../dns/rr-type.ts'
import { HttpError } from '../doh/http-error.ts'
import { parseJsonQuery } from '../doh/json-query.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { formatRecord } from '../records/zone-text.ts'
import type { Gateway } from './gateway.ts'

/** Creates the app with `/v1/explain?name=&type=`. */
export function createExplainRoute(gateway: Gateway): Hono {
  const app = new Hono()
  app.get('/v1/explain', async (c) => {
    const client = await gateway.admission.admitExplain(c)
    const { message } = parseJsonQuery(new URL(c.req.url).searchParams)
    const explanation = await gateway.explain(message, client, c)
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
      view: client.visibility === undefined ? null : JSON.parse(client.visibility.id),
    })
  })
  return app
}
