/**
 * `npm run page`: bundles the page of the gateway, `page/`, into `src/gateway/routes/page-bundle.ts`.
 *
 * The bundle is committed, because a checkout and wrangler run the sources without a build. A test
 * compares it with the sources.
 * @module
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(ROOT, 'src/gateway/routes/page-bundle.ts')
const COLUMNS = 100
const OPTIONS: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: ['chrome123', 'firefox128', 'safari17.5'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'error',
  tsconfig: join(ROOT, 'page/tsconfig.json'),
}

/** The parts of the page. */
export type PageParts = { readonly script: string; readonly style: string }

/** Bundles the page. @throws {Error} when something cannot be resolved or compiled */
export async function bundlePage(): Promise<PageParts> {
  const [script = '', style = ''] = await Promise.all(
    ['page/main.tsx', 'page/style.css'].map(async (entry) => {
      const { outputFiles } = await build({ ...OPTIONS, entryPoints: [entry], outdir: 'dist' })
      return outputFiles?.[0]?.text.trim()
    }),
  )
  if (/<\/(script|style)|<!--/i.test(script + style))
    throw new Error('The page ends its own script')
  return { script, style }
}

/** Writes the module that holds the page: compressed, in lines of base64. */
export function formatModule({ script, style }: PageParts): string {
  const json = JSON.stringify({ script, style })
  const base64 = deflateRawSync(json, { level: 9 }).toString('base64')
  const lines = base64.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? []
  return `/**
 * The bundled page of \`page/\`: \`npm run page\` writes this file.
 * @module
 */

/** Source of the Content Security Policy for the script. */
export const SCRIPT_SOURCE: string = "'sha256-${hashOf(script)}'"
/** Source of the Content Security Policy for the style. */
export const STYLE_SOURCE: string = "'sha256-${hashOf(style)}'"
/** JSON with \`script\` and \`style\`, compressed (RFC 1951), in base64 with line breaks. */
export const PAGE_PARTS: string = \`
${lines.join('\n')}
\`
`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

if (import.meta.main) writeFileSync(TARGET, formatModule(await bundlePage()))
