import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createCanary } from '../../../src/cli/export/export-canary.ts'
import { Input } from '../../../src/cli/flags/flags.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Canary } from '../../../src/exporter/canary.ts'

const GATEWAY = 'https://dns.example.org'

function canaryOf(service: string, token = 'x'.repeat(40)): Canary | undefined {
  const environment = { KUBEDOH_CANARY: service, KUBEDOH_CLIENT_TOKEN: token }
  return createCanary(new Input([], new Map([['gateway', [GATEWAY]]]), environment), {
    origin: nameOf('cluster.local'),
    log: () => undefined,
    metrics: new Metrics(),
    isLeader: () => true,
    change: () => undefined,
  })
}

describe('createCanary', () => {
  test('needs the variable', () => {
    assert.equal(canaryOf(''), undefined)
    assert.ok(canaryOf('default/canary'))
  })

  for (const canary of ['canary', 'default/', 'a/b/c', 'Default/x', 'a/b.c']) {
    test(`refuses ${canary}`, () => {
      assert.throws(() => canaryOf(canary), { message: /use NAMESPACE\/NAME/ })
    })
  }

  test('refuses to start without a token', () => {
    const message = 'KUBEDOH_CANARY needs a client token: set KUBEDOH_CLIENT_TOKEN'
    assert.throws(() => canaryOf('default/canary', ''), { message })
  })
})
