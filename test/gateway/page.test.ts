import assert from 'node:assert/strict'
import { test } from 'vitest'
import { formatPage } from '../../src/gateway/page.ts'

test('the page loads nothing, runs nothing and says how to ask', () => {
  const page = formatPage('https://dns.example.org', false)
  assert.match(page, /^<!doctype html>\n<html lang="en">/)
  assert.doesNotMatch(page, /<script|<link|<img|\ssrc=|@import|url\(|\son\w+=/)
  assert.match(page, /"https:\/\/dns\.example\.org\/resolve\?name=/)
  assert.match(page, /curl --doh-url/)
})

test('every element of the page that needs an end has one', () => {
  const page = formatPage('https://dns.example.org', false)
  for (const name of ['html', 'title', 'style', 'h1', 'h2', 'p', 'pre', 'code']) {
    const starts = page.match(new RegExp(`<${name}[ >]`, 'g'))?.length
    assert.equal(page.match(new RegExp(`</${name}>`, 'g'))?.length, starts, name)
  }
})

test('the page is not made of what somebody put in the URL', () => {
  const page = formatPage('https://<script>alert(1)</script>"', false)
  assert.doesNotMatch(page, /<script|\)<|"(?=\/dns-query)"/)
})

/** The lines of the page that are for a shell, as the browser shows them. */
function recipes(page: string): string[] {
  return [...page.matchAll(/<pre><code>([^<]*)<\/code>/g)].map(([, text = '']) =>
    text.replaceAll('&amp;', '&'),
  )
}

test('the recipes fit how the page was opened', () => {
  const name = 'SERVICE.NAMESPACE.svc.ZONE'
  assert.deepEqual(recipes(formatPage('https://dns.example.org', false)), [
    'TOKEN=kdt_ID_SECRET',
    `curl -H "Authorization: Bearer $TOKEN" "https://dns.example.org/resolve?name=${name}&type=A"`,
    `curl --doh-url "https://dns.example.org/t/$TOKEN/dns-query" http://${name}/`,
    'https://dns.example.org/t/kdt_ID_SECRET/dns-query',
  ])
  assert.deepEqual(recipes(formatPage('https://dns.example.org', true)), [
    `curl "https://dns.example.org/resolve?name=${name}&type=A"`,
    `curl --doh-url "https://dns.example.org/dns-query" http://${name}/`,
    'https://dns.example.org/dns-query',
  ])
  const plain = formatPage('http://127.0.0.1:8787', true)
  assert.deepEqual(recipes(plain), [`curl "http://127.0.0.1:8787/resolve?name=${name}&type=A"`])
  assert.match(
    plain,
    /curl --doh-url<\/h2>\n<p>These use DNS over HTTPS by <code>https:<\/code> URLs only/,
  )
})
