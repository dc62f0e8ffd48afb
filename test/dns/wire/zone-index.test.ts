import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { isWithinZone, parseQuery } from '../../../src/dns/wire/query.ts'
import { labelledName, ZoneIndex } from '../../../src/dns/wire/zone-index.ts'
import { parseQuestion } from '../../message-text.ts'

function indexOf(...zones: readonly string[]): ZoneIndex<string> {
  const index = new ZoneIndex<string>()
  for (const zone of zones) index.set(nameOf(zone), zone)
  return index
}

function closest(index: ZoneIndex<string>, name: string): string | undefined {
  const query = parseQuery(parseQuestion(`${name} A`).message)
  return query.kind === 'query' ? index.closest(query) : assert.fail()
}

describe('the closest zone', () => {
  const index = indexOf('example.org', 'shop.example.org', 'org.test', 'b.org.test')
  const cases: [name: string, zone: string | undefined][] = [
    ['web.shop.example.org', 'shop.example.org'],
    ['shop.example.org', 'shop.example.org'],
    ['WEB.Shop.Example.ORG', 'shop.example.org'],
    ['web.workshop.example.org', 'example.org'],
    ['example.org', 'example.org'],
    ['org', undefined],
    ['a.b.c.org.test', 'org.test'],
    ['example.net', undefined],
    ['.', undefined],
  ]
  for (const [name, zone] of cases) {
    test(`of ${name} is ${zone ?? 'none'}`, () => {
      assert.equal(closest(index, name), zone)
      assert.equal(index.closest(labelledName(nameOf(name))), zone)
    })
  }

  test('is the next one above, once the closest is removed', () => {
    const changing = indexOf('example.org', 'shop.example.org')
    changing.delete(nameOf('shop.example.org'))
    changing.delete(nameOf('none.example.org'))
    assert.equal(closest(changing, 'web.shop.example.org'), 'example.org')
    changing.set(nameOf('shop.example.org'), 'again')
    assert.equal(closest(changing, 'web.shop.example.org'), 'again')
  })

  test('is the root, if it is a zone, for all other names', () => {
    const withRoot = indexOf('.', 'example.org')
    assert.equal(closest(withRoot, 'www.example.net'), '.')
    assert.equal(closest(withRoot, '.'), '.')
    assert.equal(closest(withRoot, 'www.example.org'), 'example.org')
  })

  test('is the closest one that is accepted', () => {
    const name = labelledName(nameOf('web.shop.example.org'))
    assert.equal(
      index.closest(name, (zone) => zone !== 'shop.example.org'),
      'example.org',
    )
    assert.equal(
      index.closest(name, () => false),
      undefined,
    )
  })

  test('is what a scan of all zones finds', () => {
    const zones = Array.from({ length: 500 }, (_, i) => `c${i}.k8s${i % 7}.example.org`)
    const many = indexOf(...zones)
    for (let i = 0; i < 1000; i++) {
      const name = `web.shop.svc.c${i % 600}.k8s${i % 5}.example.org`
      const query = parseQuery(parseQuestion(`${name} A`).message)
      if (query.kind !== 'query') return assert.fail()
      const scanned = zones.find((zone) => isWithinZone(query, nameOf(zone)))
      assert.equal(many.closest(query), scanned)
    }
  })
})

test('a zone has one value', () => {
  const index = indexOf('example.org')
  index.set(nameOf('example.org'), 'next')
  assert.equal(index.get(nameOf('example.org')), 'next')
  assert.equal(closest(index, 'www.example.org'), 'next')
  assert.equal(index.get(nameOf('org')), undefined)
})
