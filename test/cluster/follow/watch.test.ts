import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { describe, type TestContext, test, vi } from 'vitest'
import { ApiError, type Collection, type ObjectApi } from '../../../src/cluster/api/object-api.ts'
import { openApi } from '../../../src/cluster/follow/watch.ts'
import { freePort } from '../../free-port.ts'
import { within } from '../../server/clients.ts'
import {
  type Answer,
  EMPTY_LIST,
  NEVER,
  openWatch,
  sendJson,
  startHttpApi,
  watchFrom,
  watchLine,
} from './http-api.ts'
import { SERVICES } from './mirror.ts'

const PODS: Collection = {
  kind: 'Pod',
  resource: 'pods',
  path: '/api/v1/pods',
  fieldSelector: 'status.phase!=Failed',
}

/** Opens the API of a server that answers so. */
async function apiOf(t: TestContext, answer: Answer): Promise<ObjectApi> {
  const url = await startHttpApi(t, answer)
  return openApi({ kind: 'endpoint', url, tls: undefined })
}

describe('list', () => {
  test('requests pages of 500, from the continue token on, of selected objects', async (t) => {
    const asked: (string | undefined)[] = []
    const pages = [
      { items: [{ a: 1 }], metadata: { resourceVersion: '7', continue: 'next/+' } },
      { items: [], metadata: { resourceVersion: '7' } },
    ]
    const api = await apiOf(t, ({ url, headers }, response) => {
      asked.push(`${url} ${headers.accept}`)
      sendJson(response, pages.shift())
    })
    const first = await api.list(PODS, '', NEVER)
    assert.deepEqual(first, { items: [{ a: 1 }], resourceVersion: '7', continueToken: 'next/+' })
    const second = await api.list(SERVICES, first.continueToken, NEVER)
    assert.deepEqual(second, { items: [], resourceVersion: '7', continueToken: '' })
    assert.deepEqual(asked, [
      '/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed application/json',
      '/api/v1/services?limit=500&continue=next%2F%2B application/json',
    ])
  })

  const status = (message: string): string => JSON.stringify({ kind: 'Status', message })
  const refusals: {
    name: string
    code: number
    body: string
    error: { message: string; status: number | undefined }
  }[] = [
    {
      name: 'a token that is not known',
      code: 401,
      body: status('Unauthorized'),
      error: { message: 'Unauthorized', status: 401 },
    },
    {
      name: 'a page of a list that is too old',
      code: 410,
      body: status('The provided continue parameter is too old'),
      error: { message: 'The provided continue parameter is too old', status: 410 },
    },
    {
      name: 'a Status that says nothing',
      code: 403,
      body: status(''),
      error: { message: 'HTTP status 403', status: 403 },
    },
    {
      name: 'a page of a proxy',
      code: 502,
      body: '<h1>Bad Gateway</h1>',
      error: { message: 'HTTP status 502', status: 502 },
    },
    {
      name: 'JSON that is no object',
      code: 500,
      body: 'null',
      error: { message: 'HTTP status 500', status: 500 },
    },
    {
      name: 'a page that is no JSON',
      code: 200,
      body: '<h1>Log in</h1>',
      error: { message: 'the answer is not a list', status: undefined },
    },
    {
      name: 'an object in place of a list',
      code: 200,
      body: JSON.stringify({ ...EMPTY_LIST, items: {} }),
      error: { message: 'the answer is not a list', status: undefined },
    },
    {
      name: 'a list without its version',
      code: 200,
      body: JSON.stringify({ items: [], metadata: {} }),
      error: { message: 'the answer is not a list', status: undefined },
    },
  ]
  for (const { name, code, body, error } of refusals) {
    test(`fails with the server's message: ${name}`, async (t) => {
      const api = await apiOf(t, (_, response) => {
        response.writeHead(code)
        response.end(body)
      })
      await assert.rejects(api.list(SERVICES, '', NEVER), { name: 'ApiError', ...error })
    })
  }

  test('fails with the reason when there is no server', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const api = openApi({ kind: 'endpoint', url, tls: undefined })
    await assert.rejects(api.list(SERVICES, '', NEVER), {
      name: 'ApiError',
      status: undefined,
      message: `connect ECONNREFUSED ${url.replace('http://', '')}`,
    })
  })

  test('fails when the connection breaks within the answer', async (t) => {
    const api = await apiOf(t, (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"items":', () => response.destroy())
    })
    await assert.rejects(api.list(SERVICES, '', NEVER), { name: 'ApiError', status: undefined })
  })

  test('ends on its signal', async (t) => {
    const ended = new AbortController()
    const api = await apiOf(t, () => ended.abort())
    await assert.rejects(within(api.list(SERVICES, '', ended.signal), 'the end'), ApiError)
  })

  test('gives up after a minute', async (t) => {
    const time = new AbortController()
    const delays: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((delayMs: number) => {
      delays.push(delayMs)
      return time.signal
    })
    const api = await apiOf(t, () => {
      time.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    })
    await assert.rejects(within(api.list(SERVICES, '', NEVER), 'the end'), {
      name: 'ApiError',
      message: /timeout/,
    })
    assert.deepEqual(delays, [60_000])
  })
})

