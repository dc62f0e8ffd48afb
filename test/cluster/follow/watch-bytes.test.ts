import assert from 'node:assert/strict'
import { test } from 'vitest'
import { openApi } from '../../../src/cluster/follow/watch.ts'
import { NEVER, openWatch, sendJson, startHttpApi, watchLine } from './http-api.ts'
import { SERVICES } from './mirror.ts'

test('a page reports its bytes before it is parsed', async (t) => {
  const url = await startHttpApi(t, (_, response) => {
    sendJson(response, { items: [], metadata: { resourceVersion: '1' } })
  })
  const api = openApi({ kind: 'endpoint', url, tls: undefined })
  const sizes: number[] = []
  await api.list(SERVICES, '', NEVER, (bytes) => sizes.push(bytes))
  assert.deepEqual(sizes, [47])
})

test('an event reports its bytes, and is not parsed if that ends the watch', async (t) => {
  const first = watchLine('ADDED', { a: 1 })
  const url = await startHttpApi(t, (_, response) => {
    openWatch(response)
    response.end(`${first}not parsed\nnor this\n`)
  })
  const api = openApi({ kind: 'endpoint', url, tls: undefined })
  const [sizes, events]: [number[], string[]] = [[], []]
  const ended = new AbortController()
  await api.watch(SERVICES, {
    resourceVersion: '5',
    signal: ended.signal,
    onOpen: () => undefined,
    onBytes: (bytes) => {
      sizes.push(bytes)
      if (sizes.length === 2) ended.abort()
    },
    onEvent: ({ type }) => events.push(type),
  })
  assert.deepEqual([sizes, events], [[first.length - 1, 10], ['ADDED']])
})
