/**
 * Folders that go with their test.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

/** Makes a folder that is removed when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-test-'))
  t.onTestFinished(() => void rmSync(folder, { recursive: true, force: true }))
  return folder
}
