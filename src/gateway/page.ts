/**
 * What a person sees who opens the gateway in a browser.
 * @module
 */

/**
 * Formats the page. It names no cluster and no name: it is there for everybody.
 * @param origin of the URL that was opened
 */
export function formatPage(origin: string): string {
  const here = escapeHtml(origin)
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
<p>Kubernetes names, anywhere: this gateway answers the names of clusters over HTTPS.</p>
<h2>Ask a name</h2>
<pre><code>curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/dns-json' \\
  "${here}/dns-query?name=SERVICE.NAMESPACE.svc.CLUSTER"</code></pre>
<h2>Let curl resolve by it</h2>
<pre><code>curl --doh-url "${here}/t/$TOKEN/dns-query" \\
  http://SERVICE.NAMESPACE.svc.CLUSTER/</code></pre>
<h2>In a browser or an operating system</h2>
<p>The address of the DNS over HTTPS server is
<code>${here}/t/TOKEN/dns-query</code>. Whoever runs this gateway gives out tokens and says
under which domain its clusters are.</p>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[^A-Za-z0-9.:/[\]-]/g, (character) => `&#${character.codePointAt(0)};`)
}
