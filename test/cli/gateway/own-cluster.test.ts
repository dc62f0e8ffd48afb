import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { Input } from '../../../src/cli/flags/flags.ts'
import { type RunningGateway, startNodeGateway } from '../../../src/cli/gateway/gateway.ts'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { type GotSpan, startCollector } from '../../collector.ts'
import { snapshotOf } from '../../gateway/publishing.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { within } from '../../server/clients.ts'
import { ClusterApi } from '../cluster-api.ts'
import { failed, runCli, Screen } from '../run-cli.ts'

const ADMIN = 'the-token-of-the-operator'
const COREFILE = '. {\n  kubernetes prod.example\n}\n'
const WEB = 'web.shop.svc.prod.example'
const DB = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.20 } }'

type Started = {
  readonly running: RunningGateway
  readonly screen: Screen
  readonly api: ClusterApi
  readonly folder: string
}

/** Starts a gateway that follows a fake API server. */
async function start(
  t: TestContext,
  {
    whenWatched,
    store,
    corefile = COREFILE,
    folder = temporaryFolder(t),
  }: { whenWatched?: Promise<void>; store?: 'file'; corefile?: string; folder?: string } = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const api = await ClusterApi.start(t, whenWatched)
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const flags = new Map([
    ['conf', [file('Corefile', corefile)]],
    ['listen', ['127.0.0.1:0']],
    ['store', [store === 'file' ? `file:${join(folder, 'store')}` : 'memory']],
  ])
  const screen = new Screen()
  const environment = {
    PUBLIC: 'true',
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    KUBEDOH_CLUSTER: 'prod',
    KUBEDOH_CLUSTER_COREFILE: file('own', api.corefile),
    ...variables,
  }
  const running = await startNodeGateway(new Input([], flags, environment), screen)
  t.onTestFinished(() => running.stop())
  return { running, screen, api, folder }
}

async function answer({ running }: Started, name: string): Promise<string> {
  const response = await fetch(`${running.url}/resolve?name=${name}`)
  const { Answer } = recordOf(await response.json())
  return JSON.stringify(Answer ?? null)
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const look = async (): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await within(look(), what)
}

async function isReady({ running }: Started): Promise<boolean> {
  return (await fetch(`${running.url}/ready`)).status === 200
}

function operate(
  { running }: Started,
  method: string,
  path: string,
  body: string | null = null,
): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  return fetch(running.url + path, { method, headers, body })
}

