/**
 * The unchanged gateway as a server on runtimes other than Node. Run by `npm run test:clients`,
 * which installs these runtimes from npm.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, it } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken, hostTokenOf } from '../../src/gateway/access/token.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { BUN, DENO, missingRuntime } from '../runtimes.ts'
import { frame } from '../server/clients.ts'

const ROOT = join(import.meta.dirname, '../..')
const RUN = join(ROOT, 'src/cli/run.ts')
const ADMIN = 'the-operator-of-these-tests'
const COREFILE = '. {\n  kubernetes demo.test {\n    cluster demo\n  }\n}\n'
const OBJECTS = `apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Namespace, metadata: { name: shop, labels: { team: shop } } }
  - apiVersion: v1
    kind: Service
    metadata: { name: web, namespace: shop }
    spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
`
const NAME = 'web.shop.svc.demo.test'
const TOKEN_DOMAIN = 'doh.example.org'
/** A token in the form that fits into a hostname. */
const HOST_TOKEN = await hostTokenOf('the-client-of-these-tests')

for (const runtime of [BUN, DENO]) {
  describeUnless(missingRuntime(runtime), `the gateway on ${runtime.name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-runtime-'))
    let gateway: Running | undefined
    let url = ''
    /** Tokens that see everything, one namespace by its label, and another namespace. */
    let tokens: readonly string[] = []
    const ask = async (path: string, token: string, body?: Uint8Array): Promise<Response> =>
      fetch(`${url}${path}`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/dns-message' }),
        },
        ...(body && { method: 'POST', body: new Uint8Array(body) }),
      })
    const tokenFor = async (wish: object): Promise<string> => {
      const response = await fetch(`${url}/v1/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN}` },
        body: JSON.stringify(wish),
      })
      const { token } = (await response.json()) as { token: string }
      return token
    }

    beforeAll(async () => {
      const [corefile, objects] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
      writeFileSync(corefile, COREFILE)
      writeFileSync(objects, OBJECTS)
      const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
      const port = await freePort()
      url = `http://127.0.0.1:${port}`
      const store = `file:${join(folder, 'store')}`
      const args = [
        'gateway',
        '--conf',
        corefile,
        '--listen',
        `127.0.0.1:${port}`,
        '--store',
        store,
      ]
      gateway = start(runtime.command, [...runtime.args, RUN, ...args], {
        CLUSTERS: JSON.stringify({ demo: { publicKey, tokenSha256 } }),
        ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      })
      await gateway.line(/^ready/)
      const exported = [
        'export',
        '--gateway',
        url,
        '--cluster',
        'demo',
        '--objects',
        objects,
        '--once',
      ]
      const { status, stderr } = spawnSync(process.execPath, [RUN, ...exported], {
        env: { ...process.env, KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey },
        encoding: 'utf8',
      })
      assert.equal(status, 0, stderr)
      const scopes = [['*'], ['team=shop'], ['blog']]
      tokens = await Promise.all(scopes.map((namespaces) => tokenFor({ namespaces })))
    })
    afterAll(async () => {
      await gateway?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('answers GET, POST and JSON', async () => {
      const [token = ''] = tokens
      const { message } = parseQuestion(`${NAME} A`)
      const wanted = ['NOERROR aa rd', `${NAME}. 30 IN A 192.0.2.10`]
      const got = await ask(`/dns-query?dns=${encodeBase64url(message)}`, token)
      assert.deepEqual(formatReply(new Uint8Array(await got.arrayBuffer())), wanted)
      const posted = await ask('/dns-query', token, message)
      assert.deepEqual(formatReply(new Uint8Array(await posted.arrayBuffer())), wanted)
      const json = (await (await ask(`/resolve?name=${NAME}`, token)).json()) as { Status: number }
      assert.equal(json.Status, 0)
    })

    it('answers a token within its visibility, and refuses requests without one', async () => {
      assert.equal((await ask(`/resolve?name=${NAME}`, 'none')).status, 401)
      const statuses = []
      for (const token of tokens) {
        const response = await ask(`/resolve?name=${NAME}`, token)
        statuses.push(((await response.json()) as { Status: number }).Status)
      }
      assert.deepEqual(statuses, [0, 0, 3])
    })

    it('leaves the processor alone while it is idle', async () => {
      const begin = cpuTicks(gateway)
      await sleep(2000)
      // The suite has KUBEDOH_SLOW_TURNS: a loop that looks at each of its turns never sleeps.
      const share = (cpuTicks(gateway) - begin) / 200
      assert.ok(share < 0.5, `it took ${share} of a processor`)
    })

    it('answers /explain', async () => {
      const told = (await (await ask(`/v1/explain?name=${NAME}`, ADMIN)).json()) as object
      assert.deepEqual(Object.entries(told).find(([key]) => key === 'plugins')?.[1], ['kubernetes'])
    })
  })
}

