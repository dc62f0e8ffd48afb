import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleWorker } from '../../demo/gateway.ts'

const ROOT = join(import.meta.dirname, '../..')

test('wrangler.toml binds the Durable Object that the Worker exports', async () => {
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const [, name, className] = /name = "(\w+)"\nclass_name = "(\w+)"/.exec(text) ?? []
  const [, migrated] = /new_sqlite_classes = \["(\w+)"\]/.exec(text) ?? []
  assert.equal(name, 'CLUSTER')
  assert.equal(className, migrated)
  const script = new TextDecoder().decode(await bundleWorker())
  const [, exported = ''] = /export\s*\{([^}]*)\};?\s*$/.exec(script) ?? []
  assert.ok(exported.split(',').some((item) => item.trim() === className))
  const [, main = ''] = /^main = "(.*)"$/m.exec(text) ?? []
  assert.match(readFileSync(join(ROOT, main), 'utf8'), /^export default \{$/m)
})
