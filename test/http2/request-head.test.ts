import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER_LIST_BYTES_KEPT } from '../../src/http2/bounds.ts'
import { HeaderField } from '../../src/http2/header-field.ts'
import {
  findHeader,
  isTrailers,
  type RequestHead,
  RequestHeads,
  readRequestHead,
} from '../../src/http2/request-head.ts'
import type { Field } from './hpack-encoder.ts'
import { GET, POST } from './peer.ts'

function listOf(fields: readonly Field[]): Parameters<typeof readRequestHead>[0] {
  const all = fields.map(([name, value]) => new HeaderField(name, value))
  return asList(all)
}

function asList(fields: readonly HeaderField[]): Parameters<typeof readRequestHead>[0] {
  const size = fields.reduce((sum, field) => sum + field.size, 0)
  return { fields, isValid: fields.every(({ isValid }) => isValid), isTooLarge: false, size }
}

describe('readRequestHead', () => {
  test('reads a request', () => {
    const head = readRequestHead(listOf([...POST, ['content-length', '12']]))
    const { method, scheme, authority, path, contentLength } = head ?? {}
    const wanted = ['POST', 'https', 'a.example', '/', 12]
    assert.deepEqual([method, scheme, authority, path, contentLength], wanted)
  })

  const without = (name: string): Field[] => GET.filter((field) => field[0] !== name)
  const taken: readonly (readonly [string, readonly Field[]])[] = [
    ['no authority', without(':authority')],
    ['a host in place of the authority', [...without(':authority'), ['host', 'a']]],
    ['a host like the authority', [...GET, ['host', 'a.example']]],
    ['a length that is told twice', [...GET, ['content-length', '0'], ['content-length', '0']]],
    [
      'OPTIONS of everything',
      [
        [':method', 'OPTIONS'],
        [':scheme', 'https'],
        [':path', '*'],
      ],
    ],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'a:1'],
      ],
    ],
  ]
  for (const [name, fields] of taken) {
    test(`takes ${name}`, () => assert.ok(readRequestHead(listOf(fields)) !== undefined))
  }

  const refused: readonly (readonly [string, readonly Field[]])[] = [
    ['no method', without(':method')],
    ['no scheme', without(':scheme')],
    ['no path', without(':path')],
    ['an empty path', [...without(':path'), [':path', '']]],
    ['a path that is none', [...without(':path'), [':path', 'a']]],
    ['a path with a blank', [...without(':path'), [':path', '/a b']]],
    ['a path with a tab', [...without(':path'), [':path', '/a\tb']]],
    ['GET of everything', [...without(':path'), [':path', '*']]],
    ['two methods', [...GET, [':method', 'GET']]],
    ['two authorities', [...GET, [':authority', 'a.example']]],
    ['two hosts', [...GET, ['host', 'a.example'], ['host', 'a.example']]],
    ['a pseudo-header field after others', [['a', 'b'], ...GET]],
    ['one that is not known', [...GET, [':protocol', 'websocket']]],
    ['one of responses', [...GET, [':status', '200']]],
    ['another host than the authority', [...GET, ['host', 'b.example']]],
    ['a name before the host', [...without(':authority'), [':authority', 'u@a.example']]],
    ['two lengths', [...GET, ['content-length', '1'], ['content-length', '2']]],
    ['a length that is none', [...GET, ['content-length', '-1']]],
    ['CONNECT with a path', [...GET.slice(1), [':method', 'CONNECT']]],
    ['a field that may not be there', [...GET, ['connection', 'close']]],
  ]
  for (const [name, fields] of refused) {
    test(`refuses ${name}`, () => assert.equal(readRequestHead(listOf(fields)), undefined))
  }
})

describe('isTrailers', () => {
  test('takes fields, and no pseudo-header fields', () => {
    assert.equal(isTrailers(listOf([['a', 'b']])), true)
    assert.equal(isTrailers(listOf([])), true)
    assert.equal(isTrailers(listOf([[':path', '/']])), false)
    assert.equal(isTrailers(listOf([['A', 'b']])), false)
  })
})

describe('findHeader', () => {
  const { fields } = listOf([
    ['a', '1'],
    ['cookie', 'x=1'],
    ['a', '2'],
    ['cookie', 'y=2'],
  ])
  for (const [name, value] of [
    ['a', '1, 2'],
    ['cookie', 'x=1; y=2'],
    ['b', undefined],
  ] as const) {
    test(`finds ${name}`, () => assert.equal(findHeader(fields, name), value))
  }
})

describe('RequestHeads', () => {
  const all = [...POST, ['accept', 'a']].map(
    ([name = '', value = '']) => new HeaderField(name, value),
  )
  const withField = (name: string, value: string): HeaderField[] =>
    all.map((field) => (field.name === name ? new HeaderField(name, value) : field))

  function read(lists: readonly (readonly HeaderField[])[]): (RequestHead | undefined)[] {
    const heads = new RequestHeads()
    return lists.map((fields) => heads.read(asList(fields)))
  }

  /** What is read after others is what is read alone. */
  function assertSame(before: readonly HeaderField[], fields: readonly HeaderField[]): void {
    const [, after] = read([before, fields])
    const alone = readRequestHead(asList(fields))
    for (const part of ['method', 'scheme', 'authority', 'path', 'contentLength'] as const) {
      assert.equal(after?.[part], alone?.[part], part)
    }
    assert.deepEqual(after?.fields, alone?.fields)
    for (const name of ['accept', 'content-length', 'host']) {
      assert.equal(after?.header(name), alone?.header(name), name)
    }
  }

  test('reads what differs from the head before as it reads it alone', () => {
    const [first, ...rest] = all
    assert.ok(first !== undefined)
    for (const fields of [
      all,
      withField(':path', '/b'),
      withField(':path', 'b'),
      withField(':path', '/b c'),
      withField(':method', 'GET'),
      withField(':authority', 'b@c'),
      withField('accept', 'b'),
      withField('accept', 'b ').map((field) => (field.isPseudo ? field : (all[0] ?? field))),
      rest,
      [...all, new HeaderField(':path', '/')],
      [...all.slice(0, -1), new HeaderField(':path', '/')],
      [...all, new HeaderField('content-length', '3')],
      [...rest, first],
    ]) {
      assertSame(all, fields)
      assertSame(withField(':path', '/b'), fields)
    }
  })

  test('reads the same fields once', () => {
    const [one, other, third] = read([all, all, withField(':path', '/b')])
    assert.equal(one, other)
    assert.deepEqual([third?.path, third?.header('accept')], ['/b', 'a'])
  })

  test('keeps no list that is large', () => {
    const large = [...all, new HeaderField('b', 'c'.repeat(HEADER_LIST_BYTES_KEPT))]
    const [one, other] = read([large, large])
    assert.notEqual(one, other)
  })
})
