import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { RunningServer, ServeOptions } from '../../../src/server/serve/serve-options.ts'
import { serveByWorkers } from '../../../src/server/serve/worker-pool.ts'
import { UdpServer } from '../../../src/server/sockets/udp-server.ts'
import { ClusterApi } from '../../cli/cluster-api.ts'
import { runCli, Screen } from '../../cli/run-cli.ts'
import { serveOptions, shopFolder } from '../../cli/shop.ts'
import { freePort } from '../../free-port.ts'
import { askUdp, echo, isServed, overUdp, queryWith } from '../clients.ts'

const LOOPBACK = '127.0.0.1'
const FAULTY = join(import.meta.dirname, 'faulty-worker.ts')

type Pool = {
  readonly pool: RunningServer
  readonly port: number
  readonly folder: string
  readonly screen: Screen
  /** Fetches a path of the features. */
  readonly get: (path: string) => Promise<string>
}

function block(...lines: readonly string[]): string {
  return `. {\n  bind ${LOOPBACK}\n  ${lines.join('\n  ')}\n}\n`
}

/** Starts two workers, and all features on one port. */
async function start(
  t: TestContext,
  corefile: (features: readonly string[]) => string,
  some: Partial<ServeOptions> & { readonly entry?: string } = {},
): Promise<Pool> {
  const { entry, ...options } = some
  const [dnsPort, port] = [await freePort(), await freePort()]
  const features = ['health', 'ready', 'prometheus'].map((one) => `${one} ${LOOPBACK}:${port}`)
  const folder = shopFolder(t, { Corefile: corefile(features) })
  const screen = new Screen()
  const workers = { count: 2, ...(entry !== undefined && { entry }) }
  const pool = await serveByWorkers(serveOptions(folder, { dnsPort, ...options }), screen, workers)
  t.onTestFinished(() => pool.stop())
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`http://${LOOPBACK}:${port}${path}`)
    return `${response.status} ${await response.text()}`
  }
  return { pool, port: dnsPort, folder, screen, get }
}

/** Starts workers that must fail. @returns the error */
async function refusal(t: TestContext, some: Parameters<typeof serveOptions>[1], corefile: string) {
  const folder = shopFolder(t, { Corefile: corefile })
  const options = serveOptions(folder, { dnsPort: await freePort(), ...some })
  const entry = some?.files === undefined ? {} : { entry: FAULTY }
  try {
    await serveByWorkers(options, new Screen(), { count: 2, ...entry })
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message.replaceAll(folder, 'FOLDER')
  }
  return 'it was started'
}

async function addressesOf(port: number, name: string): Promise<string[]> {
  const { stdout } = await runCli(['query', name, '--server', `udp://${LOOPBACK}:${port}`])
  return stdout.split('\n').filter((line) => /^[^;]/.test(line))
}

