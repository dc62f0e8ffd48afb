import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError, type Collection } from '../../../src/cluster/api/object-api.ts'
import { describeMissingRights } from '../../../src/cluster/api/rights.ts'
import { SERVICES } from '../follow/mirror.ts'
import { ScriptedApi } from '../follow/scripted-api.ts'

const REVIEWS = 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const SLICES: Collection = {
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
}
const { signal } = new AbortController()

type Review = { spec: { resourceAttributes: { verb: string; group: string; resource: string } } }

describe('describeMissingRights', () => {
  const cases: { name: string; collection: Collection; allowed: string[]; text: string }[] = [
    {
      name: 'both verbs of a kind in a group',
      collection: SLICES,
      allowed: [],
      text:
        '; the role cannot list or watch endpointslices.discovery.k8s.io, add to its ClusterRole: ' +
        '{"apiGroups":["discovery.k8s.io"],"resources":["endpointslices"],"verbs":["list","watch"]}',
    },
    {
      name: 'one verb of a core kind',
      collection: SERVICES,
      allowed: ['list'],
      text:
        '; the role cannot watch services, add to its ClusterRole: ' +
        '{"apiGroups":[""],"resources":["services"],"verbs":["watch"]}',
    },
    { name: 'nothing', collection: SERVICES, allowed: ['list', 'watch'], text: '' },
  ]
  for (const { name, collection, allowed, text } of cases) {
    test(`names ${name}`, async () => {
      const api = new ScriptedApi()
      const reviewed: unknown[] = []
      api.replies.set(REVIEWS, ({ spec: { resourceAttributes } }: Review) => {
        reviewed.push(resourceAttributes)
        return { status: { allowed: allowed.includes(resourceAttributes.verb) } }
      })
      assert.equal(await describeMissingRights(api, collection, signal), text)
      const group = collection === SLICES ? 'discovery.k8s.io' : ''
      const { resource } = collection
      const expected = ['list', 'watch'].map((verb) => ({ group, resource, verb }))
      assert.deepEqual(reviewed, expected)
    })
  }

  test('names both verbs when reviews are refused', async () => {
    const api = new ScriptedApi()
    api.replies.set(REVIEWS, new ApiError('forbidden', 403))
    assert.match(
      await describeMissingRights(api, SERVICES, signal),
      /cannot list or watch services/,
    )
  })
})
