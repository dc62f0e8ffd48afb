import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { claimRequest, parseLease } from '../../../src/cluster/api/lease.ts'
import { START_MS } from '../follow/fake-clock.ts'
import { LEASE } from '../follow/lease-server.ts'

const NOW = '2026-01-01T00:00:00.000000Z'
const BEFORE = parseLease({
  metadata: { name: 'kubedoh', resourceVersion: '7', labels: { a: 'b' } },
  spec: {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2025-12-31T00:00:00.000000Z',
    leaseTransitions: 3,
  },
})

describe('parseLease', () => {
  test('reads what an election needs', () => {
    const { metadata: _, ...rest } = BEFORE
    assert.deepEqual(rest, {
      resourceVersion: '7',
      holder: 'a',
      durationMs: 15_000,
      acquireTime: '2025-12-31T00:00:00.000000Z',
      transitions: 3,
    })
  })

  for (const object of [undefined, null, 7, {}, { spec: { holderIdentity: 7 } }]) {
    test(`takes ${JSON.stringify(object)} for a Lease without a leader`, () => {
      const { holder, durationMs } = parseLease(object)
      assert.deepEqual([holder, durationMs], ['', 0])
    })
  }

  test('does not believe a duration of more than a minute', () => {
    assert.equal(parseLease({ spec: { leaseDurationSeconds: 86_400 } }).durationMs, 60_000)
  })
})

describe('claimRequest', () => {
  const claim = { holder: 'b', durationMs: 2000, nowMs: START_MS }
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
  const cases: {
    name: string
    before: typeof BEFORE | undefined
    holder: string
    method: string
    path: string
    acquireTime: string
    transitions: number
  }[] = [
    {
      name: 'creates it',
      before: undefined,
      holder: 'b',
      method: 'POST',
      path,
      acquireTime: NOW,
      transitions: 0,
    },
    {
      name: 'takes it over',
      before: BEFORE,
      holder: 'b',
      method: 'PUT',
      path: `${path}/kubedoh`,
      acquireTime: NOW,
      transitions: 4,
    },
    {
      name: 'renews it',
      before: BEFORE,
      holder: 'a',
      method: 'PUT',
      path: `${path}/kubedoh`,
      acquireTime: BEFORE.acquireTime,
      transitions: 3,
    },
    {
      name: 'releases it',
      before: BEFORE,
      holder: '',
      method: 'PUT',
      path: `${path}/kubedoh`,
      acquireTime: BEFORE.acquireTime,
      transitions: 3,
    },
  ]
  for (const { name, before, holder, acquireTime, transitions, ...expected } of cases) {
    test(name, () => {
      const { body, resource: _, ...request } = claimRequest(LEASE, before, { ...claim, holder })
      assert.deepEqual(request, expected)
      assert.deepEqual(body, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: before?.metadata ?? LEASE,
        spec: {
          holderIdentity: holder,
          leaseDurationSeconds: 2,
          acquireTime,
          renewTime: NOW,
          leaseTransitions: transitions,
        },
      })
    })
  }
})
