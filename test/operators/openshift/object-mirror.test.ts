import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { ObjectMirror } from '../../../src/operators/openshift/object-mirror.ts'
import { FakeClock, settle } from '../../cluster/follow/fake-clock.ts'
import { page, ScriptedApi } from '../../cluster/follow/scripted-api.ts'

const LISTED = { resource: 'configmaps', path: '/api/v1/namespaces/a/configmaps' }

describe('ObjectMirror', () => {
  it('lists in pages, watches, and lists again when the server has forgotten', async () => {
    const ended = new AbortController()
    const clock = new FakeClock()
    const api = new ScriptedApi()
    const errors: string[] = []
    const mirror = new ObjectMirror({
      api,
      listed: LISTED,
      onChange: () => undefined,
      onError: (message) => errors.push(message),
      sleep: clock.sleep,
      random: () => 0,
    })
    const names = (): string[] => [...mirror.objects.keys()]
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
    await settle()
    assert.deepEqual(names(), ['d'])
    api.answer('configmaps', new ApiError('away', 503), page('12'))
    api.watching('configmaps').end()
    await settle()
    assert.deepEqual(names(), ['d'])
    assert.deepEqual(errors, ['cannot follow configmaps: away; again in 0.3 s'])
    await clock.advance(1000)
    assert.deepEqual(names(), [])
    ended.abort()
    await running
  })
})
