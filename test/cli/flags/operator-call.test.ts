import assert from 'node:assert/strict'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { Input } from '../../../src/cli/flags/flags.ts'
import {
  callGateway,
  formatColumns,
  readGatewayUrl,
  trimToken,
} from '../../../src/cli/flags/operator-call.ts'
import { HttpServer } from '../../../src/server/http/http-server.ts'
import { CommandError } from '../../../src/server/node/output.ts'
import { freePort } from '../../free-port.ts'

function inputFor(url: string, admin = 'secret'): Input {
  return new Input([], new Map([['gateway', [url]]]), { KUBEDOH_ADMIN_TOKEN: admin })
}

function serverOf(answer: (request: Request) => Response): HttpServer {
  return new HttpServer(new Hono().all('*', (c) => answer(c.req.raw)))
}

describe('callGateway', () => {
  test('sends the token and returns the body', async (t) => {
    const server = serverOf((request) => new Response(request.headers.get('authorization')))
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    t.onTestFinished(() => server.close())
    assert.equal(await callGateway(inputFor(url), 'GET', '/v1/tokens'), 'Bearer secret')
  })

  test('reports the message of the gateway, or its status', async (t) => {
    const server = serverOf(({ url: asked }) =>
      asked.endsWith('/a')
        ? Response.json({ error: { message: 'No such thing' } }, { status: 404 })
        : new Response('<html>', { status: asked.endsWith('/b') ? 502 : 401 }),
    )
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    t.onTestFinished(() => server.close())
    await assert.rejects(callGateway(inputFor(url), 'GET', '/a'), {
      message: `${url}: No such thing`,
    })
    await assert.rejects(callGateway(inputFor(url), 'GET', '/b'), {
      message: `${url}: HTTP status 502`,
    })
    await assert.rejects(callGateway(inputFor(url), 'GET', '/c'), {
      message: `${url}: HTTP status 401; the token in KUBEDOH_ADMIN_TOKEN is not this gateway's: set another one`,
    })
  })

  test('reports a missing token and an unreachable gateway', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    await assert.rejects(
      callGateway(inputFor(url, ''), 'GET', '/'),
      /KUBEDOH_ADMIN_TOKEN is not set/,
    )
    await assert.rejects(callGateway(inputFor(url, 's3\ncret'), 'GET', '/'), {
      message: 'KUBEDOH_ADMIN_TOKEN contains a space or another character that tokens cannot have',
    })
    await assert.rejects(callGateway(inputFor(url), 'GET', '/'), /ECONNREFUSED/)
  })
})

test('formatColumns aligns cells, without trailing spaces', () => {
  const rows = [
    ['ID', 'NAME', ''],
    ['1', 'a long one', 'x'],
    ['12345', '', ''],
  ]
  assert.equal(formatColumns(rows), 'ID     NAME\n1      a long one  x\n12345\n')
  assert.equal(formatColumns([]), '')
})

function read(url: string, environment: Readonly<Record<string, string>> = {}): string {
  const given = new Map<string, string[]>([['gateway', [url]]])
  return readGatewayUrl(new Input([], given, environment))
}

describe('a token', () => {
  test('is trimmed', () => {
    assert.equal(trimToken(' kdt_a_b\n', 'KUBEDOH_TOKEN'), 'kdt_a_b')
    assert.equal(trimToken('', 'KUBEDOH_TOKEN'), '')
  })

  for (const text of ['kdt_a\nb', 'kdt_a b', 'kdt_ä']) {
    test(`is refused, and not printed: ${JSON.stringify(text)}`, () => {
      const message = 'KUBEDOH_TOKEN contains a space or another character that tokens cannot have'
      assert.throws(() => trimToken(text, 'KUBEDOH_TOKEN'), { name: 'CommandError', message })
    })
  }

  test('is rejected in the URL of a gateway, and not printed', () => {
    const message = '--gateway has a user or password; set the token in its variable instead'
    assert.throws(() => read('https://x:s3cret@dns.example.org'), { message })
  })
})

describe('the gateway of a command', () => {
  for (const url of [
    'https://dns.example.org',
    'http://127.0.0.1:8787',
    'http://[::1]:1',
    'http://localhost',
  ]) {
    test(`may be ${url}`, () => {
      assert.equal(read(url), url)
    })
  }

  test('can be any http:// URL with KUBEDOH_INSECURE', () => {
    assert.equal(
      read('http://dns.example.org', { KUBEDOH_INSECURE: '1' }),
      'http://dns.example.org',
    )
  })

  for (const url of ['http://dns.example.org', 'dns.example.org', 'ftp://127.0.0.1', '']) {
    test(`may not be "${url}"`, () => {
      assert.throws(() => read(url), CommandError)
    })
  }
})
