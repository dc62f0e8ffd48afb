import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { type GatewayConfig, readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { createMemoryGatewayStore } from '../../../src/gateway/snapshots/store.ts'
import {
  createNodeGateway,
  createNodeRuntime,
  createNodeStore,
} from '../../../src/server/gateway/node-gateway.ts'
import { AUTHORITY, CLIENT, SERVER } from '../../certificates.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { snapshotOf, WEB } from '../../gateway/publishing.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n'
const [EXPORTER, ADMIN, READER] = ['the-exporter', 'the-operator', 'the-reader']
const { privateKey, publicKeyText: publicKey } = await keys()
const { message } = parseQuestion('web.shop.svc.shop.test A')
const PATH = `/dns-query?dns=${encodeBase64url(message)}`

async function start(t: TestContext, folder?: string, isSecure = true): Promise<number> {
  const config = await readGatewayConfig({
    COREFILE,
    CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: await hashToken(EXPORTER) } }),
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLIENT_TOKEN_SHA256: await hashToken(READER),
  })
  const server = await createNodeGateway({
    config,
    store: createNodeStore(folder, () => undefined),
    corefileFolder: '/',
    tls: isSecure ? { ...SERVER, ca: AUTHORITY, clientAuth: 'request' } : undefined,
    log: () => undefined,
  })
  const port = await server.listen('127.0.0.1', 0)
  t.onTestFinished(() => server.close())
  return port
}

async function publish(port: number, lines: readonly string[] = [WEB]): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  const client = createGatewayClient({ url, cluster: 'shop', token: EXPORTER })
  const time = new Date().toISOString()
  const before = await client.state()
  const generation = (before?.generation ?? 0) + 1
  const { shards, signed } = await snapshotOf(privateKey, lines, { time, generation })
  for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
  const result = await client.putManifest(signed.bytes, signed.signature, before?.etag)
  assert.equal(result.kind, 'stored')
}

/** Sends over one connection of HTTP/2. */
function send(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  body?: Uint8Array | string,
): Promise<{ status: number; body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers)
    let status = 0
    const chunks: Buffer[] = []
    stream.on('response', (got) => {
      status = Number(got[':status'])
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      resolve({ status, body: new Uint8Array(Buffer.concat(chunks)) })
    })
    stream.on('error', reject)
    stream.end(body)
  })
}

function open(t: TestContext, port: number, certificate = {}): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { ca: AUTHORITY, ...certificate })
  t.onTestFinished(() => session.destroy())
  return session
}

const authorization = `Bearer ${READER}`

async function ask(port: number): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { headers: { authorization } })
  assert.equal(response.status, 200)
  return formatReply(new Uint8Array(await response.arrayBuffer()))
}

