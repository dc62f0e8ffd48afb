import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { freePort } from '../../free-port.ts'
import { within } from '../../server/clients.ts'
import { ClusterApi } from '../cluster-api.ts'
import { type GatewayServer, otherToken, startGatewayServer } from '../gateway-server.ts'
import { ENVIRONMENT, failed, type Ran, runCli, Screen } from '../run-cli.ts'
import { shopFolder } from '../shop.ts'

const DB = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.20 } }'
/** How long the network may take on a loaded machine, in real time. */
const PATIENCE_MS = 30_000
/** Not by a clock that a test stops. */
const startTimer = setTimeout
/** An object that cannot be read, which is told of. */
const BAD = '{ metadata: { namespace: shop, name: 7 } }'

/** Exports a folder's `shop.yaml` once. */
function exportOnce(
  { url, environment }: Pick<GatewayServer, 'url' | 'environment'>,
  folder: string,
  ...flags: readonly string[]
): Promise<Ran> {
  const objects = ['--objects', join(folder, 'shop.yaml'), '--once']
  const args = ['export', '--gateway', url, '--cluster', 'shop', ...objects, ...flags]
  return within(runCli(args, environment), 'the end of the export')
}

/** Exports a cluster that is watched, until the process is told to end. */
async function startWatching(
  t: TestContext,
  gateway: GatewayServer,
  listen: string,
  whenWatched?: Promise<void>,
): Promise<{ api: ClusterApi; screen: Screen; ended: Promise<number> }> {
  const api = await ClusterApi.start(t, whenWatched)
  const folder = shopFolder(t, { Corefile: api.corefile })
  const screen = new Screen()
  const conf = ['--conf', join(folder, 'Corefile'), '--listen', listen]
  const args = ['export', '--gateway', gateway.url, '--cluster', 'shop', ...conf]
  const ended = main(args, screen, { ...ENVIRONMENT, ...gateway.environment })
  return { api, screen, ended: within(ended, 'the end of the export') }
}

// Before all others: a client that began by the real clock could not end its timers by this one.
test('export waits for its watches before it publishes', async (t) => {
  const gateway = await startGatewayServer(t)
  const opened = Promise.withResolvers<void>()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { api, screen, ended } = await startWatching(t, gateway, '', opened.promise)
  const isReady = (): boolean => screen.text.stdout !== ''
  // The network has its own time, of which a busy machine leaves it little: the second half of
  // the duration takes as long as the network needs, within the patience.
  const pass = async (
    durationMs: number,
    isEnough: () => boolean,
    patienceMs = 0,
  ): Promise<void> => {
    for (let ms = 0; ms < durationMs && !isEnough(); ms++) {
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      if (ms > durationMs / 2 && patienceMs > 0) {
        await new Promise((resolve) => startTimer(resolve, (2 * patienceMs) / durationMs))
      }
      vi.advanceTimersByTime(1)
    }
  }
  await pass(10_000, () => api.watched === 3, PATIENCE_MS)
  assert.equal(api.watched, 3)
  await pass(2000, isReady)
  assert.equal(isReady(), false)
  opened.resolve()
  // Unchanged names are confirmed every 15 seconds: the first ones are not to wait for that.
  await pass(2000, isReady, PATIENCE_MS)
  assert.match(screen.text.stdout, /^ready: /)
  vi.useRealTimers()
  process.emit('SIGTERM', 'SIGTERM')
  assert.equal(await ended, 0)
})

