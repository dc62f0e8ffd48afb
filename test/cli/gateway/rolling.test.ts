import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { type Running, start } from '../../real-cluster/processes.ts'
import { portOf, within } from '../../server/clients.ts'

const KUBEDOH = join(import.meta.dirname, '../../../bin/kubedoh')
const GATEWAYS = 3
const CLIENTS = 10
const PAUSE_MS = 60
/** How often the balancer probes; a gateway lingers for several times as long. */
const PROBE_MS = 100
const LINGER = '2s'

type Gateway = { process: Running; port: number; isReady: boolean }

/** Asks a gateway over a connection of its own; resolves with the status. */
function ask(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca: AUTHORITY, agent: false, timeout: 10_000 }
    const sent = request(options, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    sent.once('timeout', () => sent.destroy(new Error('timeout')))
    sent.once('error', reject)
    sent.end()
  })
}

async function launch(folder: string): Promise<Pick<Gateway, 'process' | 'port'>> {
  const files = ['--conf', join(folder, 'Corefile'), '--store', `file:${join(folder, 'store')}`]
  const tls = ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')]
  const args = ['gateway', '--listen', '127.0.0.1:0', ...files, ...tls]
  const process = start(KUBEDOH, args, { PUBLIC: 'true', KUBEDOH_LINGER: LINGER })
  const line = await process.line(/^ready: /)
  return { process, port: Number(/:(\d+)\/dns-query$/.exec(line)?.[1]) }
}

/** Connects clients to the gateways that are ready in turn; returns its port. */
async function balance(t: TestContext, gateways: readonly Gateway[]): Promise<number> {
  const sockets = new Set<Socket>()
  let next = 0
  const server = createServer((client) => {
    const ready = gateways.filter(({ isReady }) => isReady)
    const { port = 0 } = ready[next++ % ready.length] ?? {}
    const gateway = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.once('close', () => sockets.delete(from))
    }
  })
  const probe = async (gateway: Gateway): Promise<void> => {
    const { port } = gateway
    const status = await ask(port, '/ready').catch(() => 0)
    if (port === gateway.port) gateway.isReady = status === 200
  }
  const probes = setInterval(() => {
    for (const gateway of gateways) void probe(gateway)
  }, PROBE_MS)
  t.onTestFinished(() => {
    clearInterval(probes)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return portOf(server.address())
}

describe('three gateways behind a balancer', () => {
  test('restart without a failed request', { timeout: 120_000 }, async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'Corefile'), '. {\n  whoami\n}\n')
    writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
    writeFileSync(join(folder, 'key.pem'), SERVER.key)
    const launched = await Promise.all(Array.from({ length: GATEWAYS }, () => launch(folder)))
    const gateways = launched.map((one): Gateway => ({ ...one, isReady: true }))
    t.onTestFinished(async () => {
      await Promise.all(gateways.map(({ process }) => process.stop()))
    })
    const port = await balance(t, gateways)
    let isOver = false
    const results = new Map<string, number>()
    const query = async (): Promise<void> => {
      while (!isOver) {
        const result = await ask(port, '/resolve?name=a.test').catch((error) => String(error))
        results.set(String(result), (results.get(String(result)) ?? 0) + 1)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
    const clients = Array.from({ length: CLIENTS }, query)
    const [gateway = assert.fail()] = gateways
    assert.equal(await gateway.process.stop(), 0)
    Object.assign(gateway, await launch(folder), { isReady: false })
    const ready = async (): Promise<void> => {
      while (!gateway.isReady) await new Promise((resolve) => setTimeout(resolve, PROBE_MS))
    }
    await within(ready(), 'readiness')
    isOver = true
    await Promise.all(clients)
    assert.deepEqual([...results.keys()], ['200'])
    assert.ok((results.get('200') ?? 0) > CLIENTS, 'few requests')
  })
})
