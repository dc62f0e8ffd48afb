import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { ObjectMirror } from '../../../src/operators/openshift/object-mirror.ts'
import { FakeClock, settle } from '../../cluster/follow/fake-clock.ts'
import { page, ScriptedApi } from '../../cluster/follow/scripted-api.ts'

const LISTED = { resource: 'configmaps', path: '/api/v1/namespaces/a/configmaps' }

function start() {
  const clock = new FakeClock()
  const api = new ScriptedApi()
  const errors: string[] = []
  const mirror = new ObjectMirror({
    api,
    listed: LISTED,
    onChange: () => undefined,
    onWarning: assert.fail,
    onError: (message) => errors.push(message),
    sleep: clock.sleep,
    elapsed: clock.elapsed,
    random: () => 0,
  })
  return { clock, api, errors, mirror, names: (): string[] => [...mirror.objects.keys()] }
}

describe('ObjectMirror', () => {
  it('lists in pages, watches, and lists again when the server has forgotten', async () => {
    const { clock, api, errors, mirror, names } = start()
    const ended = new AbortController()
    const running = mirror.run(ended.signal)
    assert.equal(mirror.hasSynced, false)
    api.answer('configmaps', page('1', '[{ metadata: { name: a } }]', 'more'))
    api.answer('configmaps', page('1', '[{ metadata: { name: b } }]'))
    await settle()
    assert.deepEqual(names(), ['a', 'b'])
    api.watching('configmaps').send('ADDED', { metadata: { name: 'c' } })
    api.watching('configmaps').send('DELETED', { metadata: { name: 'a' } })
    assert.deepEqual(names(), ['b', 'c'])
    api.answer('configmaps', page('9', '[{ metadata: { name: d } }]'))
    api.watching('configmaps').send('ERROR', { code: 410 })
    await clock.advance(0)
    assert.deepEqual(names(), ['d'])
    api.watching('configmaps').fail(new ApiError('away', 503))
    await settle()
    assert.deepEqual(names(), ['d'])
    assert.deepEqual(errors, ['cannot follow configmaps: away; again in 0.3 s'])
    await clock.advance(1000)
    api.answer('configmaps', page('12'))
    api.watching('configmaps').send('ERROR', { code: 410 })
    await clock.advance(0)
    assert.deepEqual(names(), [])
    ended.abort()
    await running
  })
  it('reads a bounded number of objects', async () => {
    const { api, mirror, names, errors } = start()
    const items = Array.from({ length: 5002 }, (_, i) => ({ metadata: { name: `m${i}` } }))
    api.answer('configmaps', { items, resourceVersion: '1', continueToken: '' })
    const ended = new AbortController()
    const running = mirror.run(ended.signal)
    await vi.waitFor(() => assert.equal(mirror.hasSynced, true))
    assert.equal(names().length, 5000)
    assert.deepEqual(errors, [`${LISTED.path}: only 5000 are read`])
    ended.abort()
    await running
  })
})
