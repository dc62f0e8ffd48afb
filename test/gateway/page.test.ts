import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPage } from '../../src/gateway/page.ts'

test('the page loads nothing, runs nothing and says how to ask', () => {
  const page = formatPage('https://dns.example.org')
  assert.match(page, /^<!doctype html>\n<html lang="en">/)
  assert.doesNotMatch(page, /<script|<link|<img|\ssrc=|@import|url\(|\son\w+=/)
  assert.match(page, /https:\/\/dns\.example\.org\/dns-query\?name=/)
  assert.match(page, /curl --doh-url/)
})

test('every element of the page that needs an end has one', () => {
  const page = formatPage('https://dns.example.org')
  for (const name of ['html', 'title', 'style', 'h1', 'h2', 'p', 'pre', 'code']) {
    const starts = page.match(new RegExp(`<${name}[ >]`, 'g'))?.length
    assert.equal(page.match(new RegExp(`</${name}>`, 'g'))?.length, starts, name)
  }
})

test('the page is not made of what somebody put in the URL', () => {
  const page = formatPage('https://<script>alert(1)</script>"')
  assert.doesNotMatch(page, /<script|\)<|"(?=\/dns-query)"/)
})
