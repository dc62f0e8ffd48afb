import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { ZoneMap } from '../../../../src/resolver/plugins/file/serve-zone.ts'

function mapOf(...zones: string[]): ZoneMap<string> {
  const map = new ZoneMap<string>()
  for (const zone of zones) map.set(nameOf(zone), zone)
  return map
}

describe('the closest zone', () => {
  const map = mapOf('example.org', 'a.b.Example.org', 'net')
  const cases: { name: string; is: string | undefined }[] = [
    { name: 'example.org', is: 'example.org' },
    { name: 'www.EXAMPLE.org', is: 'example.org' },
    { name: 'b.example.org', is: 'example.org' },
    { name: 'x.A.b.example.org', is: 'a.b.Example.org' },
    { name: 'xexample.org', is: undefined },
    { name: 'org', is: undefined },
    { name: 'x.y.net', is: 'net' },
    { name: '.', is: undefined },
  ]
  for (const { name, is } of cases) {
    test(`above ${name} is ${is ?? 'none'}`, () => {
      assert.equal(map.closest(nameOf(name)), is)
    })
  }

  test('may be the root', () => {
    assert.equal(mapOf('.', 'org').closest(nameOf('example.net')), '.')
    assert.equal(mapOf('.', 'org').closest(nameOf('.')), '.')
  })
})

describe('zones', () => {
  test('are found by their names, replaced and taken away', () => {
    const map = mapOf('a.test', 'b.test')
    map.set(nameOf('A.test'), 'other')
    assert.deepEqual([...map.values()], ['other', 'b.test'])
    assert.equal(map.get(nameOf('x.a.test')), undefined)
    assert.equal(map.get(nameOf('a.TEST')), 'other')
    map.delete(nameOf('a.test'))
    assert.deepEqual([...map.values()], ['b.test'])
  })
})
