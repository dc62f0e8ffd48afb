/**
 * Objects on pages can be pasted into a file for `--objects` or `kubectl apply -f`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { readDocuments, readObjectFiles } from '../../src/cluster/api/object-files.ts'
import { objectBlocks } from './pages.ts'

const BLOCKS = objectBlocks()

function inFile<T>(text: string, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-objects-'))
  try {
    const path = join(folder, 'objects.yaml')
    writeFileSync(path, text)
    return use(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('objects on pages', () => {
  test('are on many pages', () => {
    assert.ok(BLOCKS.length >= 15)
  })

  for (const { place, page, text } of BLOCKS) {
    test(`${place} are documents as kubectl takes them`, () => {
      for (const document of inFile(text, readDocuments)) {
        assert.ok(typeof document === 'object' && document !== null && !Array.isArray(document))
        const { apiVersion, kind, metadata } = Object.fromEntries(Object.entries(document))
        assert.match(`${apiVersion} ${kind}`, /^([a-z0-9.]+\/)?v\w+ [A-Z]\w+$/)
        assert.match(metadata?.name ?? '', /^[a-z][a-z0-9-]*$/)
      }
    })

    if (page.startsWith('docs/sources/')) {
      test(`${place} have names, as --objects reads them`, () => {
        const { objects, warnings } = inFile(text, (path) => readObjectFiles([path]))
        assert.deepEqual(warnings, [])
        assert.ok(objects.length > 0)
      })
    }
  }
})