describe('export --once', () => {
  test('publishes, reports the generation, and exits', async (t) => {
    const gateway = await startGatewayServer(t)
    const folder = shopFolder(t)
    const { status, stdout, stderr } = await exportOnce(gateway, folder)
    assert.deepEqual([status, stderr], [0, ''])
    const manifest = await gateway.manifest()
    assert.ok(manifest)
    const { records, generation, cluster, origins } = manifest
    assert.deepEqual([cluster, origins], ['shop', ['cluster.local.']])
    const what = `published ${records} records of cluster shop to ${gateway.url}`
    assert.equal(stdout, `ready: ${what}, generation ${generation}\n`)
  })

  test('publishes the keys of an etcd, here of a file', async (t) => {
    const gateway = await startGatewayServer(t)
    const keys = [
      { key: '/skydns/org/example/www', value: { host: '192.0.2.1' } },
      { key: '/skydns/org/example/bad', value: '{' },
    ]
    const corefile = '. {\n  kubernetes cluster.local\n  etcd example.org\n}\n'
    const folder = shopFolder(t, { Corefile: corefile, 'etcd.json': JSON.stringify(keys) })
    const environment = { ...gateway.environment, KUBEDOH_ETCD: join(folder, 'etcd.json') }
    const to = { url: gateway.url, environment }
    const { status, stderr } = await exportOnce(to, folder, '--conf', join(folder, 'Corefile'))
    assert.equal(status, 0)
    assert.match(stderr, /example\/bad.* of .*: its value is not JSON/)
    assert.equal((await gateway.manifest())?.trees?.etcd?.records, 2)
  })

  test('publishes shards again that the gateway has lost', async (t) => {
    const gateway = await startGatewayServer(t)
    const folder = shopFolder(t)
    await exportOnce(gateway, folder)
    const before = await gateway.manifest()
    await exportOnce(gateway, shopFolder(t, { 'shop.yaml': '' }))
    const after = await gateway.manifest()
    assert.ok(before && after)
    assert.ok(before.generation < after.generation && after.records < before.records)
  })

  test('prefers the key file to the variable', async (t) => {
    const gateway = await startGatewayServer(t)
    const { KUBEDOH_SIGNING_KEY, KUBEDOH_TOKEN } = gateway.environment
    const folder = shopFolder(t, { key: `${KUBEDOH_SIGNING_KEY}\n` })
    const environment = { KUBEDOH_TOKEN, KUBEDOH_SIGNING_KEY: 'none' }
    const flag = ['--signing-key', join(folder, 'key')]
    const { status } = await exportOnce({ ...gateway, environment }, folder, ...flag)
    assert.equal(status, 0)
  })

  test('reads a cluster from its API server', async (t) => {
    const gateway = await startGatewayServer(t)
    const api = await ClusterApi.start(t)
    const folder = shopFolder(t, { Corefile: api.corefile })
    const conf = ['--conf', join(folder, 'Corefile'), '--objects', '']
    const args = ['export', '--gateway', gateway.url, '--cluster', 'shop', '--once', ...conf]
    const { status, stderr } = await within(runCli(args, gateway.environment), 'the end')
    assert.deepEqual([status, stderr], [0, ''])
    const sources = { namespaces: '1', services: '1', endpointslices: '1' }
    assert.deepEqual((await gateway.manifest())?.sources, sources)
  })

  test('publishes who may read Services with KUBEDOH_RBAC, and else not', async (t) => {
    const gateway = await startGatewayServer(t)
    const api = await ClusterApi.start(t)
    const folder = shopFolder(t, { Corefile: api.corefile })
    const conf = ['--conf', join(folder, 'Corefile'), '--objects', '']
    const args = ['export', '--gateway', gateway.url, '--cluster', 'shop', '--once', ...conf]
    const run = (more: Readonly<Record<string, string>>) =>
      within(runCli(args, { ...gateway.environment, ...more }), 'the end')
    await run({})
    assert.equal((await gateway.manifest())?.rights, undefined)
    const { status, stderr } = await run({ KUBEDOH_RBAC: '1' })
    assert.deepEqual([status, stderr], [0, ''])
    // A header, and the masters of every cluster.
    assert.equal((await gateway.manifest())?.rights?.bytes, 12 + 18)
  })

  test('reports a rejected token in one line', async (t) => {
    const gateway = await startGatewayServer(t)
    const KUBEDOH_TOKEN = otherToken()
    const environment = { ...gateway.environment, KUBEDOH_TOKEN }
    assert.deepEqual(
      await exportOnce({ ...gateway, environment }, shopFolder(t)),
      failed(
        'kubedoh: The gateway answers 401: ' + "The exporter's token of this cluster is needed",
      ),
    )
    assert.equal(await gateway.manifest(), undefined)
  })

  test('reports an unreachable gateway in one line, without the token', async (t) => {
    const { environment } = await startGatewayServer(t)
    const url = `http://127.0.0.1:${await freePort()}`
    const { status, stdout, stderr } = await exportOnce({ url, environment }, shopFolder(t))
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^kubedoh: http:\S+ cannot be reached: [^\n]*ECONNREFUSED[^\n]*\n$/)
  })

  const refusals: {
    name: string
    flags?: readonly string[]
    environment?: Readonly<Record<string, string>>
    line: string
  }[] = [
    {
      name: 'a cluster that no gateway could name',
      flags: ['--cluster', 'Shop'],
      line: 'kubedoh: --cluster "Shop": use at most 63 characters of a-z, 0-9 and "-"',
    },
    {
      name: 'http:// beyond this machine',
      flags: ['--gateway', 'http://dns.example.org'],
      line:
        'kubedoh: --gateway http://dns.example.org would send the token unencrypted; ' +
        'use https:// or set KUBEDOH_INSECURE=1',
    },
    {
      name: 'http:// to a name like this machine’s',
      flags: ['--gateway', 'http://localhost.example.org'],
      line:
        'kubedoh: --gateway http://localhost.example.org would send the token unencrypted; ' +
        'use https:// or set KUBEDOH_INSECURE=1',
    },
    {
      name: 'a gateway that is not a URL',
      flags: ['--gateway', 'dns.example.org'],
      line: 'kubedoh: --gateway "dns.example.org" is not a URL such as https://dns.example.org',
    },
    {
      name: 'a gateway at another kind of URL',
      flags: ['--gateway', 'ftp://127.0.0.1'],
      line: 'kubedoh: --gateway "ftp://127.0.0.1" is not a URL such as https://dns.example.org',
    },
    {
      name: 'no token',
      environment: { KUBEDOH_TOKEN: '' },
      line: 'kubedoh: KUBEDOH_TOKEN is not set; create it with "kubedoh keys shop"',
    },
    {
      name: 'no key',
      environment: { KUBEDOH_SIGNING_KEY: '' },
      line: 'kubedoh: KUBEDOH_SIGNING_KEY is not set; create it with "kubedoh keys shop"',
    },
    {
      name: 'an invalid key',
      environment: { KUBEDOH_SIGNING_KEY: 's3cret' },
      line: 'kubedoh: KUBEDOH_SIGNING_KEY is not an Ed25519 key as printed by "kubedoh keys shop"',
    },
    {
      name: 'a missing file of a key',
      flags: ['--signing-key', '/none/key'],
      line: 'kubedoh: Cannot read /none/key: no such file',
    },
    {
      name: 'RBAC of files',
      environment: { KUBEDOH_RBAC: '1' },
      line: 'kubedoh: KUBEDOH_RBAC needs to follow an API server; remove --objects',
    },
    {
      name: 'missing objects',
      flags: ['--objects', '/none/shop.yaml'],
      line: 'kubedoh: /none/shop.yaml: no such file or folder',
    },
    {
      name: 'a missing Corefile',
      flags: ['--conf', '/none/Corefile'],
      line: 'kubedoh: Cannot read /none/Corefile: no such file',
    },
    {
      name: 'a missing kubeconfig',
      flags: ['--objects', '', '--kubeconfig', '/none/config'],
      line: 'kubedoh: Cannot read kubeconfig /none/config: no such file or directory',
    },
  ]
  for (const { name, flags = [], environment, line } of refusals) {
    test(`refuses ${name}, in one line, and publishes nothing`, async (t) => {
      const gateway = await startGatewayServer(t)
      const args = ['--gateway', gateway.url, '--cluster', 'shop', '--once', ...flags]
      const objects = flags.includes('--objects') ? [] : ['--objects', shopFolder(t)]
      const variables = { ...gateway.environment, ...environment }
      assert.deepEqual(await runCli(['export', ...args, ...objects], variables), failed(line))
      assert.equal(await gateway.manifest(), undefined)
    })
  }

  test('sends the token unencrypted with KUBEDOH_INSECURE', async (t) => {
    const gateway = await startGatewayServer(t)
    const environment = { ...gateway.environment, KUBEDOH_INSECURE: '1' }
    // No such host: RFC 6761 §6.4.
    const url = 'http://gateway.invalid'
    const { stderr } = await exportOnce({ url, environment }, shopFolder(t))
    assert.match(stderr, /^kubedoh: http:\/\/gateway\.invalid cannot be reached: /)
  })
})

