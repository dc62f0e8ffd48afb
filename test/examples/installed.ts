/**
 * An example as a user has it: a copy of its folder, with the package installed.
 * @module
 */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')

/** Copies an example, and returns the folder of the copy. @param packed folder of the package */
export function installExample(t: TestContext, name: string, packed: string): string {
  const folder = temporaryFolder(t, { 'package.json': '{"dependencies":{"kubedoh":"*"}}' })
  cpSync(join(EXAMPLES, name), folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packed, join(folder, 'node_modules/kubedoh'))
  return folder
}

/** Writes a file into the folder of an example, and returns its path. */
export function addFile(folder: string, name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
