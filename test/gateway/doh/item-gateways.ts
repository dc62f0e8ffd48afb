/**
 * Gateways that serve the same names on Node, over HTTP/1.1 and HTTP/2 with TLS, and in workerd:
 * one open to everybody, one closed, one that soon has enough, one open to web pages; and how each
 * is asked.
 * @module
 */
import assert from 'node:assert/strict'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { type GatewayVariables, readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { createMemoryGatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { createNodeGateway } from '../../../src/server/gateway/node-gateway.ts'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { startGateway } from '../../workerd.ts'
import { snapshotOf } from '../publishing.ts'
import { type Ask, type Got, sendTo } from './replies.ts'

/** Which gateway is asked. */
export type Which = 'open' | 'closed' | 'narrow' | 'pages'

/** A way to the gateways. */
export type Way = {
  readonly name: WayName
  readonly send: (ask: Ask, which?: Which) => Promise<Got>
  /** Sends bytes over a connection of HTTP/1.1; resolves with what comes until it is closed. */
  readonly sendRaw: (octets: string, which?: Which) => Promise<string>
  /** The port of a gateway, for what goes around HTTP. */
  readonly port: (which: Which) => number
  /** What the gateways have logged. */
  readonly logs: readonly string[]
}

/** What they are called. */
export type WayName = 'Node, HTTP/1.1' | 'Node, HTTP/2' | 'workerd'

/** The tokens. */
export const TOKENS = { client: 'the-reader', admin: 'the-operator', exporter: 'the-exporter' }

const COREFILE = `shop.test cluster.local 10.in-addr.arpa {
  errors
  kubernetes {
    cluster shop
  }
}
rfc.test {
  kubernetes {
    cluster shop
    answers rfc
  }
}
cached.test {
  cache
  hosts {
    192.0.2.53 fixed.cached.test
  }
}
later.test {
  kubernetes {
    cluster later
  }
}
moving.test {
  kubernetes {
    cluster moving
  }
}
blocked.test {
  acl {
    block
  }
}
`
const MANY = 100
/** More than 65,535 bytes hold. */
const TOO_MANY = 3000

/** What the cluster has. */
const SETS: readonly string[] = [
  'web.shop.svc.cluster.local. 30 IN A 10.96.0.80',
  'web.shop.svc.cluster.local. 30 IN AAAA 2001:db8:0:0:0:0:0:80',
  '_http._tcp.web.shop.svc.cluster.local. 20 IN SRV 0 100 80 web.shop.svc.cluster.local.',
  'alias.shop.svc.cluster.local. 600 IN CNAME web.shop.svc.cluster.local.',
  'broken.shop.svc.cluster.local. 300 IN CNAME none.shop.svc.cluster.local.',
  'far.shop.svc.cluster.local. 600 IN CNAME www.example.com.',
  'zero.shop.svc.cluster.local. 0 IN A 10.96.0.81',
  'constructor.shop.svc.cluster.local. 5 IN A 10.96.0.82',
  String.raw`odd.shop.svc.cluster.local. 5 IN TYPE65280 \# 3 0a000b`,
  String.raw`text.shop.svc.cluster.local. 5 IN TXT "say \"hi\"" "\000\255\\;"`,
  numbered(MANY, (i) => `many.shop.svc.cluster.local. 5 IN A 10.1.0.${i}`),
  numbered(TOO_MANY, (i) => `huge.shop.svc.cluster.local. 5 IN AAAA 2001:db8::${i.toString(16)}`),
]

function numbered(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => line(i)).join('\n')
}

const shop = await keys()

/** The gateways on one runtime. */
export type Gateways = { readonly ways: readonly Way[]; readonly stop: () => Promise<void> }

async function variablesOf(which: Which): Promise<GatewayVariables> {
  const [client = '', admin = '', exporter = ''] = await Promise.all(
    [TOKENS.client, TOKENS.admin, TOKENS.exporter].map(hashToken),
  )
  const ofShop = { publicKey: shop.publicKeyText, tokenSha256: exporter }
  return {
    COREFILE,
    CLUSTERS: JSON.stringify({ shop: ofShop, later: ofShop, moving: ofShop }),
    ADMIN_TOKEN_SHA256: admin,
    // On a machine that has much to do the tests take longer than a minute.
    STALE_SECONDS: '36000',
    ...(which === 'closed' ? { CLIENT_TOKEN_SHA256: client } : { PUBLIC: 'true' }),
    ...(which === 'narrow' && { REQUESTS_PER_MINUTE: '2' }),
    ...(which === 'pages' && { CORS_ORIGINS: 'https://app.test' }),
  }
}

const ALL: readonly Which[] = ['open', 'closed', 'narrow', 'pages']
const PUBLISHED: readonly Which[] = ['open', 'closed']
const SNAPSHOT = snapshot('shop', SETS, 1)

/** Makes a snapshot as of now. */
export function snapshot(
  cluster: string,
  sets: readonly string[],
  generation: number,
): ReturnType<typeof snapshotOf> {
  return snapshotOf(shop.privateKey, sets, { cluster, generation, time: new Date().toISOString() })
}

/** Publishes a snapshot as an exporter does. */
export async function publish(
  send: (ask: Ask) => Promise<Got>,
  published: ReturnType<typeof snapshotOf> = SNAPSHOT,
): Promise<void> {
  const { shards, signed, manifest } = await published
  const base = `/v1/clusters/${manifest.cluster}`
  const authorization = `Bearer ${TOKENS.exporter}`
  for (const [sha256, body] of shards) {
    const path = `${base}/shards/${sha256}`
    const put = await send({ method: 'PUT', path, body, headers: { authorization } })
    assert.ok(put.status < 300)
  }
  const { headers: known } = await send({ path: base, headers: { authorization } })
  const etag = known.get('etag')
  const expected = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag }
  const headers = { authorization, 'kubedoh-signature': signed.signature, ...expected }
  const path = `${base}/manifest`
  const put = await send({ method: 'PUT', path, body: signed.bytes, headers })
  assert.ok(put.status < 300)
}

