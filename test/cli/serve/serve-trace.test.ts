/** Spans of what a server reads of its API server. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { startCollector } from '../../collector.ts'
import { ClusterApi } from '../cluster-api.ts'
import { startServer } from '../shop.ts'

test('serve sends its lists to a collector, also of an API server that streams none', async (t) => {
  const { url, spans } = await startCollector(t)
  const api = await ClusterApi.start(t)
  const collector = { url: `${url}/v1/traces`, service: 'dns' }
  await startServer(t, { objects: [], collector }, { Corefile: api.corefile })
  while (!spans.some(({ tags }) => tags['k8s.objects'] === '1')) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const lists = spans.filter(({ name }) => name === 'list services')
  assert.deepEqual(
    lists.map(({ service, error, tags }) => [service, error === undefined, tags['k8s.objects']]),
    [
      ['dns', false, undefined],
      ['dns', true, '1'],
    ],
  )
  assert.equal(lists[0]?.tags['server.address'], new URL(api.url).host)
})
