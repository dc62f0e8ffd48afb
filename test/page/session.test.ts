import assert from 'node:assert/strict'
import { test } from 'vitest'
import { keepToken, readPerson, readToken, takeToken } from '../../page/session.ts'

function storage(): { items: Map<string, string> } & Parameters<typeof keepToken>[0] {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }
}

test('the token of a link goes into the tab, and out of the address', () => {
  const kept = storage()
  const paths: string[] = []
  const tab = { storage: kept, replacePath: (path: string) => void paths.push(path) }
  assert.equal(takeToken({ ...tab, path: '/t/kdt_ab_cd/' }), 'kdt_ab_cd')
  assert.deepEqual(paths, ['/'])
  assert.equal(takeToken({ ...tab, path: '/' }), 'kdt_ab_cd')
  keepToken(kept, '')
  assert.equal(takeToken({ ...tab, path: '/' }), '')
})

test('a link without a valid token leaves none, and no address with one', () => {
  for (const path of ['/t/%zz/', '/t/%0a/', '/t/a%20b/', '/t/<script>/']) {
    const paths: string[] = []
    const token = takeToken({
      storage: storage(),
      path,
      replacePath: (to: string) => void paths.push(to),
    })
    assert.deepEqual([token, paths], ['', ['/']], path)
  }
})

test('a pasted token or link gives the token', () => {
  const cases: [string, string][] = [
    [' kdt_ab_cd\n', 'kdt_ab_cd'],
    ['https://dns.example.org/t/kdt_ab_cd/', 'kdt_ab_cd'],
    ['https://dns.example.org/t/kdt_ab_cd/dns-query', 'kdt_ab_cd'],
    ['a b', ''],
    ['\u202ekdt', ''],
    ['x'.repeat(4097), ''],
    ['', ''],
  ]
  for (const [pasted, token] of cases) assert.equal(readToken(pasted), token, pasted)
})

test('a browser that forbids storage has no token at the next start', () => {
  const forbid = (): never => {
    throw new Error('forbidden')
  }
  const refused = { getItem: forbid, setItem: forbid, removeItem: forbid }
  keepToken(refused, 'kdt_ab_cd')
  assert.equal(takeToken({ storage: refused, path: '/', replacePath: forbid }), '')
})

test('the person of a login goes with its token', () => {
  const kept = storage()
  const person = { name: 'ada', issuer: 'https://sso.example.com', untilMs: 1 }
  assert.equal(readPerson(kept), undefined)
  keepToken(kept, 'kdt_ab_cd', person)
  assert.deepEqual(readPerson(kept), person)
  keepToken(kept, 'kdt_other')
  assert.equal(readPerson(kept), undefined)
  keepToken(kept, 'kdt_ab_cd', person)
  keepToken(kept, '')
  assert.deepEqual([...kept.items], [])
  kept.setItem('kubedoh-person', '{"name":1}')
  assert.equal(readPerson(kept), undefined)
})
