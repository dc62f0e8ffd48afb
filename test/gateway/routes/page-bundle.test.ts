import assert from 'node:assert/strict'
import { inflateRawSync } from 'node:zlib'
import { test } from 'vitest'
import { bundlePage, formatModule } from '../../../build/page.ts'
import { PAGE_PARTS, SCRIPT_SOURCE, STYLE_SOURCE } from '../../../src/gateway/routes/page-bundle.ts'

test('the committed page is that of its sources: else run `npm run page`', async () => {
  const parts = await bundlePage()
  // Compressed bytes may differ between versions of zlib.
  assert.deepEqual(JSON.parse(inflateRawSync(Buffer.from(PAGE_PARTS, 'base64')).toString()), parts)
  const written = formatModule(parts)
  for (const source of [SCRIPT_SOURCE, STYLE_SOURCE]) assert.ok(written.includes(source))
  assert.ok(written.split('\n').every((line) => line.length <= 100))
})
