import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HttpOptions } from '../../src/server/http/http-server.ts'
import { fakeApp } from '../gateway/doh/replies.ts'
import { sendRaw, statusOf, withServer } from './raw-http.ts'

describe('raw requests', () => {
  const type = 'Content-Type: application/dns-message\r\n'
  const post = `POST /dns-query HTTP/1.1\r\nHost: a\r\n${type}`
  const get = (path: string, headers = 'Host: a\r\n'): string =>
    `GET ${path} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`
  const good = 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB'

  const cases: { name: string; sent: string; status: number }[] = [
    { name: 'a query', sent: get(`/dns-query?dns=${good}`), status: 200 },
    { name: 'an absolute URL', sent: get(`http://a/dns-query?dns=${good}`), status: 200 },
    { name: 'HTTP/1.0', sent: `GET /dns-query?dns=${good} HTTP/1.0\r\n\r\n`, status: 400 },
    { name: 'two slashes', sent: get(`//dns-query?dns=${good}`), status: 404 },
    { name: 'an encoded slash', sent: get(`/%2fdns-query?dns=${good}`), status: 404 },
    { name: 'a URL of 20,000 characters', sent: get(`/${'a'.repeat(20_000)}`), status: 431 },
    { name: 'no host', sent: get('/dns-query', ''), status: 400 },
    { name: 'bytes', sent: '\x00\x01\xff\r\n\r\n', status: 400 },
    {
      name: 'Content-Length and Transfer-Encoding',
      sent: `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: 400,
    },
    {
      name: 'two Content-Lengths',
      sent: `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
      status: 400,
    },
    {
      name: 'a folded header',
      sent: `${post}X-A: b\r\n c: d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      status: 400,
    },
    {
      name: 'a Content-Length over the limit',
      sent: `${post}Content-Length: 100000000\r\n\r\n`,
      status: 413,
    },
  ]
  // RFC 9112 §3.2
  const hosts: readonly (readonly [headers: string, status: number])[] = [
    ['Host: a\r\nHost: a\r\n', 400],
    ['Host: a\r\nHost: b\r\n', 400],
    ['Host: a\r\nX: y\r\nHOST: b\r\n', 400],
    ['Host:\r\nHost:\r\n', 400],
    ['Host: a b\r\n', 400],
    ['Host: a, b\r\n', 400],
    ['Host: user@a\r\n', 400],
    ['Host: a/b\r\n', 400],
    ['Host: a:b\r\n', 400],
    ['Host: a:1:2\r\n', 400],
    ['Host: [::1\r\n', 400],
    ['Host: a\\b\r\n', 400],
    ['Host: \xff\r\n', 400],
    ['Host: a_b.C-d~:8053\r\n', 200],
    ['Host: [2001:db8::1]:443\r\n', 200],
    ['Host: 192.0.2.1\r\n', 200],
  ]
  const direct: NonNullable<HttpOptions['direct']> = () => () => {
    return { status: 200, headers: { 'x-by': 'direct' }, body: new Uint8Array(0) }
  }
  for (const [headers, status] of hosts) {
    test(`answers ${JSON.stringify(headers)} with ${status}`, async () => {
      const sent = get(`/dns-query?dns=${good}`, headers)
      for (const options of [{}, { direct }]) {
        await withServer(
          fakeApp(),
          async (port) => {
            assert.equal(statusOf(await sendRaw(port, sent)).split(' ')[1], String(status))
          },
          options,
        )
      }
    })
  }

  for (const { name, sent, status } of cases) {
    test(`answers ${name} with ${status}`, async () => {
      await withServer(fakeApp(), async (port) => {
        assert.equal(statusOf(await sendRaw(port, sent)).split(' ')[1], String(status))
      })
    })
  }

  test('accepts a chunked body', async () => {
    const chunks = '6\r\n\0\0\0\0\0\0\r\n6\r\n\0\0\0\0\0\0\r\n0\r\n\r\n'
    const sent = `${post}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`
    await withServer(fakeApp(), async (port) => {
      const text = await sendRaw(port, sent)
      assert.equal(statusOf(text), 'HTTP/1.1 200 OK')
      assert.match(text, /content-length: 12\r\n/)
    })
  })

  test('reads little of an endless body', async () => {
    const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`
    let sentBytes = 0
    await withServer(fakeApp(), async (port) => {
      const text = await sendRaw(port, `${post}Transfer-Encoding: chunked\r\n\r\n`, (write) => {
        while (sentBytes < 200_000_000) {
          sentBytes += chunk.length
          if (!write(chunk)) return
        }
      })
      assert.match(statusOf(text), / 413 /)
      // @hono/node-server drains 64 MiB at most; bytes in the kernel's buffers count as well.
      assert.ok(sentBytes < 100_000_000, `${sentBytes} bytes were sent`)
    })
  })

  test('does not answer a truncated body', async () => {
    await withServer(fakeApp(), async (port) => {
      const sent = `${post}Content-Length: 100\r\n\r\nabc`
      const text = await sendRaw(port, sent, (_, end) => {
        end()
      })
      assert.match(statusOf(text), / 400 /)
      assert.equal((await fetch(`http://127.0.0.1:${port}/dns-query?dns=${good}`)).status, 200)
    })
  })

  test('sends 100 Continue', async () => {
    await withServer(fakeApp(), async (port) => {
      const wait = 'Connection: close\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n'
      const text = await sendRaw(port, `${post}${wait}`, (write) => {
        write('\0'.repeat(12))
      })
      assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    })
  })

  test('closes on CONNECT', async () => {
    await withServer(fakeApp(), async (port) => {
      assert.equal(await sendRaw(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'), '')
    })
  })
})
