import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import {
  beginsWith,
  cleanPath,
  keyPattern,
  nameOfKey,
  nameOfText,
} from '../../../../src/resolver/plugins/etcd/key-path.ts'

describe('cleanPath', () => {
  const cases: [path: string, clean: string][] = [
    ['/skydns', '/skydns'],
    ['skydns/', '/skydns'],
    ['//a//b/./c/', '/a/b/c'],
    ['a/../b', '/b'],
    ['../..', ''],
    ['', ''],
    ['/', ''],
  ]
  for (const [path, clean] of cases) {
    test(`makes "${clean}" of "${path}"`, () => {
      assert.equal(cleanPath(path), clean)
    })
  }
})

describe('keyPattern', () => {
  const cases: [name: string, path: string, parts: string | undefined][] = [
    ['www.example.org', '/skydns/org/example/www', undefined],
    ['.', '/skydns', undefined],
    ['*.example.org', '/skydns/org/example', '/skydns/org/example/*'],
    ['www.any.example.org', '/skydns/org/example', '/skydns/org/example/any/www'],
    ['*', '/skydns', '/skydns/*'],
    ['anyone.example.org', '/skydns/org/example/anyone', undefined],
    ['a\\.b.org', '/skydns/org/a\\.b', undefined],
    ['a/b.org', '/skydns/org/a/b', undefined],
    ['\\.\\..org', '/skydns/org/\\.\\.', undefined],
  ]
  for (const [name, path, parts] of cases) {
    test(name, () => {
      const pattern = { path, parts: parts?.split('/') }
      assert.deepEqual(keyPattern(nameOf(name), '/skydns'), pattern)
    })
  }
})

describe('beginsWith', () => {
  const cases: [key: string, parts: string, begins: boolean][] = [
    ['/skydns/org/a/b', '/skydns/org/*/b', true],
    ['/skydns/org/a/b/c', '/skydns/org/any/b', true],
    ['/skydns/org/a/c', '/skydns/org/*/b', false],
    ['/skydns/org', '/skydns/org/*', false],
    ['/skydns/org/', '/skydns/org/*', true],
  ]
  for (const [key, parts, begins] of cases) {
    test(`${key} ${begins ? 'begins' : 'does not begin'} with ${parts}`, () => {
      assert.equal(beginsWith(key, parts.split('/')), begins)
    })
  }
})

describe('nameOfKey', () => {
  const cases: [key: string, name: string | undefined][] = [
    ['/skydns/org/example/www', 'www.example.org.'],
    ['/skydns/org/example/', 'example.org.'],
    ['/other/path/org/www', 'www.org.path.'],
    ['/skydns', '.'],
    ['/skydns/org//www', undefined],
    ['/skydns/org/1.2', '1.2.org.'],
    ['/skydns/org/\xfc', '\\252.org.'],
  ]
  for (const [key, name] of cases) {
    test(key, () => {
      const found = nameOfKey(key)
      assert.equal(found && formatName(found), name)
    })
  }

  test('is the inverse of the path of a name', () => {
    const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/)
    fc.assert(
      fc.property(fc.array(label, { maxLength: 3 }), (labels) => {
        const name = nameOf(`${labels.join('.')}.example.org`.replace(/^\./, ''))
        fc.pre(!labels.includes('any'))
        assert.deepEqual(nameOfKey(keyPattern(name, '/skydns').path), name)
      }),
    )
  })
})

test('nameOfText reads letters beyond ASCII in UTF-8', () => {
  const found = nameOfText('bücher.example')
  assert.equal(found && formatName(found), 'b\\195\\188cher.example.')
  assert.equal(nameOfText('a..b'), undefined)
})
