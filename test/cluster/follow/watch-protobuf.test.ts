import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'vitest'
import {
  type Collection,
  collectionsFor,
  type ObjectApi,
} from '../../../src/cluster/api/object-api.ts'
import { PROTOBUF } from '../../../src/cluster/api/protobuf-objects.ts'
import { openApi } from '../../../src/cluster/follow/watch.ts'
import { type Answer, NEVER, sendJson, startHttpApi, watchFrom, watchLine } from './http-api.ts'
import { protobufEvent, protobufFrame, protobufMessage, protobufObject } from './protobuf.ts'

const BOTH = 'application/vnd.kubernetes.protobuf,application/json'

/** Opens the API of a server that answers so. */
async function apiOf(t: TestContext, answer: Answer): Promise<ObjectApi> {
  const url = await startHttpApi(t, answer)
  return openApi({ kind: 'endpoint', url, tls: undefined })
}

function services(): Collection {
  const all = collectionsFor({ tree: { kind: 'cluster' }, pods: 'disabled', hasEndpoints: true })
  const found = all.find(({ kind }) => kind === 'Service')
  assert.ok(found)
  return found
}

function send(response: ServerResponse, body: Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': PROTOBUF })
  response.end(body)
}

const WEB = protobufObject('v1 Service', [1, protobufMessage([1, 'web'], [6, '6'])])
const JSON_WEB = { metadata: { name: 'web', resourceVersion: '6' } }

describe('Protocol Buffers', () => {
  test('are asked for where we read them, in watches and in lists', async (t) => {
    const asked: (string | undefined)[] = []
    const api = await apiOf(t, ({ headers }, response) => {
      asked.push(headers.accept)
      sendJson(response, { items: [], metadata: { resourceVersion: '1' } })
    })
    const everything = collectionsFor({
      tree: { kind: 'multicluster' },
      pods: 'verified',
      hasEndpoints: true,
    })
    for (const collection of everything) await api.list(collection, '', NEVER)
    await watchFrom(api, { collection: services() }).done.catch(() => undefined)
    assert.deepEqual(
      [...everything.map(({ resource }) => resource), 'watch'].map((name, i) => [name, asked[i]]),
      [
        ['namespaces', BOTH],
        ['services', BOTH],
        ['serviceimports', 'application/json'],
        ['endpointslices', BOTH],
        ['pods', BOTH],
        ['watch', BOTH],
      ],
    )
  })

  test('are read from a watch', async (t) => {
    const api = await apiOf(t, (_, response) => {
      const frames = ['ADDED', 'BOOKMARK'].map((type) => protobufFrame(protobufEvent(type, WEB)))
      response.writeHead(200, { 'content-type': `${PROTOBUF};stream=watch` })
      response.end(Buffer.concat(frames))
    })
    const watched = watchFrom(api, { collection: services() })
    await watched.done
    const [added, bookmark] = ['ADDED', 'BOOKMARK'].map((type) => ({ type, object: JSON_WEB }))
    assert.deepEqual(watched.seen, ['open', added, bookmark])
  })

  test('are read from a page of a list', async (t) => {
    const meta = protobufMessage([2, '9'], [3, 'next'])
    const item = protobufMessage([1, protobufMessage([1, 'web'], [6, '6'])])
    const body = protobufObject('v1 ServiceList', [1, meta], [2, item])
    const api = await apiOf(t, (_, response) => send(response, body))
    assert.deepEqual(await api.list(services(), '', NEVER), {
      items: [JSON_WEB],
      resourceVersion: '9',
      continueToken: 'next',
    })
  })

  test('are read from a refusal', async (t) => {
    const body = protobufObject('v1 Status', [3, 'services is forbidden'], [6, 403])
    const api = await apiOf(t, (_, response) => send(response, body, 403))
    await assert.rejects(watchFrom(api, { collection: services() }).done, {
      message: 'services is forbidden',
      status: 403,
    })
  })

  test('that are none leave a refusal its status', async (t) => {
    const api = await apiOf(t, (_, response) => send(response, Buffer.from('<html>'), 410))
    await assert.rejects(watchFrom(api, { collection: services() }).done, {
      message: 'HTTP status 410',
      status: 410,
    })
  })

  test('end the watch where a message is invalid', async (t) => {
    const api = await apiOf(t, (_, response) => send(response, protobufFrame(Buffer.from('no'))))
    await assert.rejects(watchFrom(api, { collection: services() }).done, {
      message: /^a message of the API server is invalid: /,
    })
  })

  test('need not be sent: JSON is read as well', async (t) => {
    const api = await apiOf(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(watchLine('ADDED', JSON_WEB))
    })
    const watched = watchFrom(api, { collection: services() })
    await watched.done
    assert.deepEqual(watched.seen, ['open', { type: 'ADDED', object: JSON_WEB }])
  })
})
