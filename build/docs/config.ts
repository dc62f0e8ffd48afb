/**
 * VitePress's configuration: every Markdown page of the repository under its own path, with the
 * sidebar of docs/README.md. Nothing is written for the site alone.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anchorOf } from './markdown-links.ts'
import { sidebarOf } from './sidebar.ts'

/** What is used of a token of markdown-it. */
type Token = {
  type: string
  content: string
  readonly children?: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}
type MarkdownIt = {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } }
}
type State = { readonly tokens: readonly Token[] }

/** Room for tables: our pages have wide ones, with long names in them. */
const STYLE = `
.VPDoc.has-aside .content-container, .VPDoc .content { max-width: 960px !important; }
.vp-doc table { font-size: 14px; }
.vp-doc th, .vp-doc td { min-width: 6em; padding: 6px 10px; vertical-align: top; }
.vp-doc td code { overflow-wrap: anywhere; padding: 1px 4px; }
.vp-doc td:first-child:has(code) { min-width: 14em; }
`

const ROOT = join(import.meta.dirname, '../..')

/**
 * Adapts pages to the site: READMEs are indexes, files that are not pages have no link, and braces
 * are not Vue's.
 */
export function adaptPages(markdown: MarkdownIt): void {
  markdown.core.ruler.push('adapt_pages', ({ tokens }) => {
    for (const { children } of tokens) {
      let isOpen = true
      for (const token of children ?? []) {
        if (token.content.includes('{{')) escapeBraces(token)
        if (token.type === 'link_close' && !isOpen) hide(token)
        if (token.type !== 'link_open') continue
        const target = token.attrGet('href') ?? ''
        isOpen = /^(https?:|mailto:|#)|\.md(#.*)?$/.test(target)
        if (!isOpen) hide(token)
        else token.attrSet('href', target.replace(/(^|\/)README\.md/, '$1index.md'))
      }
    }
  })
}

function escapeBraces(token: Token): void {
  const escaped = token.content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('{', '&#123;')
  token.content = token.type === 'code_inline' ? `<code>${escaped}</code>` : escaped
  token.type = 'html_inline'
}

/** Writes nothing for a token. */
function hide(token: Token): void {
  token.type = 'text'
}

const config: Readonly<Record<string, unknown>> = {
  title: 'kubedoh',
  description: 'Kubernetes names over DNS-over-HTTPS and DNS',
  head: [['style', {}, STYLE]],
  srcDir: 'pages',
  outDir: 'site',
  cacheDir: 'cache',
  // Links to READMEs become links to indexes in adaptPages.
  rewrites: (id: string) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: {
    anchor: { slugify: anchorOf },
    config: adaptPages,
    languageAlias: { corefile: 'nginx' },
  },
  // Pages are links to the repository's files, and find Vue where the links are.
  vite: { resolve: { preserveSymlinks: true } },
  themeConfig: {
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Questions', link: '/docs/faq' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: sidebarOf(readFileSync(join(ROOT, 'docs/README.md'), 'utf8'), 'docs'),
    outline: [2, 3],
    // Everything is searched in the browser; no service outside of the site is used.
    search: { provider: 'local' },
  },
}

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default config
