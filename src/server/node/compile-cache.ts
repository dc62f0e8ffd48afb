/**
 * Compiled code of the bundle, kept beside it from one start to the next: a fifth of the CPU time
 * that `kubedoh serve` takes to start without a cluster.
 * @module
 */
// As a whole: Deno lacks these exports, and a missing one would end the program.
import * as nodeModule from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Uses compiled code of an earlier start, which is in `.cache` beside the bundle; call it before
 * the modules are imported. Code from another folder could be another user's. Does nothing in a
 * checkout, on Bun and Deno, and where the folder is missing and cannot be created.
 */
export function useCompileCache(entry: string): void {
  if (entry.endsWith('.js') && isNode())
    nodeModule.enableCompileCache(join(dirname(entry), '.cache'))
}

/** Writes the code that has been compiled so far, if it is kept: 1 MB at the first start. */
export function storeCompiledCode(): void {
  if (isNode()) nodeModule.flushCompileCache()
}

function isNode(): boolean {
  return process.versions.bun === undefined && !('Deno' in globalThis)
}