describe('workers', () => {
  test('explain by the objects that the main thread has', async (t) => {
    const [explainToken, doh] = ['a-token-of-sixteen', `${LOOPBACK}:${await freePort()}`]
    const corefile = (features: readonly string[]): string =>
      block('kubernetes cluster.local', ...features)
    await start(t, corefile, { dohListen: doh, explainToken })
    const url = `http://${doh}/v1/explain?name=none.shop.svc.cluster.local`
    const headers = { authorization: `Bearer ${explainToken}`, connection: 'close' }
    // Either thread may get a connection.
    for (let i = 0; i < 8; i++) {
      const { reason } = JSON.parse(await (await fetch(url, { headers })).text())
      assert.equal(reason.text, 'namespace "shop" has no Service "none"')
    }
  })

  test('share one port, readiness and metrics', async (t) => {
    const hosts = 'hosts {\n 192.0.2.1 a.example.org\n }'
    const { pool, port, get } = await start(t, (features) => block(hosts, 'cache', ...features))
    assert.deepEqual(pool.ports, [port])
    assert.deepEqual([await get('/health'), await get('/ready')], ['200 OK', '200 OK'])
    for (let i = 0; i < 40; i++) await askUdp(LOOPBACK, port, queryWith(i))
    const metrics = await get('/metrics')
    const counts = metrics.matchAll(/^coredns_dns_requests_total\{.*\} (\d+)$/gm)
    assert.deepEqual(
      Array.from(counts, ([, count]) => count),
      ['40'],
    )
    // Each worker has one cached response: both have got queries.
    assert.match(metrics, /^coredns_cache_entries\{.*type="success".*\} 2$/m)
    assert.match(metrics, /^coredns_plugin_enabled\{.*name="hosts"\} 1$/m)
    assert.equal(metrics.match(/^process_start_time_seconds /gm)?.length, 1)
    await pool.stop()
    const other = new UdpServer(LOOPBACK, overUdp(echo))
    t.onTestFinished(() => other.close())
    assert.equal(await other.listen(LOOPBACK, port), port)
  })

  test('share one watch of a cluster', async (t) => {
    const api = await ClusterApi.start(t)
    const { port, get } = await start(
      t,
      (features) => api.corefile.replace('bind', `${features.join('\n')}\nbind`),
      { objects: [] },
    )
    assert.equal(await get('/ready'), '200 OK')
    const web = 'web.shop.svc.cluster.local'
    assert.deepEqual(await addressesOf(port, web), [`${web}. 5 IN A 192.0.2.10`])
    const db = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.20 } }'
    api.tell('services', ['ADDED', db])
    // Each query has another source port, so either worker may get it.
    for (let found = 0; found < 12; ) {
      const answers = await addressesOf(port, 'db.shop.svc.cluster.local')
      found = answers.some((line) => line.endsWith(' A 192.0.2.20')) ? found + 1 : 0
    }
  })

  test('apply a changed Corefile together, and keep the previous one when it is bad', async (t) => {
    const hosts = (address: string): string => `hosts {\n ${address} a\n }`
    let shown: readonly string[] = []
    const corefile = (address: string): string => block(hosts(address), 'reload 2s 1s', ...shown)
    const { port, folder, screen, get } = await start(t, (features) => {
      shown = features
      return corefile('192.0.2.1')
    })
    const write = (text: string): void => writeFileSync(join(folder, 'Corefile'), text)
    write(corefile('192.0.2.2').replace('hosts', 'nosuch'))
    await screen.shows('stderr', /cannot reload the Corefile/)
    assert.deepEqual(await addressesOf(port, 'a'), ['a. 3600 IN A 192.0.2.1'])
    write(corefile('192.0.2.3'))
    await screen.shows('stderr', /reloaded the changed Corefile/)
    for (let i = 0; i < 12; i++) {
      assert.deepEqual(await addressesOf(port, 'a'), ['a. 3600 IN A 192.0.2.3'])
    }
    const metrics = await get('/metrics')
    assert.match(metrics, /^coredns_reload_failed_total [1-9]/m)
    assert.match(metrics, /^coredns_reload_version_info\{hash="sha512",value="\w+"\} 1$/m)
  })

  test('reload on request, without reload in the Corefile', async (t) => {
    const { pool, port, folder } = await start(t, () => block('hosts {', '192.0.2.1 a.test', '}'))
    assert.deepEqual(await pool.notReady(), [])
    const ask = async (): Promise<string> =>
      (await runCli(['query', 'a.test', '--server', `udp://${LOOPBACK}:${port}`])).stdout
    assert.match(await ask(), /IN A 192\.0\.2\.1\n/)
    writeFileSync(join(folder, 'Corefile'), block('hosts {', '192.0.2.2 a.test', '}'))
    await pool.reload()
    for (let i = 0; i < 8; i++) assert.match(await ask(), /IN A 192\.0\.2\.2\n/)
  })

  test('are replaced when they exit', async (t) => {
    const mark = join(shopFolder(t), 'mark')
    const files = `dies-later ${mark}`
    const { get, screen } = await start(t, (features) => block('whoami', ...features), {
      files,
      entry: FAULTY,
    })
    await get('/ready')
    await screen.shows('stderr', /worker \d exited; starting another","reason":"dies later"/)
    while ((await get('/ready')) !== '200 OK')
      await new Promise((resolve) => setTimeout(resolve, 50))
  })

  test('report the shutdown, and serve during lameduck', async (t) => {
    const { pool, port, get } = await start(t, ([health = '', ...features]) =>
      block('whoami', `${health} {\n lameduck 700ms\n }`, ...features),
    )
    const stopped = pool.stop()
    assert.equal(await get('/ready'), '503 Shutting down')
    assert.equal(await isServed(port, LOOPBACK), true)
    await stopped
    await assert.rejects(isServed(port, LOOPBACK), { code: 'ECONNREFUSED' })
  })

  test('log warnings and missing features once', async (t) => {
    const { screen } = await start(t, () =>
      block(
        'kubernetes cluster.local {\n resyncperiod 5m\n }',
        'transfer {\n to *\n }',
        'metadata',
      ),
    )
    const { stderr } = screen.text
    assert.equal(stderr.match(/resyncperiod/g)?.length, 1)
    assert.match(stderr, /\\"transfer\\" does not serve cluster zones/)
    assert.match(stderr, /\\"metadata\\" has no values for Pods with several workers/)
  })
})

describe('workers fail to start', () => {
  const cases: {
    name: string
    options?: Parameters<typeof serveOptions>[1]
    corefile?: string
    message: RegExp
  }[] = [
    {
      name: 'with a bad Corefile',
      corefile: '. {\n  nosuch\n}\n',
      message: /^FOLDER\/Corefile:2:3: there is no plugin "nosuch"/,
    },
    { name: 'when one exits', options: { files: 'dies' }, message: /^a worker exited: status 7$/ },
    { name: 'when one cannot serve', options: { files: 'refuses' }, message: /^cannot$/ },
  ]
  for (const { name, options, corefile = block('whoami'), message } of cases) {
    test(name, async (t) => {
      assert.match(await refusal(t, options, corefile), message)
    })
  }

  test('on a port that another process uses exclusively', async (t) => {
    const other = new UdpServer(LOOPBACK, overUdp(echo))
    t.onTestFinished(() => other.close())
    const dnsPort = await other.listen(LOOPBACK, await freePort())
    assert.equal(
      await refusal(t, { dnsPort }, block('whoami')),
      `Cannot listen on UDP ${LOOPBACK}:${dnsPort}: address in use; stop the other process or choose another port`,
    )
  })

  test('with a feature whose address is in use', async (t) => {
    const { port } = await start(t, () => block('whoami'))
    assert.equal(
      await refusal(t, {}, block('whoami', `health ${LOOPBACK}:${port}`)),
      `Cannot listen on HTTP ${LOOPBACK}:${port}: address in use; stop the other process or choose another port`,
    )
  })
})
