/**
 * The bundle has the same bytes in whatever order esbuild finds its modules.
 * @module
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { test } from 'vitest'
import { bundle } from '../../build/bundle.ts'

/** The thread of large clusters loads the Kubernetes client when it needs it. */
const ENTRY = join(import.meta.dirname, '../../src/server/serve/watch-worker.ts')

/** Makes esbuild find a module of the Kubernetes client by one of the paths that import it. */
function foundBy(path: string): Plugin {
  const found = Promise.withResolvers<undefined>()
  return {
    name: 'the order of imports',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\/rxjsStub\.js$/ }, (args) =>
        args.path === path ? undefined : found.promise,
      )
      onLoad({ filter: /\/rxjsStub\.js$/ }, () => {
        found.resolve(undefined)
        return undefined
      })
    },
  }
}

async function hashedNames(plugin: Plugin): Promise<string[]> {
  const { files } = await bundle([ENTRY], { plugins: [plugin] })
  return files.map(({ name }) => name).sort()
}

test('a bundle is the same in whatever order its modules are found', async () => {
  const first = await hashedNames(foundBy('./rxjsStub.js'))
  assert.deepEqual(await hashedNames(foundBy('../rxjsStub.js')), first)
})
