/**
 * `npm run test:stores`: stores in a bucket of a real server of S3, and three gateways on one
 * bucket.
 * @module
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createGatewayClient, GatewayError } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import type { GatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { forEachOf } from '../../../src/server/gateway/bucket.ts'
import { createS3Bucket } from '../../../src/server/gateway/s3-client.ts'
import { createStoreInBucket } from '../../../src/server/gateway/s3-store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { describeUnless } from '../../describe-unless.ts'
import { freePort } from '../../free-port.ts'
import { DIRECTORY_PROMISES } from '../../gateway/directory-contract.ts'
import { type Published, snapshotOf } from '../../gateway/publishing.ts'
import { STORE_PROMISES } from '../../gateway/store-contract.ts'
import { TOKEN_STORE_PROMISES } from '../../gateway/token-store-contract.ts'
import { prepareVersitygw } from '../../real-cluster/binaries.ts'
import { type Running, start } from '../../real-cluster/processes.ts'
import { S3Server } from './s3-server.ts'

const KUBEDOH = join(import.meta.dirname, '../../../bin/kubedoh')
const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
const [EXPORTER, ADMIN, CLIENT] = ['the-exporter', 'the-operator', 'the-client']
/** Of a machine with other work; alone it takes 0.2 to 0.6 s, which are printed. */
const CHANGE_MS_MAX = 5000
const SETTLE_MS = 30_000
const NAMES = 400

const program = prepareVersitygw()
const { privateKey, publicKeyText: publicKey } = await keys()

