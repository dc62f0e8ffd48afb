import assert from 'node:assert/strict'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { Input } from '../../src/cli/flags.ts'
import { callGateway } from '../../src/cli/operator-call.ts'
import { HttpServer } from '../../src/server/http-server.ts'
import { freePort } from '../server/clients.ts'

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
        : new Response('<html>', { status: 502 }),
    )
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    t.onTestFinished(() => server.close())
    await assert.rejects(callGateway(inputFor(url), 'GET', '/a'), {
      message: `${url}: No such thing`,
    })
    await assert.rejects(callGateway(inputFor(url), 'GET', '/b'), {
      message: `${url}: HTTP status 502`,
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
