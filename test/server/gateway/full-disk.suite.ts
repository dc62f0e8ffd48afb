/**
 * `npm run test:stores`: the gateway on Node on a real file system that is full or read-only: a
 * tmpfs of 1 MiB. Needs root to mount it.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { createNodeGateway, createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { runCli, Screen } from '../../cli/run-cli.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { type Published, snapshotOf } from '../../gateway/publishing.ts'

const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
const [EXPORTER, ADMIN] = ['the-exporter', 'the-operator']
const PAGE = 4096
const { privateKey, publicKeyText: publicKey } = await keys()

/** Mounts a tmpfs, which goes with the test. */
function mountDisk(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'kubedoh-test', folder])
  t.onTestFinished(() => {
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

/** Fills a disk but for some pages. */
function fill(folder: string, pages: number): void {
  const path = join(folder, 'ballast')
  let size = 1024 * 1024
  for (;;) {
    try {
      writeFileSync(path, new Uint8Array(size))
      break
    } catch {
      size -= PAGE
    }
  }
  writeFileSync(path, new Uint8Array(Math.max(0, size - pages * PAGE)))
}

async function start(t: TestContext, folder: string): Promise<string> {
  const config = await readGatewayConfig({
    COREFILE,
    CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: await hashToken(EXPORTER) } }),
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    PUBLIC: 'true',
  })
  const log = (): void => undefined
  const server = await createNodeGateway({
    config,
    store: createNodeStore(folder, () => undefined),
    corefileFolder: '/',
    tls: undefined,
    log,
  })
  const port = await server.listen('127.0.0.1', 0)
  t.onTestFinished(() => server.close())
  return `http://127.0.0.1:${port}`
}

function send(url: string, method: string, body?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  return fetch(url, { method, headers, ...(body !== undefined && { body }) })
}

/** Publishes; resolves with the refusal's status, or 200. */
async function publish(url: string, one: Published): Promise<number> {
  const client = createGatewayClient({ url, cluster: 'shop', token: EXPORTER })
  const { bytes, signature } = one.signed
  try {
    const etag = (await client.state())?.etag
    for (const [sha256, shard] of one.shards) await client.putShard(sha256, shard)
    return (await client.putManifest(bytes, signature, etag)).kind === 'stored' ? 200 : 0
  } catch (error) {
    return error instanceof Error && 'status' in error ? Number(error.status) : 0
  }
}

function snapshot(generation: number): Promise<Published> {
  const sets = Array.from(
    { length: 400 },
    (_, i) => `s${i}.shop.svc.cluster.local. 5 IN A 10.${generation}.${i >> 8}.${i & 255}`,
  )
  const time = new Date().toISOString()
  return snapshotOf(privateKey, sets, { generation, time, shardCount: 4 })
}

async function ask(url: string): Promise<string[]> {
  const asked = [0, 77, 399].map(async (i) => {
    const response = await fetch(`${url}/resolve?name=s${i}.shop.svc.cluster.local&type=A`)
    return /"data": ?"10\.(\d+)\./.exec(await response.text())?.[1] ?? 'none'
  })
  return [...new Set(await Promise.all(asked))]
}

describe('the gateway on a disk', () => {
  test('that is full refuses with 507, with each number of free pages, and loses nothing', async (t) => {
    const folder = mountDisk(t)
    const url = await start(t, folder)
    assert.equal(await publish(url, await snapshot(1)), 200)
    assert.equal((await send(`${url}/v1/tokens`, 'POST', '{"name":"first"}')).status, 201)
    let refused = 0
    let stored = 1
    for (let pages = 0; pages < 16; pages++) {
      fill(folder, pages)
      const status = await publish(url, await snapshot(2 + pages))
      assert.ok(status === 507 || status === 200, `${status} with ${pages} pages`)
      if (status === 507) refused++
      else stored = 2 + pages
      assert.equal((await ask(url)).length, 1)
      rmSync(join(folder, 'ballast'))
    }
    assert.ok(refused >= 4, `${refused} refused`)
    fill(folder, 0)
    const made = await send(`${url}/v1/tokens`, 'POST', '{"name":"second"}')
    assert.equal(made.status, 507)
    assert.equal(JSON.parse(await made.text()).error.code, 'no_space')
    const listed = JSON.parse(await (await send(`${url}/v1/tokens`, 'GET')).text())
    assert.deepEqual(
      listed.tokens.map(({ name }: { name: string }) => name),
      ['first'],
    )
    const next = await start(t, folder)
    assert.deepEqual(await ask(next), [`${stored}`])
    assert.deepEqual(
      readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.tmp')),
      [],
    )
    assert.match(readFileSync(join(folder, 'tokens.jsonl.1'), 'utf8'), /^\{.*"first".*\}\n$/)
    rmSync(join(folder, 'ballast'))
    assert.equal(await publish(next, await snapshot(40)), 200)
    // The gateway looks for a newer manifest in the background; the runner's time limit ends it.
    while ((await ask(next)).join() !== '40') await new Promise(setImmediate)
  })

  test('that is read-only serves, and refuses with 503 and the reason', async (t) => {
    const folder = mountDisk(t)
    const url = await start(t, folder)
    assert.equal(await publish(url, await snapshot(1)), 200)
    execFileSync('mount', ['-o', 'remount,ro', folder])
    const next = await start(t, folder)
    assert.equal(await publish(next, await snapshot(2)), 503)
    assert.deepEqual(await ask(next), ['1'])
    const made = await send(`${next}/v1/tokens`, 'POST', '{"name":"second"}')
    const { error } = JSON.parse(await made.text())
    assert.deepEqual([made.status, error.code], [503, 'read_only'])
    assert.match(error.message, /read-only.*EROFS/)
  })

  test('that is read-only at the start of the command serves, and warns', async (t) => {
    const folder = mountDisk(t)
    const url = await start(t, join(folder, 'store'))
    assert.equal(await publish(url, await snapshot(1)), 200)
    execFileSync('mount', ['-o', 'remount,ro', folder])
    const conf = join(temporaryFolder(t, { Corefile: COREFILE }), 'Corefile')
    const store = join(folder, 'store')
    const screen = new Screen()
    const args = ['gateway', '--conf', conf, '--listen', '127.0.0.1:0', '--store', `file:${store}`]
    const ended = main(args, screen, {
      CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: await hashToken(EXPORTER) } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      PUBLIC: 'true',
    })
    const [, next = ''] = await screen.shows('stdout', /^ready: .* on (http:.*)\/dns-query/)
    assert.match(screen.text.stderr, /cannot be written: names are .*"reason":"the file system is/)
    assert.deepEqual(await ask(next), ['1'])
    assert.equal(await publish(next, await snapshot(2)), 503)
    const made = await send(`${next}/v1/tokens`, 'POST', '{"name":"second"}')
    assert.equal(JSON.parse(await made.text()).error.code, 'read_only')
    execFileSync('mount', ['-o', 'remount,rw', folder])
    assert.equal(await publish(next, await snapshot(3)), 200)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
    const missing = ['--store', `file:${join(folder, 'other')}`]
    execFileSync('mount', ['-o', 'remount,ro', folder])
    const refused = await runCli(['gateway', '--conf', conf, ...missing], { CLUSTERS: '{}' })
    assert.match(refused.stderr, /Cannot use --store file:.*other: /)
  })
})
