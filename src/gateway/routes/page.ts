/**
 * The page that a browser shows at the gateway's root. Everybody may read it, so it contains no
 * cluster and no name; it queries the gateway for what its visitor may see.
 * @module
 */
import type { Context } from 'hono'
import { isRecord } from '../../dns/bytes/unknown.ts'
import { notFound } from '../doh/http-error.ts'
import { uncached } from '../doh/json-response.ts'
import { PAGE_PARTS, SCRIPT_SOURCE, STYLE_SOURCE } from './page-bundle.ts'

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
const ICON =
  "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%232f7ad6'" +
  " stroke-width='2.4'%3E%3Cpath d='M12 1.5 21.5 7v10L12 22.5 2.5 17V7z'/%3E%3C/svg%3E"
/** The top of the page as its script draws it: browsers paint this before they run the script. */
const SHELL = `<header class="top"><h1><svg viewBox="0 0 24 24" width="24" height="24"
aria-hidden="true"><path d="M12 1.5 21.5 7v10L12 22.5 2.5 17V7z" fill="none" stroke="currentColor"
stroke-width="2" stroke-linejoin="round"/><circle cx="12" cy="12" r="3.2" fill="currentColor"/></svg
>kubedoh</h1></header>`

type Parts = { readonly script: string; readonly style: string }

let parts: Parts | undefined

/**
 * Returns a handler that responds with the page.
 * @param isPublic whether the gateway answers without a token
 */
export function createPage(isPublic: boolean): (c: Context) => Promise<Response> {
  return async (c) => {
    // The router takes `/t/TOKEN%2fdns-query` for `/t/TOKEN/` as well.
    if (!c.req.path.endsWith('/')) throw notFound()
    parts ??= await unpack()
    return uncached(200, formatPage(parts, isPublic), HEADERS)
  }
}

function formatPage({ script, style }: Parts, isPublic: boolean): string {
  return `<!doctype html>
<html lang="en" data-access="${isPublic ? 'public' : 'token'}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>kubedoh</title>
<link rel="icon" href="data:image/svg+xml,${ICON}">
<style>${style}</style>
<body>
<div id="app">
${SHELL}
<noscript>
<p>This gateway resolves the names of Kubernetes clusters by DNS over HTTPS. Its page needs
JavaScript; a terminal does not:</p>
<pre>curl ${isPublic ? '' : '-H "Authorization: Bearer $TOKEN" '}"https://HOST/resolve?name=NAME"</pre>
</noscript>
</div>
<script type="module">${script}</script>
</body>
</html>
`
}

async function unpack(): Promise<Parts> {
  const packed = Uint8Array.from(atob(PAGE_PARTS), (character) => character.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const found: unknown = JSON.parse(await new Response(stream).text())
  if (isRecord(found) && typeof found.script === 'string' && typeof found.style === 'string') {
    return { script: found.script, style: found.style }
  }
  throw new TypeError('The bundle of the page must have a script and a style')
}
