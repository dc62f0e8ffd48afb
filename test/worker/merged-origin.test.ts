import assert from 'node:assert/strict'
import { test } from 'vitest'
import { startGateway } from '../../build/local-gateway.ts'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { Publisher } from '../../src/exporter/publisher.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { objectsOf, optionsOf } from '../cluster/naming.ts'

const COREFILE = `clusterset.local {
  errors
  kubernetes {
    cluster east west
  }
}
cluster.local {
  kubernetes cluster.local set.cluster.local {
    cluster east
    multicluster set.cluster.local
  }
}
`
const CLUSTERS = {
  east: `
- { kind: ServiceImport, metadata: { name: web, namespace: shop }, spec: { ips: [192.0.2.1], ports: [{ port: 80 }] } }`,
  west: `
- { kind: ServiceExport, metadata: { name: api, namespace: shop } }
- { kind: Service, metadata: { name: api, namespace: shop }, spec: { clusterIP: 192.0.2.9 } }
- kind: EndpointSlice
  metadata: { name: api-1, namespace: shop, labels: { kubernetes.io/service-name: api } }
  endpoints: [{ addresses: [198.51.100.7] }]`,
}

/** Publishes a cluster's objects as `kubedoh export` does. */
async function publish(url: string, cluster: 'east' | 'west', key: CryptoKey): Promise<void> {
  const objects = `- { kind: Namespace, metadata: { name: shop } }${CLUSTERS[cluster]}`
  const source = createObjectSource(objectsOf(objects), {
    naming: optionsOf(),
    trees: {
      multicluster: optionsOf({ tree: { kind: 'multicluster' } }),
      exports: optionsOf({ tree: { kind: 'exports', cluster } }),
    },
    onWarning: assert.fail,
    now: Date.now,
  })
  const gateway = createGatewayClient({ url, cluster, token: cluster })
  const publisher = new Publisher({ cluster, gateway, key, now: Date.now })
  const facts = { sources: {}, confirmedMs: Date.now() }
  assert.notEqual(await publisher.publish(source.build(), facts), undefined)
}

test('clusters that publish to a Worker have names together there', async (t) => {
  const [east, west] = [await keys(), await keys()]
  const clusters = {
    east: { publicKey: east.publicKeyText, tokenSha256: await hashToken('east') },
    west: { publicKey: west.publicKeyText, tokenSha256: await hashToken('west') },
  }
  const variables = { COREFILE, PUBLIC: 'true', CLUSTERS: JSON.stringify(clusters) }
  const gateway = await startGateway({ variables, port: 0 })
  t.onTestFinished(() => gateway.stop())
  const ask = async (name: string): Promise<unknown[]> => {
    const response = await fetch(`${gateway.url}/resolve?name=${name}`)
    assert.equal(response.status, 200)
    const { Status, Answer = [] } = (await response.json()) as {
      Status: number
      Answer?: { data: string }[]
    }
    return [Status, ...Answer.map(({ data }) => data)]
  }
  const until = async (name: string, wanted: unknown[]): Promise<void> => {
    let found = await ask(name)
    while (JSON.stringify(found) !== JSON.stringify(wanted)) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      found = await ask(name)
    }
  }
  await publish(gateway.url, 'east', east.privateKey)
  await until('web.shop.svc.clusterset.local', [0, '192.0.2.1'])
  // Whether there is such a name only the other cluster may know.
  assert.deepEqual(await ask('api.shop.svc.clusterset.local'), [2])
  await publish(gateway.url, 'west', west.privateKey)
  await until('api.shop.svc.clusterset.local', [0, '198.51.100.7'])
  assert.deepEqual(await ask('nosuch.shop.svc.clusterset.local'), [3])
  assert.deepEqual(await ask('web.shop.svc.set.cluster.local'), [0, '192.0.2.1'])
  assert.deepEqual(await ask('api.shop.svc.set.cluster.local'), [3])
  assert.deepEqual(await ask('web.shop.svc.cluster.local'), [3])
})

test('a Worker is ready when one of the clusters that answer together is', async (t) => {
  const [east, west] = [await keys(), await keys()]
  const clusters = {
    east: { publicKey: east.publicKeyText, tokenSha256: await hashToken('east') },
    west: { publicKey: west.publicKeyText, tokenSha256: await hashToken('west') },
  }
  const [corefile = ''] = COREFILE.split('cluster.local {')
  const variables = { COREFILE: corefile, PUBLIC: 'true', CLUSTERS: JSON.stringify(clusters) }
  const gateway = await startGateway({ variables, port: 0 })
  t.onTestFinished(() => gateway.stop())
  const ready = async (): Promise<[number, string]> => {
    const headers = { authorization: 'Bearer east' }
    const response = await fetch(`${gateway.url}/readyz`, { headers })
    return [response.status, await response.text()]
  }
  const all = 'east/multicluster,east/exports,west/multicluster,west/exports'
  assert.deepEqual(await ready(), [503, all])
  await publish(gateway.url, 'west', west.privateKey)
  while ((await ready())[0] !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
})