describe('the gateway on Node', () => {
  test('answers from what is published, before and after it is started again', async (t) => {
    const folder = temporaryFolder(t)
    const port = await start(t, folder, false)
    await publish(port)
    const answer = WEB.replace('cluster.local', 'shop.test')
    assert.ok((await ask(port)).includes(answer))
    assert.ok((await ask(await start(t, folder, false))).includes(answer))
  })

  test('answers from a publication once its exporter knows that it is stored', async (t) => {
    const port = await start(t, undefined, false)
    await publish(port)
    for (const address of ['10.96.0.81', '10.96.0.82', '10.96.0.83']) {
      await ask(port)
      await publish(port, [WEB.replace(/\S+$/, address)])
      assert.match((await ask(port)).join(), new RegExp(address))
    }
  })

  test('answers a hundred requests at once over one connection of HTTP/2', async (t) => {
    const session = open(t, await start(t))
    const headers = { ':path': '/dns-query', ':method': 'POST', authorization }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, id) => {
        const body = Uint8Array.from(message)
        body[1] = id
        return send(session, { ...headers, 'content-type': 'application/dns-message' }, body)
      }),
    )
    answers.forEach(({ status, body }, id) => {
      assert.deepEqual([status, body[1], (body[3] ?? 0) & 15], [200, id, 2])
    })
  })

  test('breaks off a body that is longer than it said, and goes on', async (t) => {
    const port = await start(t)
    const { token } = JSON.parse(
      new TextDecoder().decode(
        (
          await send(open(t, port), {
            ':path': '/v1/tokens',
            ':method': 'POST',
            authorization: `Bearer ${ADMIN}`,
          })
        ).body,
      ),
    )
    const known = { ':path': '/dns-query', ':method': 'POST', authorization: `Bearer ${token}` }
    const type = { 'content-type': 'application/dns-message' }
    const size = { 'content-length': String(message.length) }
    const session = open(t, port)
    session.on('error', () => undefined)
    assert.equal((await send(session, { ...known, ...type }, message)).status, 200)
    const long = send(session, { ...known, ...type, ...size }, new Uint8Array(1_000_000))
    await assert.rejects(long)
    const next = open(t, port)
    assert.equal((await send(next, { ...known, ...type, ...size }, message)).status, 200)
  })

  test('survives streams that are begun and taken back in one packet', async (t) => {
    const port = await start(t)
    const frame = (type: number, flags: number, stream: number, body = Buffer.alloc(0)): Buffer => {
      const head = Buffer.alloc(9)
      head.writeUIntBE(body.length, 0, 3)
      head.writeUInt8(type, 3)
      head.writeUInt8(flags, 4)
      head.writeUInt32BE(stream, 5)
      return Buffer.concat([head, body])
    }
    const text = (words: string): Buffer =>
      Buffer.concat([Buffer.of(words.length), Buffer.from(words)])
    const headers = {
      ':method': 'GET',
      ':scheme': 'https',
      ':authority': 'localhost',
      ':path': PATH,
    }
    const block = Buffer.concat(
      Object.entries(headers).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
    )
    const parts = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]
    for (let stream = 1; stream < 200; stream += 2) {
      parts.push(frame(1, 5, stream, block), frame(3, 0, stream, Buffer.of(0, 0, 0, 8)))
    }
    const options = { port, host: '127.0.0.1', ca: AUTHORITY, ALPNProtocols: ['h2'] }
    const socket = connectTls(options, () => socket.write(Buffer.concat(parts)))
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('data', resolve))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    const query = { ':path': PATH, authorization }
    assert.equal((await send(open(t, port), query)).status, 200)
  })

  test('speaks HTTP/1.1 at the same port', async (t) => {
    const port = await start(t)
    const status = await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: PATH, ca: AUTHORITY }
      request({ ...options, headers: { authorization } }, (response) => {
        response.resume()
        resolve(`${response.httpVersion} ${response.statusCode}`)
      })
        .on('error', reject)
        .end()
    })
    assert.equal(status, '1.1 200')
  })

  test('knows a client by its certificate, when a token says whose it is', async (t) => {
    const port = await start(t)
    const sha256 = createHash('sha256').update(new X509Certificate(CLIENT.cert).raw).digest('hex')
    const query = { ':path': PATH }
    const [bare, known] = [open(t, port), open(t, port, CLIENT)]
    assert.equal((await send(known, query)).status, 401)
    const headers = { ':path': '/v1/tokens', ':method': 'POST', authorization: `Bearer ${ADMIN}` }
    const body = JSON.stringify({ identities: [`cert:${sha256}`] })
    assert.equal((await send(bare, headers, body)).status, 201)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    assert.equal((await send(known, query)).status, 200)
    assert.equal((await send(bare, query)).status, 401)
    const stranger = open(t, port, { ...SERVER, key: SERVER.key, cert: SERVER.cert })
    assert.equal((await send(stranger, query)).status, 401)
  })

  test('ends while connections are open', async (t) => {
    const config = await readGatewayConfig({ COREFILE: '. {\n}\n' })
    const options = {
      config,
      store: createMemoryGatewayStore(),
      corefileFolder: '/',
      log: () => undefined,
    }
    const tls = { ...SERVER, clientAuth: 'nocert' } as const
    const server = await createNodeGateway({ ...options, tls })
    const port = await server.listen('127.0.0.1', 0)
    assert.equal((await send(open(t, port), { ':path': '/' })).status, 200)
    await server.close()
  })
})