describe('watch', () => {
  test('asks from the version on, for bookmarks, for a time of its own', async (t) => {
    const asked: URL[] = []
    const api = await apiOf(t, ({ url = '' }, response) => {
      asked.push(new URL(url, 'http://127.0.0.1'))
      openWatch(response)
      response.end()
    })
    for (const chance of [0, 0.999]) {
      const mock = vi.spyOn(Math, 'random').mockImplementation(() => chance)
      await watchFrom(api, { collection: PODS }).done
      mock.mockRestore()
    }
    assert.deepEqual(
      asked.map(({ pathname }) => pathname),
      ['/api/v1/pods', '/api/v1/pods'],
    )
    assert.deepEqual(
      asked.map(({ searchParams }) => Object.fromEntries(searchParams)),
      ['300', '600'].map((timeoutSeconds) => ({
        watch: 'true',
        resourceVersion: '5',
        allowWatchBookmarks: 'true',
        timeoutSeconds,
        fieldSelector: 'status.phase!=Failed',
      })),
    )
  })

  test('reports that it is open, then each event, and ends when the server ends it', async (t) => {
    const gone = { code: 410, message: 'too old resource version' }
    const lines = [
      watchLine('ADDED', { a: 'ü' }),
      watchLine('BOOKMARK', { b: 2 }),
      watchLine('ERROR', gone),
    ].join('')
    const api = await apiOf(t, (_, response) => {
      openWatch(response)
      const bytes = Buffer.from(lines)
      // In the middle of a character, and of the second line.
      const cuts = [0, bytes.indexOf('ü') + 1, 50, bytes.length]
      for (const [i, end] of cuts.entries()) response.write(bytes.subarray(cuts[i - 1] ?? 0, end))
      response.end()
    })
    const { done, seen } = watchFrom(api)
    await done
    assert.deepEqual(seen, [
      'open',
      { type: 'ADDED', object: { a: 'ü' } },
      { type: 'BOOKMARK', object: { b: 2 } },
      { type: 'ERROR', object: gone },
    ])
  })

  for (const status of [401, 403, 410, 500]) {
    test(`fails with the status ${status} of a server that refuses`, async (t) => {
      const api = await apiOf(t, (_, response) => sendJson(response, {}, status))
      const { done, seen } = watchFrom(api)
      await assert.rejects(done, { name: 'ApiError', status })
      assert.deepEqual(seen, [])
    })
  }

  test('asks for the present objects first', async (t) => {
    const asked: string[] = []
    const api = await apiOf(t, ({ url = '' }, response) => {
      asked.push(new URL(url, 'http://127.0.0.1').search.replace(/timeoutSeconds=\d+&/, ''))
      response.end()
    })
    await api.watch(SERVICES, {
      resourceVersion: '',
      sendInitialEvents: true,
      onEvent: () => assert.fail(),
      onOpen: () => undefined,
      signal: NEVER,
    })
    const query = 'watch=true&resourceVersion=&allowWatchBookmarks=true'
    assert.deepEqual(asked, [`?${query}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`])
  })

  test('fails with a line that is not an event, which may be a change', async (t) => {
    const api = await apiOf(t, (_, response) => response.end('{"type":"ADDED","object":{\n'))
    await assert.rejects(watchFrom(api).done, { message: 'a line of the watch is not an event' })
  })

  test('fails with the message and the wait of a server that is busy', async (t) => {
    const api = await apiOf(t, (_, response) => {
      response.setHeader('retry-after', '2')
      sendJson(response, { message: 'too many requests' }, 429)
    })
    const error = { message: 'too many requests', status: 429, retryAfterMs: 2000 }
    await assert.rejects(watchFrom(api).done, error)
    await assert.rejects(api.list(SERVICES, '', NEVER), error)
  })

  test('fails with the reason when there is no server', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const { done, seen } = watchFrom(openApi({ kind: 'endpoint', url, tls: undefined }))
    await assert.rejects(done, { name: 'ApiError', status: undefined, message: /ECONNREFUSED/ })
    assert.deepEqual(seen, [])
  })

  test('fails when the connection breaks', async (t) => {
    const api = await apiOf(t, (_, response) => {
      openWatch(response)
      response.write(watchLine('ADDED', {}), () => response.destroy())
    })
    const { done, seen } = watchFrom(api)
    await assert.rejects(done, { name: 'ApiError', status: undefined })
    assert.deepEqual(seen, ['open', { type: 'ADDED', object: {} }])
  })

  for (const { name, begins } of [
    { name: 'after it was open', begins: true },
    { name: 'before the server answers', begins: false },
  ]) {
    test(`ends as usual when the server is silent for 90 s ${name}`, async (t) => {
      const asked = Promise.withResolvers<void>()
      const api = await apiOf(t, (_, response) => {
        if (begins) openWatch(response)
        asked.resolve()
      })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const { done, seen } = watchFrom(api)
      let isDone = false
      void done.finally(() => {
        isDone = true
      })
      await asked.promise
      while (begins && seen.length === 0) await setImmediate()
      vi.advanceTimersByTime(89_000)
      await setImmediate()
      assert.equal(isDone, false)
      vi.advanceTimersByTime(1000)
      await done
      assert.deepEqual(seen, begins ? ['open'] : [])
    })
  }

  test('sends nothing when it is ended before it begins', async (t) => {
    let requests = 0
    const api = await apiOf(t, (_, response) => {
      requests++
      sendJson(response, EMPTY_LIST)
    })
    const { done, seen } = watchFrom(api, { signal: AbortSignal.abort() })
    await done
    await api.list(SERVICES, '', NEVER)
    assert.deepEqual([requests, seen], [1, []])
  })

  test('ends at once before the server answers, and never opens', async (t) => {
    const ended = new AbortController()
    const asked = Promise.withResolvers<ServerResponse>()
    const api = await apiOf(t, (_, response) => asked.resolve(response))
    const { done, seen } = watchFrom(api, { signal: ended.signal })
    const response = await asked.promise
    ended.abort()
    await done
    const closed = once(response, 'close')
    openWatch(response)
    response.write(watchLine('ADDED', {}))
    await within(closed, 'the end of the connection')
    assert.deepEqual(seen, [])
  })

  test('ends on its signal, reports nothing more, and closes the connection', async (t) => {
    const ended = new AbortController()
    const asked = Promise.withResolvers<ServerResponse>()
    const api = await apiOf(t, (_, response) => {
      openWatch(response)
      response.write(watchLine('ADDED', {}) + watchLine('DELETED', {}))
      asked.resolve(response)
    })
    const seen: string[] = []
    await within(
      api.watch(SERVICES, {
        resourceVersion: '5',
        onEvent: ({ type }) => {
          seen.push(type)
          ended.abort()
        },
        onOpen: () => seen.push('open'),
        signal: ended.signal,
      }),
      'the end of the watch',
    )
    const response = await asked.promise
    if (!response.closed) await within(once(response, 'close'), 'the end of the connection')
    assert.deepEqual(seen, ['open', 'ADDED'])
  })
})

describe('send', () => {
  test('sends an object and resolves with the response', async (t) => {
    const asked: string[] = []
    const api = await apiOf(t, (request, response) => {
      void request.toArray().then((chunks) => {
        asked.push(`${request.method} ${request.url} ${request.headers['content-type']}`)
        asked.push(Buffer.concat(chunks).toString())
        sendJson(response, { b: 2 }, 201)
      })
    })
    const request = { method: 'PUT', path: '/one', resource: 'ones', body: { a: 1 } } as const
    assert.deepEqual(await api.send(request, NEVER), { b: 2 })
    assert.deepEqual(asked, ['PUT /one application/json', '{"a":1}'])
  })

  test('fails with the status of the response', async (t) => {
    const api = await apiOf(t, (_, response) => sendJson(response, { message: 'conflict' }, 409))
    const request = { method: 'GET', path: '/one', resource: 'ones' } as const
    await assert.rejects(api.send(request, NEVER), { message: 'conflict', status: 409 })
  })
})
