/** Spans of an exporter and its gateway, at a collector by OpenTelemetry's variables. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { createClusterKeys } from '../../../src/exporter/cluster-keys.ts'
import { type GotSpan, startCollector, type TestCollector } from '../../collector.ts'
import { freePort } from '../../free-port.ts'
import { ClusterApi } from '../cluster-api.ts'
import { ENVIRONMENT, type Ran, runCli, Screen } from '../run-cli.ts'
import { shopFolder } from '../shop.ts'

type Environment = Readonly<Record<string, string>>

/** Starts `kubedoh gateway` for cluster `shop`, which runs until its test ends. */
async function startGateway(
  t: TestContext,
  environment: Environment,
): Promise<{ readonly url: string; readonly exporter: Environment; stop: () => Promise<void> }> {
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const folder = shopFolder(t, {
    Corefile: '. {\n  kubernetes shop.test {\n  cluster shop\n }\n}\n',
  })
  const port = await freePort()
  const screen = new Screen()
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256 } })
  const args = ['gateway', '--conf', join(folder, 'Corefile'), '--listen', `127.0.0.1:${port}`]
  const ended = main(args, screen, { ...ENVIRONMENT, ...environment, CLUSTERS })
  let isOver = false
  const stop = async (): Promise<void> => {
    if (!isOver) process.emit('SIGTERM')
    isOver = true
    await ended
  }
  t.onTestFinished(stop)
  await until(() => screen.text.stdout.includes('ready:'))
  const exporter = { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey }
  return { url: `http://127.0.0.1:${port}`, exporter, stop }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

function exportOnce(url: string, conf: readonly string[], environment: Environment): Promise<Ran> {
  const args = ['export', '--gateway', url, '--cluster', 'shop', '--once', ...conf]
  return runCli(args, environment)
}

function named({ spans }: TestCollector, name: string): GotSpan {
  const found = spans.find((one) => one.name === name)
  return found ?? assert.fail(`no span ${name} of ${spans.map((one) => one.name).join(', ')}`)
}

describe('spans of a publication', () => {
  test('go on in the gateway, and have lists and watches beside them', async (t) => {
    const collector = await startCollector(t)
    const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` }
    const gateway = await startGateway(t, OTEL)
    const api = await ClusterApi.start(t)
    const folder = shopFolder(t, { Corefile: api.corefile })
    const conf = ['--conf', join(folder, 'Corefile')]
    const ran = await exportOnce(gateway.url, conf, { ...OTEL, ...gateway.exporter })
    assert.equal(ran.status, 0, ran.stderr)
    await gateway.stop()
    await until(() => collector.spans.some(({ name }) => name.startsWith('ingest')))
    await until(() => collector.spans.some(({ name }) => name === 'publish'))

    const publish = named(collector, 'publish')
    const { 'kubedoh.published': published, 'kubedoh.cluster': cluster } = publish.tags
    assert.deepEqual([published, cluster], ['names', 'shop'])
    assert.deepEqual(
      [publish.service, publish.kind, publish.parentSpanId],
      ['kubedoh-exporter', 1, ''],
    )
    for (const name of ['build', 'PUT manifest']) {
      const { traceId, parentSpanId } = named(collector, name)
      assert.deepEqual([traceId, parentSpanId], [publish.traceId, publish.spanId])
    }
    for (const what of ['manifest', 'publication']) {
      const [sent, got] = [named(collector, `PUT ${what}`), named(collector, `ingest ${what}`)]
      const { service, kind, traceId, tags } = got
      assert.deepEqual([service, kind, traceId], ['kubedoh-gateway', 2, publish.traceId])
      const sender = collector.spans.find(({ spanId }) => spanId === got.parentSpanId)
      assert.deepEqual([sender?.name, sender?.kind], [sent.name, 3])
      assert.equal(tags['http.response.status_code'], sender?.tags['http.response.status_code'])
    }
    // The server streams no lists: the first attempt says so.
    const lists = collector.spans.filter(({ name }) => name === 'list services')
    assert.deepEqual(
      lists.map(({ kind, parentSpanId, tags, error }) => [
        ...[kind, parentSpanId, tags['k8s.objects']],
        error?.includes('sendInitialEvents is forbidden'),
      ]),
      [
        [3, '', undefined, true],
        [3, '', '1', undefined],
      ],
    )
  })

  test('cost nothing while the collector hangs or is away, or there is none', async (t) => {
    const hanging = await startCollector(t, { hangs: true })
    const gateway = await startGateway(t, { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url })
    const away = `http://127.0.0.1:${await freePort()}`
    const objects = ['--objects', join(shopFolder(t, {}), 'shop.yaml')]
    for (const url of [hanging.url, away, '']) {
      const environment = { ...gateway.exporter, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url }
      const begun = performance.now()
      const ran = await exportOnce(gateway.url, objects, environment)
      assert.equal(ran.status, 0, ran.stderr)
      assert.ok(performance.now() - begun < 4000)
    }
  })

  test('need an address that is one', async (t) => {
    const objects = ['--objects', join(shopFolder(t, {}), 'shop.yaml')]
    const variables = { KUBEDOH_TOKEN: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }
    const ran = await exportOnce('http://127.0.0.1:1', objects, variables)
    const expected = 'expected a URL such as http://collector:4318'
    assert.equal(ran.status, 1)
    assert.equal(
      ran.stderr,
      `kubedoh: OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4317", ${expected}\n`,
    )
  })
})
