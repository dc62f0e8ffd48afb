/**
 * The examples, each with the package as npm would publish it; `test/image/package.suite.ts` packs
 * that. The one for Deno is in `test/clients/examples.suite.ts`, the Pod in
 * `test/real-node/gateway.suite.ts`.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, type TestContext, test } from 'vitest'
import { parse } from 'yaml'
import { startGateway } from '../../build/local-gateway.ts'
import { isRecord } from '../../src/dns/bytes/unknown.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { nameOf, parseResponse, TYPE, writeQuery } from '../../src/library/dns.ts'
import { createGateway } from '../../src/library/gateway.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { FakeIssuer } from '../gateway/fake-issuer.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'
import { writeReplyText } from '../message-text.ts'
import { addFile, installExample } from './installed.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const NAMES = ['ci', 'deno', 'dns-codec', 'lambda', 'sidecar', 'snapshot-reader', 'worker']

/** Defines the tests. @param packed folder of the package */
export function testExamples(packed: string): void {
  describe('the examples', () => {
    test('are seven, each with a README', () => {
      const entries = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
      assert.deepEqual(folders.sort(), NAMES)
      const index = readFileSync(join(ROOT, 'examples/README.md'), 'utf8')
      for (const name of NAMES) {
        assert.ok(index.includes(`(${name}/README.md)`), name)
        const lines = readFileSync(join(ROOT, 'examples', name, 'README.md'), 'utf8').split('\n')
        assert.ok(lines.length <= 16, `${name}: ${lines.length} lines`)
      }
    })
    test('compile against the types of the package', (t) => compile(t, packed))
    test('worker: adds a route, and takes and answers names', (t) => runWorker(t, packed))
    test('lambda: answers events, in base64', (t) => runLambda(t, packed))
    test('ci: calls a Service by its name', (t) => runJob(t, packed))
    test('dns-codec: queries a server over UDP', (t) => queryByUdp(t, packed))
    test('snapshot-reader: prints the records of a snapshot', (t) => readSnapshot(t, packed))
  })
}

async function compile(t: TestContext, packed: string): Promise<void> {
  for (const [name, file] of [
    ['lambda', 'handler.ts'],
    ['dns-codec', 'main.ts'],
    ['snapshot-reader', 'main.ts'],
  ] as const) {
    const folder = installExample(t, name, packed)
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
    addFile(folder, 'package.json', '{"type":"module"}')
    const common = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext']
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const args = [tsc, ...common, '--types', 'node', file]
    await run(process.execPath, args, { cwd: folder }).catch(({ stdout }) => assert.fail(stdout))
  }
}

async function runWorker(t: TestContext, packed: string): Promise<void> {
  const folder = installExample(t, 'worker', packed)
  const wrangler = readFileSync(join(folder, 'wrangler.toml'), 'utf8')
  const own = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  for (const [binding] of own.matchAll(/\[\[durable_objects.bindings\]\]\n.*\n.*\n/g)) {
    assert.ok(wrangler.includes(binding), binding)
  }
  const [, COREFILE = ''] = /COREFILE = """\n([\s\S]*?)"""/.exec(wrangler) ?? []
  const { privateKey, publicKeyText: publicKey } = await keys()
  const CLUSTERS = JSON.stringify({
    prod: { publicKey, tokenSha256: await hashToken('exporter') },
  })
  const variables = { COREFILE, CLUSTERS, PUBLIC: 'true' }
  const { url, stop } = await startGateway({ variables, entry: join(folder, 'index.js') })
  try {
    assert.equal(await (await fetch(`${url}/hello`)).text(), 'Hello from my Worker\n')
    const client = createGatewayClient({ url, cluster: 'prod', token: 'exporter' })
    const time = new Date().toISOString()
    const { signed, shards } = await snapshotOf(privateKey, [WEB], { cluster: 'prod', time })
    for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
    await client.putManifest(signed.bytes, signed.signature, undefined)
    const answer = await fetch(`${url}/resolve?name=web.shop.svc.prod.example.org`)
    assert.match(await answer.text(), /"data":"10\.96\.0\.80"/)
  } finally {
    await stop()
  }
}

async function runLambda(t: TestContext, packed: string): Promise<void> {
  const folder = installExample(t, 'lambda', packed)
  await build({
    entryPoints: [join(folder, 'handler.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'dist/handler.mjs'),
    logLevel: 'error',
  })
  const query = writeQuery({ name: nameOf('web.test.'), type: TYPE.A })
  const event = {
    version: '2.0',
    rawPath: '/dns-query',
    rawQueryString: '',
    headers: { 'content-type': 'application/dns-message', 'content-length': `${query.length}` },
    body: Buffer.from(query).toString('base64'),
    isBase64Encoded: true,
    requestContext: {
      domainName: 'doh.test',
      http: { method: 'POST', path: '/dns-query', sourceIp: '203.0.113.7' },
    },
  }
  const get = {
    ...event,
    rawPath: '/resolve',
    rawQueryString: 'name=web.test',
    headers: {},
    body: undefined,
    isBase64Encoded: false,
    requestContext: { domainName: 'doh.test', http: { method: 'GET', sourceIp: '203.0.113.7' } },
  }
  const driver = addFile(
    folder,
    'driver.mjs',
    `import { handler } from './dist/handler.mjs'
    const events = JSON.parse(process.argv[2])
    console.log(JSON.stringify(await Promise.all(events.map(handler))))`,
  )
  const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.test\n  }\n}\n'
  const env = { ...process.env, COREFILE, PUBLIC: 'true' }
  const { stdout } = await run(process.execPath, [driver, JSON.stringify([event, get])], { env })
  const [posted, got] = JSON.parse(stdout)
  assert.equal(posted.statusCode, 200)
  assert.equal(posted.headers['content-type'], 'application/dns-message')
  const reply = parseResponse(Buffer.from(posted.body, 'base64'))
  assert.deepEqual(reply?.answer[0]?.rdata, Uint8Array.of(192, 0, 2, 1))
  assert.match(Buffer.from(got.body, 'base64').toString(), /"data":"192\.0\.2\.1"/)
}

