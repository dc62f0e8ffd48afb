/**
 * `npm run assets`: writes what the gateway serves into a module that Node, esbuild and wrangler
 * import: the page of `page/`, the templates of the onboarding kit, and the description of the
 * routes. Git ignores the module; all
 * that starts or bundles the gateway calls this first.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(ROOT, 'src/gateway/built/assets.js')
const TEMPLATES = 'src/gateway/onboarding/templates'
/** What the module is made of; package-lock.json has the versions of hono and esbuild. */
const DESCRIPTION = 'src/gateway/openapi.yaml'
const INPUTS = ['build/assets.ts', 'package-lock.json', 'page', 'src/dns', TEMPLATES, DESCRIPTION]

/**
 * Writes the module, declared in `src/gateway/built/assets.d.ts`, unless it fits its sources
 * already.
 * @returns whether it was written
 * @throws {Error} when something of the page cannot be resolved or compiled
 */
export async function buildAssets(target: string = TARGET): Promise<boolean> {
  const mark = `// ${hashOf(...INPUTS.flatMap(textsIn))}\n`
  if (existsSync(target) && readFileSync(target, 'utf8').startsWith(mark)) return false
  const names = readdirSync(join(ROOT, TEMPLATES))
  const templates = names.map((name) => [name, readText(`${TEMPLATES}/${name}`)])
  const assets = {
    ...(await bundlePage()),
    TEMPLATES: Object.fromEntries(templates),
    OPENAPI: describeRoutes(),
  }
  const lines = Object.entries(assets).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`,
  )
  // Several processes may write it at the same time.
  const scratch = `${target}.${process.pid}`
  writeFileSync(scratch, mark + lines.join(''))
  renameSync(scratch, target)
  return true
}

/** Returns the paths and texts of all files at a path. */
function textsIn(path: string): readonly string[] {
  const from = join(ROOT, path)
  if (!statSync(from).isDirectory()) return [path, readText(path)]
  return readdirSync(from).flatMap((name) => textsIn(`${path}/${name}`))
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Returns the description as JSON, without the parts that it only repeats. */
function describeRoutes(): string {
  const options = { merge: true, maxAliasCount: -1 }
  const parsed: object = parse(readText(DESCRIPTION), options)
  const entries = Object.entries(parsed).filter(([name]) => !name.startsWith('x-'))
  return JSON.stringify(Object.fromEntries(entries))
}

async function bundlePage() {
  const [script = '', style = ''] = await Promise.all(
    ['page/main.tsx', 'page/style.css'].map(async (entry) => {
      const { outputFiles } = await build({
        absWorkingDir: ROOT,
        entryPoints: [entry],
        outdir: 'dist',
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        target: ['chrome123', 'firefox128', 'safari17.5'],
        charset: 'utf8',
        legalComments: 'none',
        logLevel: 'error',
        tsconfig: join(ROOT, 'page/tsconfig.json'),
      })
      return outputFiles[0]?.text.trim()
    }),
  )
  if (/<\/(script|style)|<!--/i.test(script + style))
    throw new Error('The page ends its own script')
  const html = readText('page/index.html')
  return {
    PAGE: html
      .replace('></style>', () => `>${style}</style>`)
      .replace('></script>', () => `>${script}</script>`),
    SCRIPT_SOURCE: `'sha256-${hashOf(script)}'`,
    STYLE_SOURCE: `'sha256-${hashOf(style)}'`,
  }
}

function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text)
  return hash.digest('base64')
}

if (import.meta.main) await buildAssets()
