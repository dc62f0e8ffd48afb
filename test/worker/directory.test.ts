/** Clusters that come and go without a deployment, with their issuers, in a Worker in workerd. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { startGateway } from '../../build/local-gateway.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import type { TokenIssuer } from '../../src/snapshot/format/token-issuer.ts'
import { exporterSide } from '../gateway/directory-fleet.ts'
import { FakeIssuer } from '../gateway/fake-issuer.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'

const ADMIN = 'the-token-of-the-operator'
const COREFILE = `. {
  errors
  kubernetes *.k8s.test {
    cluster *
  }
}
`

test('a cluster is added, published, answered, rotated and removed', async (t) => {
  const gateway = await startGateway({
    variables: { COREFILE, PUBLIC: 'true', ADMIN_TOKEN_SHA256: await hashToken(ADMIN) },
  })
  t.onTestFinished(() => gateway.stop())
  const send = async (method: string, path: string, body?: object): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/clusters${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    await response.arrayBuffer()
    return response.status
  }
  const ask = async (): Promise<unknown[]> => {
    const response = await fetch(`${gateway.url}/resolve?name=web.shop.svc.lab.k8s.test`)
    const { Status, Answer = [] } = Object(await response.json())
    return [Status, ...Answer.map(({ data }: { data: string }) => data)]
  }
  const until = async (wanted: readonly unknown[]): Promise<void> => {
    while (JSON.stringify(await ask()) !== JSON.stringify(wanted)) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const [lab, next] = [await exporterSide('one'), await exporterSide('two')]
  const publish = async (
    side: typeof lab,
    address: string,
    generation: number,
  ): Promise<string> => {
    const time = new Date().toISOString()
    const lines = [WEB.replace('10.96.0.80', address)]
    const fields = { cluster: 'lab', generation, time }
    const { signed, shards } = await snapshotOf(side.privateKey, lines, fields)
    const { url } = gateway
    const client = createGatewayClient({ url, cluster: 'lab', token: side.token })
    const publication = { manifest: signed.bytes, shards: [...shards.values()] }
    const state = await client.state()
    const result = await client.putPublication(publication, signed.signature, state?.etag)
    return result?.kind ?? 'none'
  }

  const [unknown] = await ask()
  await assert.rejects(publish(lab, '192.0.2.1', 1), /token/)
  assert.equal(await send('PUT', '/lab', lab.publicHalf), 201)
  assert.equal(await publish(lab, '192.0.2.1', 1), 'stored')
  await until([0, '192.0.2.1'])
  assert.equal(await send('POST', '/lab/keys', next.publicHalf), 200)
  assert.equal(await publish(next, '192.0.2.2', 2), 'stored')
  assert.deepEqual((await ask())[0], 0)
  assert.equal(await send('DELETE', `/lab/keys/${lab.publicKeyText}`), 200)
  assert.deepEqual((await ask())[0], 0)
  assert.equal(await send('DELETE', '/lab'), 204)
  assert.deepEqual(await ask(), [unknown])
  await assert.rejects(publish(next, '192.0.2.3', 3), /token/)
  assert.equal(await send('PUT', '/lab', next.publicHalf), 201)
  await assert.rejects(publish(next, '192.0.2.3', 3), /just removed/)
})

test('the issuers of a cluster count in workerd while the directory has them', async (t) => {
  const issuer = new FakeIssuer('https://kubernetes.default.svc.cluster.local')
  const { keys } = await issuer.keySet()
  const gateway = await startGateway({
    variables: { COREFILE, ADMIN_TOKEN_SHA256: await hashToken(ADMIN) },
  })
  t.onTestFinished(() => gateway.stop())
  const send = async (method: string, path: string, body: unknown): Promise<number> => {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const url = `${gateway.url}/v1/clusters${path}`
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
    await response.arrayBuffer()
    return response.status
  }
  const rules = [{ when: { sub: 'system:serviceaccount:ci:builder' }, namespaces: ['shop'] }]
  const list = [{ issuer: issuer.url, audiences: ['kubedoh'], keys: 'cluster:lab', rules }]
  const lab = await exporterSide('one')
  assert.equal(await send('PUT', '/lab', { ...lab.publicHalf, issuers: list }), 201)

  const time = new Date().toISOString()
  const published = [{ kty: 'EC', ...keys[0] }] as TokenIssuer['keys']
  const fields = { cluster: 'lab', generation: 1, time }
  const { signed, shards } = await snapshotOf(lab.privateKey, [WEB], {
    ...fields,
    tokenIssuer: { issuer: issuer.url, keys: published },
  })
  const client = createGatewayClient({ url: gateway.url, cluster: 'lab', token: lab.token })
  const publication = { manifest: signed.bytes, shards: [...shards.values()] }
  await client.putPublication(publication, signed.signature, undefined)

  const sub = 'system:serviceaccount:ci:builder'
  const token = await issuer.sign(Date.now(), { sub })
  const status = async (): Promise<number> => {
    const url = `${gateway.url}/resolve?name=web.shop.svc.lab.k8s.test`
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    return response.status
  }
  const until = async (wanted: number): Promise<void> => {
    while ((await status()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await until(200)
  assert.equal(await send('PUT', '/lab/issuers', []), 200)
  await until(401)
  assert.equal(await send('PUT', '/lab/issuers', list), 200)
  await until(200)
})
