import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { FoundService } from '../../../src/operators/node-local/find-service.ts'
import { HostsUpdater } from '../../../src/operators/node-local/hosts-updater.ts'
import { readText } from '../../../src/operators/node-local/replace-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const ENTRY =
  '192.0.2.1 web.shop.svc web.shop.svc.cluster.local # openshift-generated-node-resolver\n'
const LOCALHOST = '127.0.0.1 localhost\n'

function createUpdater(t: TestContext) {
  const path = join(temporaryFolder(t, { hosts: LOCALHOST }), 'hosts')
  const logged: LogEvent[] = []
  const metrics = new Metrics()
  const state: { found: FoundService } = { found: { kind: 'known', addresses: ['192.0.2.1'] } }
  const updater = new HostsUpdater({
    path,
    services: ['web.shop.svc'],
    domain: 'cluster.local',
    find: () => Promise.resolve(state.found),
    log: (event) => logged.push(event),
    metrics,
  })
  const messages = (): string[] => logged.splice(0).map(({ message }) => message)
  return { path, updater, state, metrics, messages }
}

test('writes, keeps entries in an outage, and removes what is gone', async (t) => {
  const { path, updater, state, metrics, messages } = createUpdater(t)
  assert.equal(await updater.preview(), LOCALHOST + ENTRY)
  assert.equal(readText(path), LOCALHOST)
  assert.equal(await updater.update(), true)
  assert.equal(readText(path), LOCALHOST + ENTRY)
  assert.deepEqual(messages(), [`wrote ${path}`])
  assert.match(metrics.format(), /^kubedoh_hosts_entries 1$/m)

  state.found = { kind: 'unknown', reason: 'timeout' }
  assert.equal(await updater.update(), false)
  assert.equal(await updater.update(), false)
  assert.equal(readText(path), LOCALHOST + ENTRY)
  assert.deepEqual(messages(), ['cannot resolve web.shop.svc: timeout; its entries stay'])
  assert.match(metrics.format(), /^kubedoh_hosts_lookup_failures_total 2$/m)

  state.found = { kind: 'known', addresses: [] }
  assert.equal(await updater.update(), true)
  assert.equal(readText(path), LOCALHOST)
  assert.deepEqual(messages(), ['resolved web.shop.svc again', `wrote ${path}`])
  assert.match(metrics.format(), /^kubedoh_hosts_entries 0$/m)
})

test('logs a file that cannot be written once, and goes on', async (t) => {
  const { path, updater, metrics, messages } = createUpdater(t)
  rmSync(path)
  assert.equal(await updater.update(), false)
  assert.equal(await updater.update(), false)
  assert.deepEqual(messages(), [`cannot write ${path}: ENOENT`])
  assert.match(metrics.format(), /^kubedoh_hosts_write_failures_total 2$/m)
  writeFileSync(path, '')
  assert.equal(await updater.update(), true)
  assert.equal(readText(path), ENTRY)
})
