import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { createPage } from '../../../src/gateway/routes/page.ts'
import { withToken } from '../running.ts'

/** Bound of the page, compressed as servers and CDNs do. */
const PAGE_KIB = 60

async function open(isPublic = false): Promise<{ text: string; policy: string }> {
  const response = await new Hono().get('/', createPage(isPublic)).request('/')
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return {
    text: await response.text(),
    policy: response.headers.get('content-security-policy') ?? '',
  }
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

describe('the page', () => {
  test('runs only the script and the style that its policy names', async () => {
    const { text, policy } = await open()
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? []
    const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(text) ?? []
    assert.ok(policy.includes(`script-src ${sourceOf(script)};`))
    assert.ok(policy.includes(`style-src ${sourceOf(style)};`))
    assert.equal(text.match(/<script/g)?.length, 1)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  })

  test('has a heading to paint before its script, and without one', async () => {
    const { text } = await open()
    const [before = ''] = text.split('<script')
    assert.equal(before.match(/<h1>[\s\S]*?>kubedoh<\/h1>/g)?.length, 1)
    assert.ok(before.indexOf('<h1>') < before.indexOf('<noscript>'))
  })

  test('loads nothing', async () => {
    const { text } = await open()
    const markup = text.replace(/<script[\s\S]*<\/script>/, '')
    assert.doesNotMatch(markup, /<img|\ssrc=|@import|url\(|\son\w+=|href="(?!data:)/)
  })

  test(`has at most ${PAGE_KIB} KiB compressed`, async () => {
    const { text } = await open()
    assert.ok(gzipSync(text).length <= PAGE_KIB * 1024, String(gzipSync(text).length))
  })

  test('has an attribute for whether it needs a token', async () => {
    assert.match((await open(true)).text, /data-access="public"/)
    assert.match((await open()).text, /data-access="token"/)
  })

  test('is the same at the root and with any token, valid or not', async () => {
    const running = await withToken()
    const texts = await Promise.all(
      ['/', '/t/kdt_no_such/', '/t/%3Cscript%3E/'].map(async (path) => {
        const response = await running.get(path)
        assert.equal(response.status, 200, path)
        return response.text()
      }),
    )
    assert.equal(new Set(texts).size, 1)
    for (const path of ['/t/kdt_no_such/resolve/', '/t/kdt_no_such%2fdns-query']) {
      assert.equal((await running.get(path)).status, 404, path)
    }
  })
})