describeUnless(typeof program === 'string' && program, 'a bucket of a real server', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start(typeof program === 'string' ? '' : program[0])
  })
  afterAll(() => server?.stop())

  /** A store below a prefix that no other test has. */
  const open = (prefix = `${randomBytes(8).toString('hex')}/`): GatewayStore =>
    createStoreInBucket(createS3Bucket(server.options), prefix, ({ message }) =>
      assert.fail(message),
    )

  describe('keeps the promises of', () => {
    for (const { name, hold } of STORE_PROMISES) {
      test(`snapshots: ${name}`, () => hold(open().clusterStore('shop')))
    }
    for (const { name, hold } of TOKEN_STORE_PROMISES) {
      test(`tokens: ${name}`, () => hold(open().tokenStore))
    }
    for (const { name, hold } of DIRECTORY_PROMISES) {
      test(`the directory: ${name}`, () => hold(open().directory?.store ?? assert.fail()))
    }
  })

  test('has all shards in lists of more than one page', async () => {
    const bucket = createS3Bucket(server.options)
    const written = Array.from({ length: 1100 }, (_, i) => `pages/${i}`)
    await forEachOf(written, (key) => bucket.put(key, new Uint8Array(1), 0))
    assert.deepEqual((await bucket.list('pages/')).map(({ key }) => key).sort(), written.sort())
  })

  describe('three gateways on it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-s3-gateways-'))
    const running: Running[] = []
    const urls: string[] = []
    const printed: string[] = []

    const launch = async (i: number): Promise<void> => {
      const { host } = new URL(urls[i] ?? '')
      const conf = join(folder, 'Corefile')
      const store = ['--store', server.place('gateways')]
      running[i] = start(KUBEDOH, ['gateway', '--conf', conf, '--listen', host, ...store], {
        ...server.environment,
        CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: await hashToken(EXPORTER) } }),
        ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
        CLIENT_TOKEN_SHA256: await hashToken(CLIENT),
        REQUESTS_PER_MINUTE: '0',
      })
      await running[i].line(/^ready: /)
    }

    beforeAll(async () => {
      writeFileSync(join(folder, 'Corefile'), COREFILE)
      for (let i = 0; i < 3; i++) urls.push(`http://127.0.0.1:${await freePort()}`)
      for (const i of urls.keys()) await launch(i)
    })

    afterAll(async () => {
      await Promise.all(running.map(({ stop }) => stop()))
      rmSync(folder, { recursive: true, force: true })
      process.stdout.write(`gateways on S3: ${printed.join('; ')}\n`)
    })

    test('answer a change that one of them takes', async () => {
      await publishAny(urls[0] ?? '')
      await untilAll(urls, newest)
      const times: number[] = []
      for (let round = 0; round < 10; round++) {
        const startMs = performance.now()
        const through = urls[round % 3] ?? ''
        const published = publishAny(through)
        times.push((await untilAll(urls, newest + 1)) - startMs)
        await published
      }
      times.sort((a, b) => a - b)
      const text = times.map((ms) => ms.toFixed(0)).join(', ')
      printed.push(`all three answer a change after ${text} ms`)
      assert.ok((times[times.length >> 1] ?? 0) < CHANGE_MS_MAX, text)
    })

    test('lose no publication of three exporters at once', async () => {
      const bases: string[] = []
      let refused = 0
      const work = async (url: string, own: number): Promise<void> => {
        const client = createGatewayClient({ url, cluster: 'shop', token: EXPORTER })
        for (let stored = 0; stored < 8; ) {
          const state = await client.state()
          const one = await snapshot((state?.generation ?? 0) + 1, own * 8 + stored)
          const result = await client.putPublication(
            { manifest: one.signed.bytes, shards: [...one.shards.values()] },
            one.signed.signature,
            state?.etag,
          )
          if (result?.kind === 'stored') {
            bases.push(state?.etag ?? '')
            stored++
          } else refused++
        }
      }
      await Promise.all(urls.map(work))
      // Each was made over another one: none was written over.
      assert.equal(new Set(bases).size, 24)
      printed.push(`24 publications of three exporters, ${refused} refused first`)
      const client = createGatewayClient({ url: urls[0] ?? '', cluster: 'shop', token: EXPORTER })
      newest = (await client.state())?.generation ?? 0
      await untilAll(urls, newest)
    })

    test('take tokens that another one made, and none that another one revoked', async () => {
      const made = await Promise.all(
        urls.map((url) => operate(url, 'POST', '/v1/tokens', '{"name":"ci"}')),
      )
      for (const { status, body } of made) {
        assert.equal(status, 201)
        for (const url of urls) await untilStatus(url, String(body.token), 200)
      }
      const [one] = made
      const gone = await operate(urls[1] ?? '', 'DELETE', `/v1/tokens/${String(one?.body.id)}`)
      assert.equal(gone.status, 204)
      const startMs = performance.now()
      for (const url of urls) await untilStatus(url, String(one?.body.token), 401)
      printed.push(`all refuse a revoked token after ${since(startMs)}`)
      assert.equal(await statusFor(urls[2] ?? '', String(made[1]?.body.token)), 200)
    })

    test('serve whole generations when one is killed while it publishes', async () => {
      const times: string[] = []
      for (const delayMs of [1, 5, 10, 20, 40, 80, 160]) {
        const [killed = '', other = ''] = urls
        const cut = publish(killed, await snapshot(newest + 1)).catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        running[0]?.child.kill('SIGKILL')
        await running[0]?.ended
        await cut
        const client = createGatewayClient({ url: other, cluster: 'shop', token: EXPORTER })
        const state = await client.state()
        assert.ok(state !== undefined && state.generation >= newest)
        newest = state.generation
        const startMs = performance.now()
        await publishAny(other)
        await untilAll(urls.slice(1), newest)
        times.push(since(startMs))
        await launch(0)
        await untilAll(urls, newest)
      }
      printed.push(`after one was killed, the others publish and answer within ${times.join(', ')}`)
    })

    for (const [what, end, begin] of [
      ['is killed', 'SIGKILL', 'begin'],
      ['hangs', 'SIGSTOP', 'SIGCONT'],
    ] as const) {
      test(`answer from memory while the server ${what}, and go on when it is back`, async () => {
        await untilAll(urls, newest)
        await server.signal(end)
        const startMs = performance.now()
        let slowestMs = 0
        while (performance.now() - startMs < 5000) {
          for (const url of urls) {
            const askedMs = performance.now()
            assert.equal(await generationAt(url), newest)
            slowestMs = Math.max(slowestMs, performance.now() - askedMs)
          }
        }
        const refused = await publish(urls[0] ?? '', await snapshot(newest + 1)).catch(statusOf)
        assert.equal(refused, 503)
        const token = await operate(urls[1] ?? '', 'POST', '/v1/tokens', '{}')
        assert.deepEqual([token.status, codeOf(token.body)], [503, 'store_unavailable'])
        if (begin === 'begin') await server.begin()
        else await server.signal(begin)
        const backMs = performance.now()
        while ((await publish(urls[0] ?? '', await snapshot(newest + 1)).catch(statusOf)) !== 200);
        newest++
        await untilAll(urls, newest)
        printed.push(
          `while the server ${what}, the slowest answer took ${slowestMs.toFixed(0)} ms; all are ` +
            `up to date ${since(backMs)} after it is back`,
        )
        assert.ok(slowestMs < 2500, String(slowestMs))
      })
    }
  })
})

