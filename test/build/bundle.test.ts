/**
 * The bundle has the same bytes in whatever order esbuild finds its modules.
 * @module
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Plugin } from 'esbuild'
import { test } from 'vitest'
import { bundle } from '../../build/bundle.ts'

const ENTRY = join(import.meta.dirname, '../../src/server/watch-worker.ts')
const LATE_MS = 1500
/** How some modules of the Kubernetes client import one that others import by `../`. */
const IN_TWO_WAYS = /^\.\/rxjsStub\.js$/

/** Makes esbuild see some imports after all others. */
function late(filter: RegExp): Plugin {
  return {
    name: 'late imports',
    setup({ onResolve }) {
      onResolve({ filter }, async () => {
        await delay(LATE_MS)
        return undefined
      })
    },
  }
}

/** Bundles the thread of large clusters, which loads the client when it needs it. */
async function hashedNames(plugins: Plugin[]): Promise<string[]> {
  const { files } = await bundle([ENTRY], { plugins })
  return files.map(({ name }) => name).sort()
}

test('a bundle is the same in whatever order its modules are found', async () => {
  assert.deepEqual(await hashedNames([late(IN_TWO_WAYS)]), await hashedNames([]))
})