async function runJob(t: TestContext, packed: string): Promise<void> {
  const folder = installExample(t, 'ci', packed)
  const workflow = parse(readFileSync(join(folder, '.github/workflows/names.yml'), 'utf8'))
  const { env, steps } = workflow.jobs.test
  const script = steps.find((step: unknown) => isRecord(step) && 'run' in step)?.run
  const port = await listen(
    t,
    createServer((_, response) => response.end('the Service\n')),
  )
  const issuer = await FakeIssuer.listen(t)
  const rules = [{ when: { repository: 'acme/shop' }, namespaces: ['shop'] }]
  const gateway = await createGateway({
    COREFILE: `. {\n  hosts {\n    127.0.0.1 ${env.HOST}\n  }\n}\n`,
    CLIENT_TOKEN_SHA256: await hashToken('a-token'),
    ISSUERS: JSON.stringify([{ issuer: issuer.url, audiences: ['kubedoh'], rules }]),
  })
  t.onTestFinished(() => gateway.close())
  const variables = {
    PATH: process.env.PATH,
    NO_PROXY: '*',
    ...env,
    PORT: String(port),
    KUBEDOH_GATEWAY: `http://127.0.0.1:${await gateway.listen('127.0.0.1', 0)}`,
  }
  const jwt = await issuer.sign(Date.now(), { sub: 'job', repository: 'acme/shop' })
  const identities: { readonly [name: string]: string }[] = [
    { ...(await actionsRunner(t, jwt)), KUBEDOH_JWT: 'not asked for' },
    { KUBEDOH_JWT: jwt },
    { KUBEDOH_TOKEN: 'a-token', KUBEDOH_JWT: 'not asked for' },
  ]
  for (const identity of identities) {
    const options = { cwd: folder, env: { ...variables, ...identity } }
    assert.equal((await run('sh', ['-ec', script], options)).stdout, 'the Service\n')
  }
  const known = { ...variables, KUBEDOH_TOKEN: 'a-token' }
  const missing = run(join(folder, 'names.sh'), ['missing.test'], { env: known })
  await assert.rejects(missing, { code: 1 })
  const wrong = { ...variables, KUBEDOH_TOKEN: 'another' }
  await assert.rejects(run(join(folder, 'names.sh'), [env.HOST], { env: wrong }), /401/)
}

/** A runner of GitHub Actions: where a job asks for its identity, and by which token. */
async function actionsRunner(
  t: TestContext,
  jwt: string,
): Promise<{ readonly [name: string]: string }> {
  const server = createServer((request, response) => {
    const isRight =
      request.headers.authorization === 'Bearer runner' &&
      request.url === '/id?api-version=2.0&audience=kubedoh'
    if (isRight) response.end(JSON.stringify({ count: 1, value: jwt }))
    else response.writeHead(403).end()
  })
  const port = await listen(t, server)
  const url = `http://127.0.0.1:${port}/id?api-version=2.0`
  return { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner' }
}

async function listen(t: TestContext, server: Server): Promise<number> {
  t.onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return isRecord(address) ? Number(address.port) : 0
}

async function queryByUdp(t: TestContext, packed: string): Promise<void> {
  const folder = installExample(t, 'dns-codec', packed)
  const server = createSocket('udp4')
  t.onTestFinished(() => void server.close())
  server.on('message', (query, { port, address }) => {
    const reply = writeReplyText(['NOERROR', 'web.test. 300 IN A 192.0.2.1'], query)
    server.send(reply, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const args = [join(folder, 'main.ts'), 'web.test', 'A', '127.0.0.1', `${server.address().port}`]
  const { stdout } = await run(process.execPath, args)
  assert.equal(stdout, '; NOERROR\nweb.test. 300 IN A 192.0.2.1\n')
}

async function readSnapshot(t: TestContext, packed: string): Promise<void> {
  const folder = installExample(t, 'snapshot-reader', packed)
  const objects = join(ROOT, 'demo/shop.yaml')
  const names = join(folder, 'names')
  const kubedoh = join(packed, 'dist/run.js')
  const args = [kubedoh, 'snapshot', 'build', '--objects', objects, '--out', names]
  await run(process.execPath, args)
  const { stdout } = await run(process.execPath, [join(folder, 'main.ts'), names])
  assert.match(stdout, /^; cluster cluster: \d+ records\n/)
  assert.match(stdout, /\nweb\.shop\.svc\.cluster\.local\. 30 IN A \S+\n/)
  const dump = await run(process.execPath, [kubedoh, 'snapshot', 'dump', names])
  assert.deepEqual(stdout.split('\n').slice(1), dump.stdout.split('\n').slice(1))
}