/** The newest generation that was published. */
let newest = 0

async function publishAny(url: string): Promise<void> {
  assert.equal(await publish(url, await snapshot(newest + 1)), 200)
  newest++
}

/** Publishes over what is there. @throws {GatewayError} for a refusal */
async function publish(url: string, { signed, shards }: Published): Promise<number> {
  const client = createGatewayClient({ url, cluster: 'shop', token: EXPORTER })
  const etag = (await client.state())?.etag
  const publication = { manifest: signed.bytes, shards: [...shards.values()] }
  const result = await client.putPublication(publication, signed.signature, etag)
  return result?.kind === 'stored' ? 200 : 412
}

/** Names that all have the generation in their addresses. */
function snapshot(generation: number, own = 0): Promise<Published> {
  const sets = Array.from(
    { length: NAMES },
    (_, i) => `s${i}.shop.svc.cluster.local. 5 IN A 10.${generation}.${own}.${i & 255}`,
  )
  const time = new Date().toISOString()
  return snapshotOf(privateKey, sets, { generation, time, shardCount: 4 })
}

/** The generation that a gateway answers with, for names in all shards. */
async function generationAt(url: string): Promise<number | undefined> {
  const found = new Set<string | undefined>()
  for (const i of [0, 77, 399]) {
    const response = await fetch(`${url}/resolve?name=s${i}.shop.svc.cluster.local&type=A`, {
      headers: { authorization: `Bearer ${CLIENT}` },
    })
    found.add(/"data": ?"10\.(\d+)\./.exec(await response.text())?.[1])
  }
  const [one] = found
  return found.size === 1 && one !== undefined ? Number(one) : undefined
}

/** Waits until all gateways answer with a generation. @returns when they did */
async function untilAll(urls: readonly string[], generation: number): Promise<number> {
  const startMs = performance.now()
  await Promise.all(
    urls.map(async (url) => {
      while ((await generationAt(url).catch(() => undefined)) !== generation) {
        assert.ok(performance.now() - startMs < SETTLE_MS, `${url} has no ${generation}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }),
  )
  return performance.now()
}

async function operate(
  url: string,
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body && { body }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

/** A gateway reads the tokens each second. */
async function untilStatus(url: string, token: string, status: number): Promise<void> {
  const startMs = performance.now()
  while ((await statusFor(url, token)) !== status) {
    assert.ok(performance.now() - startMs < SETTLE_MS, `${url}: no ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function statusFor(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/resolve?name=s0.shop.svc.cluster.local`, { headers })
  await response.body?.cancel()
  return response.status
}

function statusOf(error: unknown): number | undefined {
  return error instanceof GatewayError ? error.status : undefined
}

function codeOf({ error }: Readonly<Record<string, unknown>>): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function since(startMs: number): string {
  return `${(performance.now() - startMs).toFixed(0)} ms`
}
