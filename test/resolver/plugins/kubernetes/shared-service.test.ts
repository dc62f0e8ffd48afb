import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  conflictAmong,
  readShape,
  type ServiceShape,
  winnersOf,
} from '../../../../src/resolver/plugins/kubernetes/shared-service.ts'
import { openShard } from '../../../../src/snapshot/read/open-shard.ts'
import { buildShards } from '../../../../src/snapshot/write/build-shards.ts'
import { clusterRecords } from '../../../cluster/cluster-names.ts'
import { clusterOf, optionsOf } from '../../../cluster/naming.ts'
import { labels } from '../../../snapshot/entries.ts'

const SLICE = `
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { multicluster.kubernetes.io/service-name: web, multicluster.kubernetes.io/source-cluster: east } }
  endpoints: [{ addresses: [198.51.100.7] }, { addresses: [198.51.100.8] }]`
const PORTS = '\n  ports: [{ name: http, port: 8080 }, { name: admin, port: 9090 }]'

function shapeOf(yaml: string): ServiceShape | undefined {
  const options = optionsOf({ tree: { kind: 'multicluster' } })
  const { entries } = clusterRecords(clusterOf(yaml, options), options)
  const shard = openShard(buildShards(entries)[0] ?? assert.fail())
  const name = labels('web.shop.svc')
  return readShape(shard, shard.findNode(name, name.length))
}

function imported(spec: string): string {
  return `- { kind: ServiceImport, metadata: { name: web, namespace: shop }, spec: ${spec} }`
}

describe('how a Service is reached', () => {
  const cases: { name: string; objects: string; shape: ServiceShape | undefined }[] = [
    {
      name: 'by its address',
      objects: imported(
        '{ type: ClusterSetIP, ips: [192.0.2.1], ports: [{ port: 443 }, { port: 80 }] }',
      ),
      shape: { type: 'ClusterSetIP', ports: [80, 443] },
    },
    {
      name: 'by its address, though endpoints exist',
      objects:
        imported('{ type: ClusterSetIP, ips: [192.0.2.1], ports: [{ port: 80 }] }') + SLICE + PORTS,
      shape: { type: 'ClusterSetIP', ports: [80] },
    },
    {
      name: 'by an address that it has not got yet',
      objects: imported('{ type: ClusterSetIP, ports: [{ port: 80 }] }'),
      shape: { type: 'ClusterSetIP', ports: [] },
    },
    {
      name: 'by its endpoints',
      objects: imported('{ type: Headless }') + SLICE + PORTS,
      shape: { type: 'Headless', ports: [8080, 9090] },
    },
    {
      name: 'by endpoints without ports',
      objects: imported('{ type: Headless }') + SLICE,
      shape: { type: 'Headless', ports: [] },
    },
    { name: 'not, without endpoints', objects: imported('{ type: Headless }'), shape: undefined },
    {
      name: 'not, where it is another',
      objects: imported('{}').replace('web', 'api'),
      shape: undefined,
    },
  ]
  for (const { name, objects, shape } of cases) {
    test(name, () => {
      assert.deepEqual(shapeOf(objects), shape)
    })
  }
})

const ip = (...ports: number[]): ServiceShape => ({ type: 'ClusterSetIP', ports })
const headless = (...ports: number[]): ServiceShape => ({ type: 'Headless', ports })

describe('where clusters differ', () => {
  const cases: {
    shapes: (ServiceShape | undefined)[]
    conflict: ReturnType<typeof conflictAmong>
    winners: number[]
  }[] = [
    { shapes: [], conflict: undefined, winners: [] },
    { shapes: [undefined, ip(80)], conflict: undefined, winners: [1] },
    { shapes: [ip(80), ip(80)], conflict: undefined, winners: [0] },
    { shapes: [ip(81), ip(80)], conflict: 'ports', winners: [0] },
    { shapes: [ip(80, 443), ip(80)], conflict: 'ports', winners: [0] },
    { shapes: [headless(80), undefined, ip(81), ip(82)], conflict: 'type', winners: [2] },
    { shapes: [ip(), ip(80)], conflict: undefined, winners: [1] },
    { shapes: [ip(), headless(80)], conflict: 'type', winners: [0] },
    { shapes: [headless(), headless(80)], conflict: 'ports', winners: [0, 1] },
    { shapes: [headless(80), headless(80)], conflict: undefined, winners: [0, 1] },
    { shapes: [headless(80), headless(81), undefined], conflict: 'ports', winners: [0, 1, 2] },
  ]
  for (const { shapes, conflict, winners } of cases) {
    test(`${JSON.stringify(shapes)}: ${conflict}, and ${winners} count`, () => {
      assert.equal(conflictAmong(shapes), conflict)
      const members = shapes.map((shape, index) => ({ shape, index }))
      assert.deepEqual(
        winnersOf(members).map(({ index }) => index),
        winners,
      )
    })
  }
})
