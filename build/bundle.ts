/**
 * Bundles modules and the packages that they use for Node, by esbuild.
 * @module
 */

import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildAssets } from './assets.ts'
import { type BundledFile, withConstants } from './constants.ts'

const ROOT = join(import.meta.dirname, '..')
const KUBERNETES_CLIENT = '@kubernetes/client-node'
/**
 * The Kubernetes client, and how it imports its parts. Its models import each other by
 * `../models/`: to see these 7,000 imports too would take ten seconds and leave out nothing more.
 * Every other part must match wherever it is imported: esbuild decides by whichever import it sees
 * first.
 */
const PARTS =
  /^(@kubernetes\/client-node$|\.\/|\.\.\/(\w+\.js|(apis|auth|http)\/.*|models\/ObjectSerializer\.js)$)/

/** Files of a bundle, and the paths below the root of all modules that have code in it. */
export type Bundle = { readonly files: readonly BundledFile[]; readonly modules: readonly string[] }

/**
 * Bundles modules. Each entry becomes a file of its name; what is imported when it is needed, and
 * what several of these share, become files beside it. Every file has a source map.
 * @param plugins are asked before the bundle's own
 * @throws {Error} when something cannot be resolved or compiled
 */
export async function bundle(
  entries: readonly string[],
  { plugins = [], external = [] }: { plugins?: Plugin[]; external?: string[] } = {},
): Promise<Bundle> {
  const target = oldestNode()
  await buildAssets()
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: entries.map((path) => ({ in: path, out: basename(path, '.ts') })),
    // Only a name to which paths in source maps are relative.
    outdir: join(ROOT, 'dist'),
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    external,
    logLevel: 'error',
    plugins: [...plugins, sideEffectFree(), withoutFetch(), lazyModules()],
  })
  const files = await Promise.all(
    outputFiles.map(({ path, text }) => withConstants(basename(path), text, target)),
  )
  const modules = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
  )
  return { files: files.flat(), modules }
}

/** Returns the oldest version of `engines` in package.json as a target of esbuild. */
function oldestNode(): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [version] = /\d+\.\d+/.exec(engines.node) ?? []
  if (version === undefined) throw new Error('package.json names no version of Node')
  return `node${version}`
}

/**
 * Declares that modules of the Kubernetes client may be left out if nothing of them is used. Its
 * package.json does not say so, and its models of all API objects take 80 MB when they are loaded.
 */
function sideEffectFree(): Plugin {
  return {
    name: 'the Kubernetes client has no side effects',
    setup({ onResolve, resolve }) {
      onResolve({ filter: PARTS }, async ({ path, pluginData, ...from }) => {
        const { importer, resolveDir, kind } = from
        const isOurs = path === KUBERNETES_CLIENT || importer.includes(`/${KUBERNETES_CLIENT}/`)
        if (!isOurs || pluginData === KUBERNETES_CLIENT) return undefined
        const options = { importer, resolveDir, kind, with: from.with }
        const found = await resolve(path, { ...options, pluginData: KUBERNETES_CLIENT })
        return { ...found, sideEffects: false }
      })
    },
  }
}

/**
 * Leaves out undici, 600 KB that only the `fetch` of the Kubernetes client uses, which we replace:
 * its configuration imports it as well.
 */
function withoutFetch(): Plugin {
  return {
    name: 'no undici',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^undici$/ }, ({ importer }) =>
        importer.includes(`/${KUBERNETES_CLIENT}/`)
          ? { path: 'undici', namespace: 'none' }
          : undefined,
      )
      onLoad({ filter: /^undici$/, namespace: 'none' }, () => ({
        contents: 'export const Agent = undefined, ProxyAgent = undefined, fetch = undefined',
      }))
    },
  }
}

/** Packages that are rarely used: those for proxies before the API server, and for YAML. */
const LAZY_PACKAGES: ReadonlySet<string> = new Set(['socks', 'socks-proxy-agent', 'yaml'])

/**
 * Loads Node's modules and some packages on first use. An import of a module of Node reads all of
 * its exports, and some exports load more: `node:http` loads Node's own undici, which takes 50 ms
 * of CPU time and 16 MB. A server without HTTPS does not need `node:http2`.
 */
function lazyModules(): Plugin {
  return {
    name: 'modules are loaded when they are used',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[\w:/-]+$/ }, async ({ path, kind }) => {
        if (kind !== 'import-statement') return undefined
        const isLazy = LAZY_PACKAGES.has(path) || isBuiltin(path)
        return isLazy ? { path, namespace: 'lazy' } : undefined
      })
      onLoad({ filter: /./, namespace: 'lazy' }, async ({ path }) => {
        const exported: object = await import(path)
        const load = isBuiltin(path) ? 'process.getBuiltinModule' : 'require'
        return {
          contents: `let loaded
          for (const name of ${JSON.stringify(Object.keys(exported))}) {
            const get = () => (loaded ??= ${load}('${path}'))[name]
            Object.defineProperty(exports, name, { get, enumerable: true })
          }`,
          resolveDir: ROOT,
        }
      })
    },
  }
}