describe('a gateway that follows an API server itself', () => {
  test('is ready once its cluster is read, and answers changes, also after a reload', async (t) => {
    const watched = Promise.withResolvers<void>()
    const started = await start(t, { whenWatched: watched.promise })
    assert.equal(await isReady(started), false)
    assert.equal(await answer(started, WEB), 'null')
    watched.resolve()
    await until('readiness', () => isReady(started))
    assert.match(await answer(started, WEB), /"data":"192\.0\.2\.10"/)
    await started.running.reload()
    assert.match(await answer(started, WEB), /"data":"192\.0\.2\.10"/)
    started.api.tell('services', ['ADDED', DB])
    await until('the change', async () =>
      (await answer(started, 'db.shop.svc.prod.example')).includes('192.0.2.20'),
    )
    const metrics = await (await operate(started, 'GET', '/metrics')).text()
    assert.match(metrics, /^kubedoh_snapshot_records\{cluster="prod"\} [1-9]/m)
    assert.match(metrics, /^kubedoh_exporter_watch_connected\{resource="services"\} 1$/m)
    assert.match(started.screen.text.stderr, /"level":"info","message":"--store memory: only Cl/)
    assert.doesNotMatch(started.screen.text.stderr, /"level":"(warning|error)"/)
  })

  test('refuses what only its own memory would know', async (t) => {
    const started = await start(t)
    await until('readiness', () => isReady(started))
    const generations = await operate(started, 'GET', '/v1/clusters/prod/generations')
    const { served } = recordOf(await generations.json())
    for (const [method, path, body, expected] of [
      ['POST', '/v1/tokens', null, '409 no_store'],
      ['PUT', '/v1/clusters/prod/pin', JSON.stringify({ generation: served }), '409 followed'],
      ['PUT', '/v1/clusters/lab', '{}', '404 no_directory'],
    ] as const) {
      const response = await operate(started, method, path, body)
      const { code } = recordOf(recordOf(await response.json()).error)
      assert.equal(`${response.status} ${code}`, expected)
    }
  })

  test('takes the clusters and keys of a changed CLUSTERS', async (t) => {
    const variables = temporaryFolder(t)
    const corefile = '. {\n  kubernetes prod.example {\n    cluster prod\n  }\n}\n'
    const started = await start(t, { corefile }, { KUBEDOH_VARIABLES: variables })
    const [old, next] = [await keys(), await keys()]
    const token = 'the-token-of-the-exporter'
    const tokenSha256 = await hashToken(token)
    const reload = async ({ publicKeyText: publicKey }: typeof old): Promise<void> => {
      const lab = { publicKey, tokenSha256 }
      writeFileSync(join(variables, 'CLUSTERS'), JSON.stringify({ lab }))
      await started.running.reload()
    }
    const client = createGatewayClient({ url: started.running.url, cluster: 'lab', token })
    const publish = async ({ privateKey }: typeof old, generation: number): Promise<unknown> => {
      const time = new Date().toISOString()
      const parts = { generation, time, cluster: 'lab' }
      const { shards, signed } = await snapshotOf(privateKey, [], parts)
      for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
      const etag = (await client.state())?.etag
      return (await client.putManifest(signed.bytes, signed.signature, etag)).kind
    }
    await reload(old)
    assert.equal(await publish(old, 1), 'stored')
    await reload(next)
    await assert.rejects(publish(old, 2), { status: 403 })
    assert.equal(await publish(next, 2), 'stored')
  })

  test('keeps tokens in the folder of --store, and no names', async (t) => {
    const started = await start(t, { store: 'file' })
    await until('readiness', () => isReady(started))
    assert.equal((await operate(started, 'POST', '/v1/tokens')).status, 201)
    const generations = await operate(started, 'GET', '/v1/clusters/prod/generations')
    assert.match(await generations.text(), /"generation":\d+/)
    const again = new Map([
      ['conf', [join(started.folder, 'Corefile')]],
      ['listen', ['127.0.0.1:0']],
      ['store', [`file:${join(started.folder, 'store')}`]],
    ])
    const keys = { publicKey: 'A'.repeat(43), tokenSha256: '0'.repeat(64) }
    const environment = { PUBLIC: 'true', CLUSTERS: JSON.stringify({ prod: keys }) }
    const running = await startNodeGateway(new Input([], again, environment), new Screen())
    t.onTestFinished(() => running.stop())
    assert.equal(await answer({ ...started, running }, WEB), 'null')
  })

  test('sends no ClientTokens to a store that others share unless it is elected', async (t) => {
    const folder = temporaryFolder(t)
    const { tokenStore } = createNodeStore(join(folder, 'store'), () => assert.fail())
    const { record } = await tokenRecord()
    await tokenStore.replaceObjects('prod', [{ ...record, by: 'cluster prod' }])
    const variables = { KUBEDOH_CLIENT_TOKENS: 'dns' }
    // Its API server has no such object, and no Lease.
    const KUBEDOH_LEASE = 'dns/gateway'
    const other = await start(t, { store: 'file', folder }, { ...variables, KUBEDOH_LEASE })
    await until('readiness', () => isReady(other))
    assert.deepEqual(
      (await tokenStore.list()).map(({ id }) => id),
      [record.id],
    )
    const alone = await start(t, { store: 'file', folder }, variables)
    await until('readiness', () => isReady(alone))
    assert.deepEqual(await tokenStore.list(), [])
  })

  test('has the spans of its publications in one trace', async (t) => {
    const { url, spans } = await startCollector(t)
    await start(t, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: url })
    const find = (name: RegExp): GotSpan | undefined => spans.find((one) => name.test(one.name))
    await until(
      'the spans',
      async () => find(/^ingest/) !== undefined && find(/^pub/) !== undefined,
    )
    const [published, ingested] = [find(/^publish$/), find(/^ingest/)]
    assert.equal(published?.traceId, ingested?.traceId)
    assert.equal(published?.service, 'kubedoh-exporter')
    assert.equal(ingested?.service, 'kubedoh-gateway')
  })

  test('is refused with a line for what cannot be followed', async (t) => {
    const folder = temporaryFolder(t)
    const conf = join(folder, 'Corefile')
    writeFileSync(conf, COREFILE)
    const own = join(folder, 'own')
    writeFileSync(own, '. {\n  kubernetes cluster.local {\n    kubeconfig missing\n  }\n}\n')
    const args = ['gateway', '--conf', conf, '--listen', '127.0.0.1:0']
    const keys = { publicKey: 'A'.repeat(43), tokenSha256: '0'.repeat(64) }
    const CLUSTERS = JSON.stringify({ prod: keys })
    const run = (variables: Readonly<Record<string, string>>, ...more: readonly string[]) =>
      runCli([...args, ...more], { PUBLIC: 'true', KUBEDOH_CLUSTER: 'prod', ...variables })
    assert.deepEqual(
      await run({ KUBEDOH_CLUSTER: 'Prod' }),
      failed('kubedoh: KUBEDOH_CLUSTER "Prod": use at most 63 of a-z, 0-9 and "-"'),
    )
    assert.deepEqual(
      await run({ CLUSTERS }),
      failed(
        'kubedoh: CLUSTERS has the cluster "prod" of KUBEDOH_CLUSTER; remove it from one of the two',
      ),
    )
    assert.deepEqual(await run({ CLUSTERS: '[' }), failed('kubedoh: CLUSTERS is not JSON'))
    assert.deepEqual(
      await run({}, '--follow', 'https://dns.example.org'),
      failed(
        'kubedoh: --follow and KUBEDOH_CLUSTER exclude each other: a replica has the clusters of its primary',
      ),
    )
    const { status, stderr } = await run({ KUBEDOH_CLUSTER_COREFILE: own })
    assert.equal(status, 1)
    assert.match(stderr, /^[^\n]*missing[^\n]*\n$/)
  })
})
