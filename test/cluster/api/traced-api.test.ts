/** The spans of lists and watches, as a collector would get them. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ApiError, type ObjectApi } from '../../../src/cluster/api/object-api.ts'
import { tracedApi } from '../../../src/cluster/api/traced-api.ts'
import type { Span } from '../../../src/dns/telemetry/span.ts'
import { Tracer } from '../../../src/dns/telemetry/tracer.ts'
import { SERVICES } from '../follow/mirror.ts'

const { signal } = new AbortController()
const INITIAL_END = { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } }
const calls = { onOpen: () => undefined, onEvent: () => undefined, resourceVersion: '', signal }

type Seen = Pick<Span, 'name' | 'kind' | 'tags'>

function traced(parts: Partial<ObjectApi>): { readonly api: ObjectApi; readonly seen: Seen[] } {
  const seen: Seen[] = []
  const add = (spans: readonly Span[]): void => {
    for (const { name, kind = 'internal', tags } of spans) {
      const { 'server.address': host, 'k8s.resource': resource, ...rest } = tags
      assert.deepEqual([host, resource], ['api.test:6443', 'services'])
      seen.push({ name, kind, tags: rest })
    }
  }
  const none = (): never => assert.fail('no request is expected')
  const clock = { now: () => 1, elapsed: () => 1, random16: () => 7 }
  const api = { host: 'api.test:6443', list: none, watch: none, send: none, ...parts }
  return { api: tracedApi(api, new Tracer({ add, stop: () => undefined }, clock)), seen }
}

test('a list has its objects, and a failed one its error', async () => {
  let isAway = false
  const { api, seen } = traced({
    list: async () => {
      if (isAway) throw new ApiError('the server is away')
      return { items: [1, 2], resourceVersion: '5', continueToken: '' }
    },
  })
  await api.list(SERVICES, '', signal)
  isAway = true
  await assert.rejects(api.list(SERVICES, '', signal), ApiError)
  assert.deepEqual(seen, [
    { name: 'list services', kind: 'client', tags: { 'k8s.objects': '2' } },
    { name: 'list services', kind: 'client', tags: { error: 'the server is away' } },
  ])
})

test('a watch that streams a list first is a list, then a watch', async () => {
  const { api, seen } = traced({
    watch: async (_, { onOpen, onEvent }) => {
      onOpen()
      for (const type of ['ADDED', 'BOOKMARK']) onEvent({ type, object: {} })
      assert.deepEqual(seen, [])
      onEvent({ type: 'BOOKMARK', object: INITIAL_END })
      assert.deepEqual(
        seen.map(({ name }) => name),
        ['list services'],
      )
      onEvent({ type: 'MODIFIED', object: {} })
      onEvent({ type: 'BOOKMARK', object: INITIAL_END })
    },
  })
  await api.watch(SERVICES, { ...calls, sendInitialEvents: true })
  assert.deepEqual(seen, [
    { name: 'list services', kind: 'client', tags: { 'k8s.events': '3' } },
    { name: 'watch services', kind: 'client', tags: { 'k8s.events': '2' } },
  ])
})

test('a watch ends with its connection, or with the refusal', async () => {
  let isOpen = true
  const { api, seen } = traced({
    watch: async (_, { onOpen, onEvent }) => {
      if (!isOpen) throw new ApiError('too old resource version', 410)
      onOpen()
      onEvent({ type: 'ADDED', object: {} })
    },
  })
  const got: string[] = []
  await api.watch(SERVICES, { ...calls, onEvent: ({ type }) => got.push(type) })
  isOpen = false
  await assert.rejects(api.watch(SERVICES, calls), ApiError)
  assert.deepEqual(got, ['ADDED'])
  assert.deepEqual(
    seen.map(({ name, tags }) => [name, tags]),
    [
      ['watch services', { 'k8s.events': '1' }],
      ['watch services', { 'k8s.events': '0', error: 'too old resource version' }],
    ],
  )
})
