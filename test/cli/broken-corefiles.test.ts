import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { runCli } from './run-cli.ts'

/** Corefiles with the mistakes that people make, each with what has to be said of it. */
const FOLDER = join(import.meta.dirname, '../corefile/broken')

describe('check explains how to fix a Corefile with', () => {
  for (const name of readdirSync(FOLDER)) {
    test(name.replaceAll('-', ' '), async () => {
      const folder = join(FOLDER, name)
      const messages = readFileSync(join(folder, 'messages'), 'utf8')
      const { status, stdout, stderr } = await runCli(['check', join(folder, 'Corefile')])
      assert.equal(stderr.replaceAll(`${folder}/`, ''), messages)
      assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
    })
  }
})
