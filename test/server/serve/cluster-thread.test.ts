import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { CLUSTER_TREE } from '../../../src/corefile/cluster-tree.ts'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import {
  ClusterThread,
  type ClusterThreadOptions,
} from '../../../src/server/serve/cluster-thread.ts'
import type { ClusterWanted } from '../../../src/server/serve/cluster-wanted.ts'
import { parseBlocks } from '../../ask.ts'
import { ClusterApi } from '../../cli/cluster-api.ts'
import { Screen } from '../../cli/run-cli.ts'
import { namesIn } from '../../cluster/follow/snapshots.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const NAMES = ['web.shop.svc', 'db.shop.svc']
const DB = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.20 } }'

/** Starts a thread. @returns it, and what it logs */
function start(t: TestContext, options: Partial<ClusterThreadOptions> & { folder?: string }) {
  const { folder = '/', ...rest } = options
  const events: LogEvent[] = []
  const thread = new ClusterThread({
    watch: { kubeconfig: '', folder, localAddresses: [] },
    output: new Screen(),
    log: (event) => events.push(event),
    onSnapshot: () => undefined,
    ...rest,
  })
  t.onTestFinished(() => thread.stop())
  return { thread, events }
}

function wantedOf(corefile: string): ClusterWanted {
  const [line] = parseBlocks(corefile).flatMap(({ directives }) =>
    directives.filter(({ name }) => name === 'kubernetes'),
  )
  if (line === undefined) throw new TypeError('The Corefile has no directive')
  return { directive: parseKubernetes(line, []), tree: CLUSTER_TREE }
}

describe('a thread that watches clusters', () => {
  test('shares their names, and each change', async (t) => {
    const api = await ClusterApi.start(t)
    let heard = 0
    const { thread } = start(t, { onSnapshot: () => heard++ })
    const wanted = wantedOf(api.corefile)
    const source = thread.source(wanted)
    assert.deepEqual([source.current(), source.freshness()], [undefined, 'partial'])
    await thread.watch([wanted])
    await vi.waitFor(() => assert.deepEqual(namesIn(source.current(), NAMES), ['web.shop.svc']))
    await vi.waitFor(() => assert.equal(source.freshness(), 'fresh'), 5000)
    assert.ok(heard > 0)
    api.tell('services', ['ADDED', DB])
    await vi.waitFor(() => assert.deepEqual(namesIn(source.current(), NAMES), NAMES), 5000)
    assert.deepEqual((await source.serviceState?.('shop', 'db'))?.service.type, 'ClusterIP')
    assert.deepEqual(await source.serviceState?.('shop', 'none'), null)
    assert.match(await thread.metrics(), /^coredns_kubernetes_rest_client_requests_total\{/m)
    await thread.watch([{ ...wanted, tree: { kind: 'multicluster' } }])
    const missing = /^127\.0\.0\.1:\d+: the API server does not serve serviceimports$/
    await vi.waitFor(() => assert.match(thread.problems().join(), missing), 5000)
    await thread.watch([])
    assert.equal(thread.source(wanted).current(), undefined)
  })

  test('that hangs has stale names, and is replaced', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const entry = join(import.meta.dirname, 'faulty-worker.ts')
    const { thread, events } = start(t, { folder: '/hangs', entry })
    const wanted = wantedOf('. {\n  kubernetes cluster.local\n}\n')
    const source = thread.source(wanted)
    await thread.watch([wanted])
    assert.equal(source.freshness(), 'fresh')
    vi.advanceTimersByTime(12_000)
    assert.equal(source.freshness(), 'stale')
    vi.advanceTimersByTime(48_000)
    await vi.waitFor(() => assert.equal(events.length, 1), 10_000)
    assert.equal(events[0]?.reason, 'it has not replied for 60 s')
    await vi.waitFor(() => assert.equal(source.freshness(), 'fresh'), 10_000)
  })

  test('is replaced when it exits, and logs why', async (t) => {
    const folder = join(temporaryFolder(t), 'mark')
    const entry = join(import.meta.dirname, 'faulty-worker.ts')
    const { thread, events } = start(t, { folder, entry })
    await thread.watch([wantedOf('. {\n  kubernetes cluster.local\n}\n')])
    await vi.waitFor(() => assert.equal(events.length, 3), 10_000)
    assert.deepEqual(
      events.map(({ message, reason }) => `${message}: ${reason}`),
      [
        'the thread that watches clusters exited: status 7',
        'the thread that watches clusters cannot watch them: a worker exited: status 7',
        'the thread that watches clusters cannot watch them: still faulty',
      ],
    )
  })
})
