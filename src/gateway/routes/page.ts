/**
 * The page that a browser shows at the gateway's root. Everybody may read it, so it contains no
 * cluster and no name; it queries the gateway for what its visitor may see.
 * @module
 */
import type { Context } from 'hono'
import { PAGE, SCRIPT_SOURCE, STYLE_SOURCE } from '../built/assets.js'
import { notFound } from '../doh/http-error.ts'
import { uncached } from '../doh/json-response.ts'

/** Loads nothing, runs only its own script, and speaks only with its own gateway. */
const POLICY = [
  "default-src 'none'",
  `script-src ${SCRIPT_SOURCE}`,
  `style-src ${STYLE_SOURCE}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')
/** The template of RFC 8484 by RFC 9652, relative to `/t/TOKEN/` too; no relation is registered. */
const DOH_TEMPLATE = '"dns-query{?dns}"; rel="https://www.rfc-editor.org/info/rfc8484"'
const HEADERS = {
  'link-template': DOH_TEMPLATE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Returns a handler that responds with the page.
 * @param isPublic whether the gateway answers without a token
 */
export function createPage(isPublic: boolean): (c: Context) => Response {
  const page = isPublic
    ? PAGE.replace('data-access="token"', 'data-access="public"').replace(/(?<=curl )-H ".*?" /, '')
    : PAGE
  return (c) => {
    // The router takes `/t/TOKEN%2fdns-query` for `/t/TOKEN/` as well.
    if (!c.req.path.endsWith('/')) throw notFound()
    return uncached(200, page, HEADERS)
  }
}