for (const [runtime, flags] of [
  [BUN, []],
  [BUN, ['--client-ca']],
  [DENO, []],
] as const) {
  const name = [runtime.name, 'over TLS', ...flags].join(', ')
  describeUnless(missingRuntime(runtime), `the gateway on ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-runtime-'))
    let gateway: Running | undefined
    let [port, dot] = [0, 0]

    beforeAll(async () => {
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text)
        return join(folder, name)
      }
      ;[port, dot] = [await freePort(), await freePort()]
      const tls = ['--tls-cert', file('cert', SERVER.cert), '--tls-key', file('key', SERVER.key)]
      const more = flags.flatMap((flag) => [flag, file('ca', AUTHORITY)])
      const corefile = '. {\n  hosts {\n    192.0.2.34 www.shop.test\n  }\n}\n'
      const listen = ['--conf', file('Corefile', corefile), '--listen', `127.0.0.1:${port}`]
      const args = [...listen, '--dot.listen', `127.0.0.1:${dot}`, ...tls, ...more]
      gateway = start(runtime.command, [...runtime.args, RUN, 'gateway', ...args], {
        TOKEN_DOMAIN,
        CLIENT_TOKEN_SHA256: await hashToken(HOST_TOKEN),
      })
      await gateway.line(/^ready/)
    })
    afterAll(async () => {
      await gateway?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('speaks HTTP/2 and HTTP/1.1', async () => {
      const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      const stream = session.request({ ':path': '/dns-query?dns=AAAA' })
      const [headers] = await once(stream, 'response')
      assert.equal(session.alpnProtocol, 'h2')
      assert.equal(headers[':status'], 401)
      session.destroy()
      const old = { port, rejectUnauthorized: false, path: '/dns-query?dns=AAAA' }
      for (const keepAlive of [false, true]) {
        const agent = new Agent({ keepAlive })
        const sent = get({ ...old, agent })
        const [response] = await once(sent, 'response')
        assert.deepEqual([response.httpVersion, response.statusCode], ['1.1', 401])
        await once(response.resume(), 'end')
        agent.destroy()
      }
    })

    it('answers DNS over TLS to the token in the handshake, and refuses others', async () => {
      const host = `${HOST_TOKEN}.${TOKEN_DOMAIN}`
      const answers = ['NOERROR aa rd', 'www.shop.test. 3600 IN A 192.0.2.34']
      assert.deepEqual(await askTls(dot, host), answers)
      assert.deepEqual(await askTls(dot, host.toUpperCase()), answers)
      for (const other of ['', TOKEN_DOMAIN, `${await hostTokenOf('another')}.${TOKEN_DOMAIN}`]) {
        assert.match((await askTls(dot, other))[0] ?? '', /^REFUSED/)
      }
    })
  })
}

/** CPU time of a program, in hundredths of a second (proc_pid_stat(5)). */
function cpuTicks(program: Running | undefined): number {
  const stat = readFileSync(`/proc/${program?.child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Sends 20 queries on a connection of DNS over TLS; returns the response, which all have. */
async function askTls(port: number, servername: string): Promise<string[]> {
  const { message } = parseQuestion('www.shop.test A')
  const options = { servername, rejectUnauthorized: false, ALPNProtocols: ['dot'] }
  const socket = connectTls({ host: '127.0.0.1', port, ...options })
  socket.write(Buffer.concat(Array.from({ length: 20 }, () => frame(message))))
  const replies: string[][] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
      const end = 2 + rest.readUInt16BE()
      replies.push(formatReply(new Uint8Array(rest.subarray(2, end))))
      rest = rest.subarray(end)
    }
    if (replies.length === 20) break
  }
  assert.equal(socket.alpnProtocol, 'dot')
  const [reply = []] = replies
  assert.deepEqual(replies, Array(20).fill(reply))
  return reply
}
