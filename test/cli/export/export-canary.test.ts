import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createCanary } from '../../../src/cli/export/export-canary.ts'
import { Input } from '../../../src/cli/flags/flags.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Canary } from '../../../src/exporter/canary.ts'

function canaryOf(given: Readonly<Record<string, string>>): Canary | undefined {
  const flags = Object.entries(given).map(([name, value]) => [name, [value]] as const)
  return createCanary(new Input([], new Map(flags), {}), {
    origin: nameOf('cluster.local'),
    log: () => undefined,
    metrics: new Metrics(),
    isLeader: () => true,
    change: () => undefined,
  })
}

describe('createCanary', () => {
  const gateway = 'https://dns.example.org'
  const token = 'x'.repeat(40)

  test('needs the flag', () => {
    assert.equal(canaryOf({ gateway, token }), undefined)
    assert.ok(canaryOf({ gateway, token, canary: 'default/canary' }))
  })

  for (const canary of ['canary', 'default/', 'a/b/c', 'Default/x', 'a/b.c']) {
    test(`refuses ${canary}`, () => {
      assert.throws(() => canaryOf({ gateway, token, canary }), { message: /use NAMESPACE\/NAME/ })
    })
  }

  test('refuses to start without a token', () => {
    const message = '--canary needs a client token: set --token'
    assert.throws(() => canaryOf({ gateway, canary: 'default/canary' }), { message })
  })
})