test('plugins work in the background: a changed zone file is read again', async (t) => {
  const zone = (serial: number, rdata: string): string =>
    `@ 60 IN SOA ns h ${serial} 1 1 1 1\nwww 60 IN A ${rdata}\n`
  const folder = temporaryFolder(t)
  const write = (serial: number, rdata: string): void => {
    writeFileSync(join(folder, 'db'), zone(serial, rdata))
  }
  write(1, '192.0.2.1')
  const corefile = (ms: number): string => `a.test {\n  file db {\n    reload ${ms}ms\n  }\n}\n`
  const config = await readGatewayConfig({ COREFILE: corefile(20), PUBLIC: 'true' })
  const place = { store: createMemoryGatewayStore(), corefileFolder: folder, tls: undefined }
  const server = await createNodeGateway({ config, ...place, log: () => undefined })
  const port = await server.listen(undefined, 0)
  t.onTestFinished(() => server.close())
  const until = async (rdata: string): Promise<void> => {
    const got = await fetch(`http://127.0.0.1:${port}/resolve?name=www.a.test`)
    const { Answer: answer } = Object(await got.json())
    if (answer[0].data !== rdata) await until(rdata)
  }
  await until('192.0.2.1')
  write(2, '192.0.2.2')
  await until('192.0.2.2')
  await server.reload(await readGatewayConfig({ COREFILE: corefile(30), PUBLIC: 'true' }))
  write(3, '192.0.2.3')
  await until('192.0.2.3')
})

test('a reload does not wait for each cluster in turn while the store is silent', async (t) => {
  const silent = new Promise<never>(() => undefined)
  const memory = createMemoryGatewayStore()
  const clusterStore: typeof memory.clusterStore = (id) => ({
    ...memory.clusterStore(id),
    readManifest: () => silent,
  })
  const ids = Array.from({ length: 8 }, (_, i) => `c${i}`)
  const blocks = ids.map(
    (id) => `${id}.test {\n  kubernetes ${id}.test {\n    cluster ${id}\n  }\n}\n`,
  )
  const read = async (admin: string): Promise<GatewayConfig> => {
    const keys = { publicKey, tokenSha256: await hashToken(EXPORTER) }
    const CLUSTERS = JSON.stringify(Object.fromEntries(ids.map((id) => [id, keys])))
    const ADMIN_TOKEN_SHA256 = await hashToken(admin)
    return readGatewayConfig({ COREFILE: blocks.join(''), CLUSTERS, ADMIN_TOKEN_SHA256 })
  }
  const place = { store: { ...memory, clusterStore }, corefileFolder: '/', tls: undefined }
  const config = await read('revoked')
  const server = await createNodeGateway({ config, ...place, log: () => undefined })
  t.onTestFinished(() => server.close())
  const begun = performance.now()
  await server.reload(await read('next'))
  // A follower waits for two seconds.
  assert.ok(performance.now() - begun < 8000)
  const headers = { authorization: 'Bearer revoked' }
  const request = new Request('http://127.0.0.1/v1/tokens', { headers })
  assert.equal((await server.fetch(request, '127.0.0.1')).status, 401)
})

test('views see both ends of a connection, whichever path answers', async (t) => {
  const here = "server_ip() == '127.0.0.1' && server_port() != '0' && port() != '0'"
  const COREFILE =
    `. {\n  view here {\n    expr ${here}\n  }\n  hosts {\n    192.0.2.1 a.test\n  }\n}\n` +
    '. {\n  hosts {\n    192.0.2.2 a.test\n  }\n}\n'
  const server = await createNodeGateway({
    config: await readGatewayConfig({ COREFILE, PUBLIC: 'true' }),
    store: createMemoryGatewayStore(),
    corefileFolder: '/',
    tls: undefined,
    log: () => undefined,
  })
  t.onTestFinished(() => server.close())
  const dns = encodeBase64url(parseQuestion('a.test A').message)
  const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}/dns-query?dns=${dns}`
  // The fast path leaves a list of media types to the app.
  for (const accept of ['*/*', 'application/dns-message, */*']) {
    const response = await fetch(url, { headers: { accept } })
    const reply = formatReply(new Uint8Array(await response.arrayBuffer()))
    assert.match(reply.join(), /192\.0\.2\.1$/, accept)
  }
})

async function options(
  folder: string | undefined,
): Promise<Parameters<typeof createNodeRuntime>[0]> {
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
  const config = await readGatewayConfig({ COREFILE: '. {\n}\n', CLUSTERS })
  const log = (): void => undefined
  return { config, store: createNodeStore(folder, log), corefileFolder: '/', log }
}

test('tokens stay in the folder, and nowhere without one', async (t) => {
  const folder = temporaryFolder(t)
  const { record } = await tokenRecord()
  for (const [where, count] of [
    [folder, 1],
    [undefined, 0],
  ] as const) {
    await createNodeRuntime(await options(where)).tokenStore.add(record)
    const again = await createNodeRuntime(await options(where)).tokenStore.list()
    assert.equal(again.length, count)
  }
})
