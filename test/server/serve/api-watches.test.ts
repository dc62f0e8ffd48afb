import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ApiConnection } from '../../../src/cluster/api/object-api.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { ApiWatches } from '../../../src/server/serve/api-watches.ts'
import { ScriptedApi } from '../../cluster/follow/scripted-api.ts'
import { directiveOf } from '../scripted-sources.ts'

function watchesOf(kubeconfig = '') {
  const connections: ApiConnection[] = []
  const options = {
    kubeconfig,
    folder: '/etc/dns',
    loadApi: async () => (connection: ApiConnection) => {
      connections.push(connection)
      return new ScriptedApi()
    },
    log: () => assert.fail(),
    metrics: new Metrics(),
    elapsed: () => 0,
  }
  return { watches: new ApiWatches(options, assert.fail), connections }
}

describe('ApiWatches', () => {
  test('has a watch for each connection with its limits', async () => {
    const { watches, connections } = watchesOf()
    await watches.prepare()
    const [one, same, limited, other] = [
      directiveOf(),
      directiveOf('ttl 7'),
      directiveOf('apiserver_max_inflight 1'),
      directiveOf('endpoint http://192.0.2.1:8080'),
    ].map((directive) => watches.open(directive))
    assert.deepEqual(same, one)
    assert.equal(same?.shared, one?.shared)
    assert.equal(new Set([one, limited, other].map((watch) => watch?.shared)).size, 3)
    assert.deepEqual(
      connections.map(({ kind }) => kind),
      ['default', 'default', 'endpoint'],
    )
  })

  test('connects to what --kubeconfig names', async () => {
    const { watches, connections } = watchesOf('own')
    await watches.prepare()
    watches.open(directiveOf('endpoint http://192.0.2.1:8080'))
    assert.equal(connections[0]?.kind, 'kubeconfig')
  })

  test('forgets those that are not kept', async () => {
    const { watches } = watchesOf()
    await watches.prepare()
    const kept = watches.open(directiveOf())
    const dropped = watches.open(directiveOf('apiserver_max_inflight 1'))
    watches.keep(new Set([kept.key]))
    assert.equal(watches.open(directiveOf()).shared, kept.shared)
    assert.notEqual(watches.open(directiveOf('apiserver_max_inflight 1')).shared, dropped.shared)
  })

  test('must be prepared first', () => {
    assert.throws(() => watchesOf().watches.open(directiveOf()), TypeError)
  })
})
