import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { bundleWorker } from '../../build/worker.ts'

const ROOT = join(import.meta.dirname, '../..')

test('wrangler.toml binds the Durable Objects that the Worker exports', async () => {
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const bound = [...text.matchAll(/name = "(\w+)"\nclass_name = "(\w+)"/g)]
  assert.deepEqual(
    bound.map(([, name]) => name),
    ['CLUSTER', 'TOKENS', 'AUDIT'],
  )
  const classes = bound.map(([, , className = '']) => className)
  const migrated = [...text.matchAll(/new_sqlite_classes = \[(.*)\]/g)]
  assert.deepEqual(
    migrated.flatMap(([, names = '']) => [...names.matchAll(/"(\w+)"/g)].map(([, name]) => name)),
    classes,
  )
  const script = new TextDecoder().decode(await bundleWorker())
  // The licences of libraries come after the exports.
  const [, exported = ''] = [...script.matchAll(/export\s*\{([^}]*)\};?/g)].at(-1) ?? []
  const names = exported.split(',').map((item) => item.replace(/^.* as /, '').trim())
  for (const className of classes) assert.ok(names.includes(className), className)
  const [, main = ''] = /^main = "(.*)"$/m.exec(text) ?? []
  assert.match(readFileSync(join(ROOT, main), 'utf8'), /^export default \{$/m)
})

test('wrangler.toml keeps every log line, and no URL with a token', () => {
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const [, general = '', logs = ''] =
    /^\[observability\]\n((?:.+\n)*)\[observability\.logs\]\n((?:.+\n)*)/m.exec(text) ?? []
  assert.match(general, /^enabled = true$/m)
  assert.match(general, /^head_sampling_rate = 1$/m)
  assert.equal(logs, 'enabled = true\ninvocation_logs = false\n')
})
