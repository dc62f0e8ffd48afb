import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { hasData, writeConfigMap } from '../../../src/operators/openshift/config-map.ts'
import { FakeObjects } from './fake-objects.ts'

const NAME = { namespace: 'a', name: 'b' }
const PATH = '/api/v1/namespaces/a/configmaps/b'
const { signal } = new AbortController()

describe('writeConfigMap', () => {
  it('keeps the metadata, and loses against a faster writer', async () => {
    const api = new FakeObjects()
    const write = (before: unknown, text: string): Promise<void> =>
      writeConfigMap(api, NAME, { before, data: { text } }, signal)
    await write(undefined, 'one')
    const [before] = (await api.list({ resource: '', path: '/api/v1' }, '', signal)).items
    await write(before, 'two')
    assert.deepEqual(api.data(PATH), { text: 'two' })
    await assert.rejects(write(before, 'three'), { name: 'ApiError', status: 409 })
    await assert.rejects(write(undefined, 'three'), { name: 'ApiError', status: 409 })
    assert.deepEqual(api.writes, [`POST ${PATH}`, `PUT ${PATH}`])
  })
})

describe('hasData', () => {
  it('compares keys and values', () => {
    const cases: [unknown, boolean][] = [
      [{ data: { a: '1' } }, true],
      [{ data: { a: '2' } }, false],
      [{ data: { a: '1', b: '2' } }, false],
      [{ data: {} }, false],
      [undefined, false],
    ]
    for (const [configMap, wanted] of cases) assert.equal(hasData(configMap, { a: '1' }), wanted)
  })
})
