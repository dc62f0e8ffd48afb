/** The module with what the gateway serves: written once for the same sources. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { buildAssets } from '../../build/assets.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const BUILT = join(import.meta.dirname, '../../src/gateway/built')

test('assets are built again only when they are not of these sources', async (t) => {
  const target = join(temporaryFolder(t), 'assets.js')
  assert.equal(await buildAssets(target), true)
  const built = readFileSync(target, 'utf8')
  assert.equal(await buildAssets(target), false)
  writeFileSync(target, built.replace('// ', '// x'))
  assert.equal(await buildAssets(target), true)
  assert.equal(readFileSync(target, 'utf8'), built)
})

test('vitest has built the assets, and their declaration names each of them', async () => {
  assert.equal(await buildAssets(), false)
  const declaration = readFileSync(join(BUILT, 'assets.d.ts'), 'utf8')
  const declared = [...declaration.matchAll(/^export declare const (\w+)/gm)].map(
    ([, name]) => name,
  )
  assert.deepEqual(Object.keys(await import(join(BUILT, 'assets.js'))), declared.sort())
})