describe('export', () => {
  test('reports readiness, follows the cluster, and stops on a signal', async (t) => {
    const gateway = await startGatewayServer(t)
    const listen = `127.0.0.1:${await freePort()}`
    const { api, screen, ended } = await startWatching(t, gateway, listen)
    await screen.shows('stdout', /^ready: published \d+ records of cluster shop to .*\n$/)
    const get = async (path: string): Promise<string> =>
      (await fetch(`http://${listen}${path}`)).text()
    assert.deepEqual([await get('/healthz'), await get('/readyz')], ['OK', 'OK'])
    assert.match(await get('/metrics'), /^kubedoh_exporter_publishes_total\{result="stored"\} 1$/m)
    const before = await gateway.manifest()
    api.tell('services', ['ADDED', DB])
    await screen.shows('stderr', /"level":"info","message":"published"/)
    const after = await gateway.manifest()
    assert.ok(before && after && before.records < after.records)
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal(await ended, 0)
    await assert.rejects(get('/healthz'), TypeError)
  })

  test('publishes pending changes before it stops', async (t) => {
    const gateway = await startGatewayServer(t)
    const { api, screen, ended } = await startWatching(t, gateway, '')
    await screen.shows('stdout', /^ready: /)
    const before = await gateway.manifest()
    // What comes behind the change is told of at once: by then, the change is known.
    api.tell('services', ['ADDED', DB], ['ADDED', BAD])
    await screen.shows('stderr', /"level":"warning"/)
    assert.deepEqual(await gateway.manifest(), before)
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal(await ended, 0)
    const after = await gateway.manifest()
    assert.ok(before && after && before.records < after.records)
  })

  test('retries an unreachable gateway and is not ready', async (t) => {
    const gateway = await startGatewayServer(t)
    const url = `http://127.0.0.1:${await freePort()}`
    const listen = `127.0.0.1:${await freePort()}`
    const { screen, ended } = await startWatching(t, { ...gateway, url }, listen)
    await screen.shows('stderr', /"level":"error","message":"[^"]*ECONNREFUSED[^"]*; again in /)
    assert.equal((await fetch(`http://${listen}/readyz`)).status, 503)
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal(await ended, 0)
    assert.equal(screen.text.stdout, '')
  })

  test('reports an address in use in one line', async (t) => {
    const gateway = await startGatewayServer(t)
    const listen = gateway.url.replace('http://', '')
    const folder = shopFolder(t)
    const where = ['--gateway', gateway.url, '--objects', folder, '--listen', listen]
    assert.deepEqual(
      await runCli(['export', '--cluster', 'shop', ...where], gateway.environment),
      failed(
        `kubedoh: Cannot listen on ${listen}: address in use; ` +
          'stop the other process or choose another port (--listen; "" disables the status server)',
      ),
    )
  })
})
