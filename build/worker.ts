/**
 * Bundles the gateway's Worker as it is deployed, and other modules that use Web APIs only.
 * @module
 */
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildAssets } from './assets.ts'

const ENTRY = join(import.meta.dirname, '../worker/index.ts')
const bundles = new Map<string, Promise<Uint8Array>>()

/**
 * Bundles a module without modules of Node, once per process: tests start many gateways. Returns
 * the script.
 * @throws {Error} when the module cannot be bundled
 */
export function bundleWorker(entry: string = ENTRY): Promise<Uint8Array> {
  const bundle = bundles.get(entry) ?? bundleModule(entry)
  bundles.set(entry, bundle)
  return bundle
}

async function bundleModule(entry: string): Promise<Uint8Array> {
  await buildAssets()
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'error',
  })
  const [script] = outputFiles
  if (script === undefined) throw new Error('Cannot bundle the Worker: there is no output')
  return script.contents
}