/** Starts those on Node: one server for both versions of HTTP. */
export async function startOnNode(): Promise<Gateways> {
  const logs: string[] = []
  const servers = new Map<Which, { port: number; close: () => Promise<void> }>()
  for (const which of ALL) {
    const server = await createNodeGateway({
      config: await readGatewayConfig(await variablesOf(which)),
      store: createMemoryGatewayStore(),
      corefileFolder: '/',
      tls: { ...SERVER, clientAuth: 'nocert' },
      log: (event) => logs.push(JSON.stringify(event)),
    })
    servers.set(which, { port: await server.listen('127.0.0.1', 0), close: () => server.close() })
  }
  const port = (which: Which): number => servers.get(which)?.port ?? assert.fail()
  const agent = new Agent({ keepAlive: true, ca: AUTHORITY })
  const sessions = new Map<Which, ClientHttp2Session>()
  const sessionOf = (which: Which): ClientHttp2Session => {
    const known = sessions.get(which)
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const session = connectHttp2(`https://127.0.0.1:${port(which)}`, { ca: AUTHORITY })
    session.on('error', () => undefined)
    sessions.set(which, session)
    return session
  }
  const sendRaw = (octets: string, which: Which = 'open'): Promise<string> =>
    exchange(
      connectTls({
        port: port(which),
        host: '127.0.0.1',
        ca: AUTHORITY,
        ALPNProtocols: ['http/1.1'],
      }),
      octets,
    )
  const ways: readonly Way[] = [
    {
      name: 'Node, HTTP/1.1',
      send: (ask, which = 'open') => sendHttp1(agent, port(which), ask),
      sendRaw,
      port,
      logs,
    },
    {
      name: 'Node, HTTP/2',
      send: (ask, which = 'open') => sendHttp2(sessionOf(which), ask),
      sendRaw,
      port,
      logs,
    },
  ]
  for (const which of PUBLISHED) await publish((ask) => sendHttp1(agent, port(which), ask))
  return {
    ways,
    stop: async () => {
      agent.destroy()
      for (const session of sessions.values()) session.destroy()
      for (const { close } of servers.values()) await close()
    },
  }
}

/** Starts those in workerd. */
export async function startInWorkerd(): Promise<Gateways> {
  const logs: string[] = []
  const onLog = (line: string): unknown => logs.push(line)
  const gateways = new Map(
    await Promise.all(
      ALL.map(async (which) => {
        const gateway = await startGateway({ variables: await variablesOf(which), port: 0, onLog })
        return [which, gateway] as const
      }),
    ),
  )
  const port = (which: Which): number => Number(new URL(gateways.get(which)?.url ?? '').port)
  for (const which of PUBLISHED) await publish((ask) => sendTo(port(which), ask))
  const way: Way = {
    name: 'workerd',
    send: (ask, which = 'open') => sendTo(port(which), ask),
    sendRaw: (octets, which = 'open') =>
      exchange(connectTcp({ port: port(which), host: '127.0.0.1' }), octets),
    port,
    logs,
  }
  return {
    ways: [way],
    stop: async () => {
      for (const gateway of gateways.values()) await gateway.stop()
    },
  }
}

function sendHttp1(agent: Agent, port: number, ask: Ask): Promise<Got> {
  const { path, method = 'GET', headers = {}, body } = ask
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  const all = { ...length, ...headers }
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      path,
      method,
      headers: all,
      agent,
    })
    sent.on('response', (response) => {
      const chunks: Uint8Array[] = []
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const got = new Headers()
        for (let i = 0; i < response.rawHeaders.length; i += 2) {
          got.append(response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? '')
        }
        const { statusCode: status = 0 } = response
        resolve({ status, headers: got, body: new Uint8Array(Buffer.concat(chunks)) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function sendHttp2(session: ClientHttp2Session, ask: Ask): Promise<Got> {
  const { path, method = 'GET', headers = {}, body } = ask
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': method, ...headers })
    let status = 0
    const got = new Headers()
    const chunks: Uint8Array[] = []
    stream.on('response', (received) => {
      status = Number(received[':status'])
      for (const [name, value] of Object.entries(received)) {
        if (!name.startsWith(':')) got.append(name, String(value))
      }
    })
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      resolve({ status, headers: got, body: new Uint8Array(Buffer.concat(chunks)) })
    })
    stream.end(body)
  })
}

/** Sends bytes; resolves with what comes until the connection is closed. */
export function exchange(socket: Socket, octets: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      resolve(text)
    })
    socket.write(octets, 'latin1')
  })
}
