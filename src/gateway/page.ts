/**
 * The page that a browser shows at the gateway's root.
 * @module
 */

/**
 * Formats the page. Everybody may read it, so it contains no cluster and no name.
 * @param origin origin of the URL that the client opened
 * @param isPublic whether the gateway answers without a token
 */
export function formatPage(origin: string, isPublic: boolean): string {
  const here = escapeHtml(origin)
  const bearer = isPublic ? '' : '-H "Authorization: Bearer $TOKEN" '
  const isSecure = origin.startsWith('https:')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>kubedoh</title>
<style>
  :root { color-scheme: light dark }
  body { max-width: 46rem; margin: 12vh auto 4rem; padding: 0 1.5rem; font: 1rem/1.6 system-ui }
  h1 { font-size: 2.2rem; letter-spacing: -.02em; margin: 0 }
  h1 + p { font-size: 1.15rem; opacity: .75; margin-top: .2rem }
  h2 { font-size: 1rem; margin: 2.2rem 0 .4rem }
  pre { padding: .9rem 1.1rem; overflow-x: auto; border-radius: .5rem; background: #8881 }
  code { font: .9rem/1.5 ui-monospace, monospace }
</style>
<h1>kubedoh</h1>
<p>Kubernetes names, anywhere: this gateway answers the names of clusters.</p>
${isPublic ? '' : TOKEN_NOTE}<h2>Ask for a name</h2>
<pre><code>curl ${bearer}"${here}/resolve?name=SERVICE.NAMESPACE.svc.ZONE&amp;type=A"</code></pre>
<p>ZONE is a domain of this gateway's clusters, which its operator knows.</p>
${isSecure ? secureRecipes(`${here}${isPublic ? '' : '/t/$TOKEN'}/dns-query`) : NOT_SECURE}</html>
`
}

const TOKEN_NOTE = `<h2>Have a token</h2>
<p>The operator of this gateway gives out tokens. Put yours into the shell:</p>
<pre><code>TOKEN=kdt_ID_SECRET</code></pre>
`

/** curl, browsers and operating systems send DNS queries over TLS only (RFC 8484 §5). */
const NOT_SECURE = `<h2>In a browser, an operating system or curl --doh-url</h2>
<p>These use DNS over HTTPS by <code>https:</code> URLs only, and this page came without TLS. Open
the gateway by its <code>https:</code> URL, and this page says how.</p>
`

function secureRecipes(url: string): string {
  return `<h2>Have curl resolve names here</h2>
<pre><code>curl --doh-url "${url}" http://SERVICE.NAMESPACE.svc.ZONE/</code></pre>
<h2>In a browser or an operating system</h2>
<p>The URL of the DNS over HTTPS server is</p>
<pre><code>${url.replace('$TOKEN', 'kdt_ID_SECRET')}</code></pre>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[^A-Za-z0-9.:/[\]-]/g, (character) => `&#${character.codePointAt(0)};`)
}
