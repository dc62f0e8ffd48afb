import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { CLUSTER_TREE } from '../../../src/corefile/cluster-tree.ts'
import { defaultKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { WatchWorker } from '../../../src/server/serve/watch-worker.ts'
import type { FromWorker } from '../../../src/server/serve/worker-messages.ts'
import { ClusterApi } from '../../cli/cluster-api.ts'
import { Screen } from '../../cli/run-cli.ts'

const DIRECTIVE = defaultKubernetes({ file: 'Corefile', line: 1, column: 1 }, [nameOf('a.test')])
const OPTIONS = { kubeconfig: '', folder: '/', localAddresses: [] }

function start(t: TestContext) {
  const said: FromWorker[] = []
  const moved: ArrayBuffer[] = []
  const worker = new WatchWorker((message, buffers = []) => {
    said.push(message)
    moved.push(...buffers)
  }, new Screen())
  t.onTestFinished(() => worker.handle({ kind: 'stop' }))
  return { worker, said, moved }
}

describe('a worker that watches clusters', () => {
  test('sends their states before it reports that it has read them', async (t) => {
    const { url } = await ClusterApi.start(t)
    const { worker, said, moved } = start(t)
    const clusters = [{ directive: { ...DIRECTIVE, endpoint: url }, tree: CLUSTER_TREE }]
    await worker.handle({ kind: 'watch', options: OPTIONS, clusters })
    assert.deepEqual(
      said.slice(0, 3).map(({ kind }) => kind),
      ['watched', 'watched', 'serving'],
    )
    await vi.waitFor(() => assert.equal(moved.length, 1))
    const states = said.flatMap((one) => (one.kind === 'watched' ? one.snapshot : []))
    assert.deepEqual(states[0], { freshness: 'partial' })
    assert.ok(states[1]?.snapshot !== undefined)
    const changed = states.flatMap(({ snapshot }) => snapshot?.changed ?? [])
    assert.deepEqual(
      moved,
      changed.map(([, { buffer }]) => buffer),
    )
    await worker.handle({ kind: 'query', id: 3, what: 'not-ready' })
    assert.deepEqual(said.at(-1), { kind: 'reply', id: 3, lines: [] })
    const tree = { kind: 'multicluster' } as const
    const missing = [{ directive: { ...DIRECTIVE, endpoint: url }, tree }]
    await worker.handle({ kind: 'watch', options: OPTIONS, clusters: missing })
    await worker.handle({ kind: 'query', id: 4, what: 'not-ready' })
    const lines = [`${new URL(url).host}: the API server does not serve serviceimports`]
    assert.deepEqual(said.at(-1), { kind: 'reply', id: 4, lines })
  })

  test('reports clusters that it cannot watch', async (t) => {
    const { worker, said } = start(t)
    const directive = { ...DIRECTIVE, kubeconfig: { path: '/none', context: undefined } }
    const clusters = [{ directive, tree: CLUSTER_TREE }]
    await worker.handle({ kind: 'watch', options: OPTIONS, clusters })
    assert.match(said.map((one) => JSON.stringify(one)).join(), /"failed".*\/none/)
  })
})
