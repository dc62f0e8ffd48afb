/**
 * What a cold isolate does at once: it reads the manifest that a query needs while it reads the
 * tokens. So the first answer takes two round trips to the objects, not three.
 * @module
 */
import type { Context } from 'hono'
import { decodeBase64url } from '../../dns/bytes/base64url.ts'
import { MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { isQuery } from '../doh/direct-message.ts'
import { parseJsonQuery } from '../doh/json-query.ts'
import { readBody } from '../doh/read-body.ts'
import type { Gateway } from './gateway.ts'

/** Follows the clusters that a request asks for. An invalid request changes nothing here. */
export function prepare(gateway: Gateway, c: Context): void {
  const follow = (message: Uint8Array | undefined): void => {
    if (message !== undefined && isQuery(message)) gateway.follow(message, c)
  }
  gateway.keepAlive(
    c,
    messageOf(c).then(follow, () => undefined),
  )
}

async function messageOf(c: Context): Promise<Uint8Array | undefined> {
  if (c.req.method === 'POST') return readBody(c.req.raw.clone(), MESSAGE_BYTES_MAX)
  const parameters = new URL(c.req.url).searchParams
  const text = parameters.get('dns')
  return text === null ? parseJsonQuery(parameters).message : decodeBase64url(text)
}
