import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openApi } from '../../../src/cluster/follow/watch.ts'
import { EMPTY_LIST, NEVER, sendJson, startHttpApi } from './http-api.ts'
import { SERVICES } from './mirror.ts'

const PODS = { ...SERVICES, resource: 'pods', path: '/api/v1/pods' }

describe('a page of large objects', () => {
  test('requests fewer objects at once after a page over 4 MiB', async (t) => {
    const asked: string[] = []
    const url = await startHttpApi(t, ({ url: path = '' }, response) => {
      asked.push(path)
      const limit = Number(/limit=(\d+)/.exec(path)?.[1])
      const items = Array.from({ length: limit }, () => ({ text: 'x'.repeat(50_000) }))
      sendJson(response, { ...EMPTY_LIST, items })
    })
    const api = openApi({ kind: 'endpoint', url, tls: undefined })
    for (const token of ['', 'next']) {
      const { items } = await api.list(SERVICES, token, NEVER)
      assert.equal(items.length, 62)
    }
    assert.equal((await api.list(PODS, '', NEVER)).items.length, 62)
    assert.deepEqual(
      asked.map((one) => one.replace(/^.*\/|&field.*/g, '')),
      [
        ...['services?limit=500', 'services?limit=250', 'services?limit=125', 'services?limit=62'],
        'services?limit=62&continue=next',
        ...['pods?limit=500', 'pods?limit=250', 'pods?limit=125', 'pods?limit=62'],
      ],
    )
  })

  test('takes a single object of more than 4 MiB', async (t) => {
    const url = await startHttpApi(t, ({ url: path = '' }, response) => {
      const isAlone = path.includes('limit=1&') || path.endsWith('limit=1')
      sendJson(response, { ...EMPTY_LIST, items: [isAlone, 'x'.repeat(5_000_000)] })
    })
    const api = openApi({ kind: 'endpoint', url, tls: undefined })
    assert.equal((await api.list(SERVICES, '', NEVER)).items[0], true)
  })
})
