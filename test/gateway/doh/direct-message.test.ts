import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import {
  badMessage,
  directRefusal,
  directResponse,
  isQuery,
  noAnswer,
  readDirect,
} from '../../../src/gateway/doh/direct-message.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { parseQuestion, writeReplyText } from '../../message-text.ts'

const { message: QUERY } = parseQuestion('www.example.org A')
const REPLY = writeReplyText(['NOERROR', 'www.example.org. 60 IN A 192.0.2.1'], QUERY)
const PATH = `/dns-query?dns=${encodeBase64url(QUERY)}`
const POST = { 'content-type': 'application/dns-message', 'content-length': '33' }

function read(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): unknown {
  return readDirect({ method, path, header: (name) => headers[name] })
}

describe('readDirect', () => {
  test('reads the message of a GET', () => {
    const expected = { isPost: false, message: QUERY, bytesMax: undefined }
    assert.deepEqual(read('GET', PATH), expected)
    assert.deepEqual(read('GET', PATH, { accept: 'application/dns-message' }), expected)
  })

  test('reads a route after a prefix of the path', () => {
    const header = (): undefined => undefined
    const path = `/t/kdt_a/${PATH.slice(1)}`
    assert.deepEqual(readDirect({ method: 'GET', path, header }, '/t/kdt_a'.length), {
      isPost: false,
      message: QUERY,
      bytesMax: undefined,
    })
    assert.equal(readDirect({ method: 'GET', path, header }, 3), undefined)
  })

  test('takes a POST whose body is still to come', () => {
    const expected = { isPost: true, message: undefined, bytesMax: undefined }
    assert.deepEqual(read('POST', '/dns-query', POST), expected)
  })

  test('limits the response to a POST that accepts anything, as curl sends it', () => {
    assert.deepEqual(read('POST', '/dns-query', { ...POST, accept: '*/*' }), {
      isPost: true,
      message: undefined,
      bytesMax: 2999,
    })
  })

  const left: { name: string; request: Parameters<typeof read> }[] = [
    { name: 'another method', request: ['PUT', '/dns-query', POST] },
    { name: 'another path', request: ['GET', PATH.replace('query', 'other')] },
    { name: 'another parameter beside', request: ['GET', `${PATH}&ct=x`] },
    { name: 'what is not base64url', request: ['GET', '/dns-query?dns=a=='] },
    { name: 'a message too short', request: ['GET', '/dns-query?dns=AAAA'] },
    { name: 'a response', request: ['GET', `/dns-query?dns=${encodeBase64url(REPLY)}`] },
    {
      name: 'a client that wants JSON',
      request: ['GET', PATH, { accept: 'application/dns-json' }],
    },
    { name: 'a POST at another path', request: ['POST', '/dns-query?x', POST] },
    { name: 'a POST of another type', request: ['POST', '/dns-query', { 'content-length': '33' }] },
    {
      name: 'a POST without its length',
      request: ['POST', '/dns-query', { 'content-type': 'application/dns-message' }],
    },
    {
      name: 'a POST that is too long',
      request: ['POST', '/dns-query', { ...POST, 'content-length': '65536' }],
    },
    {
      name: 'a POST that is encoded',
      request: ['POST', '/dns-query', { ...POST, 'content-encoding': 'gzip' }],
    },
  ]
  for (const { name, request } of left) {
    test(`leaves ${name} to the app`, () => {
      assert.equal(read(...request), undefined)
    })
  }
})

describe('responses', () => {
  test('say how long they may be kept, and by whom', () => {
    const kept = (isPrivate: boolean, isPost: boolean): string | undefined =>
      directResponse(REPLY, { isPrivate, isPost }).headers['cache-control']
    assert.deepEqual(
      [kept(false, false), kept(true, false), kept(false, true)],
      ['max-age=60, no-transform', 'private, max-age=60, no-transform', 'no-store, no-transform'],
    )
  })

  test('have the reply, and the headers that are added', () => {
    const { status, headers, body } = directResponse(
      REPLY,
      { isPrivate: false, isPost: false },
      { 'x-more': 'yes' },
    )
    assert.deepEqual([status, body, headers['x-more']], [200, REPLY, 'yes'])
    assert.equal(headers['content-length'], String(REPLY.length))
  })

  test('are errors when there is no reply, or no query', () => {
    const texts = [noAnswer(), badMessage(), new HttpError(405, 'no', 'Use GET')]
      .map((error) => directRefusal(error))
      .map(({ status, body }) => `${status} ${new TextDecoder().decode(body)}`)
    assert.deepEqual(texts, [
      '500 {"error":{"code":"no_answer","message":"The query gets no answer"}}\n',
      '400 {"error":{"code":"bad_message","message":"The message is not a DNS query"}}\n',
      '405 {"error":{"code":"no","message":"Use GET"}}\n',
    ])
  })
})

test('isQuery takes what may be one', () => {
  assert.equal(isQuery(QUERY), true)
  assert.equal(isQuery(REPLY), false)
  assert.equal(isQuery(QUERY.subarray(0, 11)), false)
})
