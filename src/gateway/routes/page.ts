/**
 * The page that a browser shows at the gateway's root. Everybody may read it, so it contains no
 * cluster and no name; it queries the gateway for what its visitor may see.
 * @module
 */
import type { Context } from 'hono'
import { PAGE, SCRIPT_SOURCE, STYLE_SOURCE } from '../built/assets.js'
import { notFound } from '../doh/http-error.ts'
import { uncached } from '../doh/json-response.ts'
import type { LoginPlace, LoginPlaces } from './login-places.ts'

/** The template of RFC 8484 by RFC 9652, relative to `/t/TOKEN/` too; no relation is registered. */
const DOH_TEMPLATE = '"dns-query{?dns}"; rel="https://www.rfc-editor.org/info/rfc8484"'
const HEADERS = {
  'link-template': DOH_TEMPLATE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyWith([]),
  'cross-origin-opener-policy': 'same-origin',
}
/** What ends an attribute, or begins a character reference. */
const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
}

/**
 * Returns a handler that responds with the page.
 * @param isPublic whether the gateway answers without a token
 * @param logins where people log in, if they can
 */
export function createPage(
  isPublic: boolean,
  logins?: Pick<LoginPlaces, 'current'>,
): (c: Context) => Response | Promise<Response> {
  const page = isPublic
    ? PAGE.replace('data-access="token"', 'data-access="public"').replace(/(?<=curl )-H ".*?" /, '')
    : PAGE
  return (c) => {
    // The router takes `/t/TOKEN%2fdns-query` for `/t/TOKEN/` as well.
    if (!c.req.path.endsWith('/')) throw notFound()
    if (logins === undefined) return uncached(200, page, HEADERS)
    return logins.current(c).then((places) => pageWith(page, places))
  }
}

/** The places are in the page itself, so that they are those which its policy allows. */
function pageWith(page: string, places: readonly LoginPlace[]): Response {
  const text = JSON.stringify(places).replace(/[&"<>]/g, (one) => MARKUP[one] ?? '')
  const policy = policyWith(places.flatMap(({ endpoints }) => endpoints?.token ?? []))
  return uncached(
    200,
    page.replace(' data-access=', () => ` data-logins="${text}" data-access=`),
    { ...HEADERS, 'content-security-policy': policy },
  )
}

/**
 * Returns a policy (Content Security Policy Level 3): the page loads nothing, runs only its own
 * script, and speaks only with its own gateway and with these URLs.
 */
function policyWith(urls: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${SCRIPT_SOURCE}`,
    `style-src ${STYLE_SOURCE}`,
    ["connect-src 'self'", ...new Set(urls.map(sourceOf))].join(' '),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** A source has no query; `;` and `,` would end it (Content Security Policy Level 3 §2.3.1). */
function sourceOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replaceAll(';', '%3B').replaceAll(',', '%2C')}`
}
