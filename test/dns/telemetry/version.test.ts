import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { PROGRAM, VERSION } from '../../../src/dns/telemetry/version.ts'

test('name and version are those of the package', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { name, version } = JSON.parse(text)
  assert.deepEqual([PROGRAM, VERSION], [name, version])
})
