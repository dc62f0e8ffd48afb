import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { connect } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { type GatewayVariables, readGatewayConfig } from '../../../src/gateway/config/config.ts'
import type { TlsService } from '../../../src/resolver/contract/feature.ts'
import {
  createNodeGateway,
  createNodeStore,
  type GatewayServer,
} from '../../../src/server/gateway/node-gateway.ts'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { parseQuestion } from '../../message-text.ts'
import { v1 } from '../../proxy-headers.ts'
import { frame, TcpClient, within } from '../clients.ts'

const COREFILE =
  '. {\n  acl {\n    block net 192.0.2.0/24\n  }\n  template IN A {\n    rcode NXDOMAIN\n  }\n}\n'
const DNS = encodeBase64url(parseQuestion('www.example.org A').message)
const GET = `GET /dns-query?dns=${DNS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`
const BOTH = { TRUSTED_PROXIES: '127.0.0.0/8', PROXY_PROTOCOL: 'true' }

async function start(
  t: TestContext,
  variables: GatewayVariables,
  tls?: TlsService,
): Promise<{ gateway: GatewayServer; port: number }> {
  const log = (): void => undefined
  const gateway = await createNodeGateway({
    config: await readGatewayConfig({ COREFILE, PUBLIC: 'true', ...variables }),
    store: createNodeStore(undefined, log),
    corefileFolder: '/',
    tls,
    log,
  })
  t.onTestFinished(() => gateway.close())
  return { gateway, port: await gateway.listen('127.0.0.1', 0) }
}

/** Returns the RCODE of the response to a GET, or what else came. */
async function ask(port: number, before: Uint8Array, headers = ''): Promise<number | string> {
  const client = await TcpClient.open(port)
  const chunks: Buffer[] = []
  client.socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  client.socket.write(Buffer.concat([before, Buffer.from(`${GET}${headers}\r\n`)]))
  await within(client.closed, 'the end')
  const all = Buffer.concat(chunks)
  const end = all.indexOf('\r\n\r\n')
  return all.includes('dns-message') ? (all[end + 7] ?? 0) & 15 : all.toString('latin1')
}

/** Returns the RCODE of the response to a query over TLS; `undefined` for a closed connection. */
async function askTls(port: number, before: Uint8Array): Promise<number | undefined> {
  const under = connectTcp(port, '127.0.0.1')
  under.write(before)
  const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined, ALPNProtocols: ['dot'] }
  const socket = connect({ socket: under, ...trust })
  try {
    return await new Promise((resolve) => {
      for (const one of [under, socket]) one.on('error', () => resolve(undefined))
      socket.once('close', () => resolve(undefined))
      socket.once('data', (chunk: Buffer) => resolve((chunk[5] ?? 0) & 15))
      socket.write(frame(parseQuestion('www.example.org A').message))
    })
  } finally {
    under.destroy()
  }
}

const NOTHING = Buffer.alloc(0)
const FORWARDED = 'X-Forwarded-For: 192.0.2.9\r\n'
const [REFUSED, NXDOMAIN] = [5, 3]

describe('a gateway with PROXY_PROTOCOL', () => {
  test('takes the client from the header of a trusted proxy', async (t) => {
    const { port } = await start(t, BOTH)
    assert.equal(await ask(port, v1()), REFUSED)
    assert.equal(await ask(port, v1('TCP4 203.0.113.7 198.51.100.1 4711 443')), NXDOMAIN)
    assert.equal(await ask(port, v1('UNKNOWN')), NXDOMAIN)
  })

  test('takes it from the header before DNS over TLS, too', async (t) => {
    const { gateway } = await start(t, BOTH, { ...SERVER, clientAuth: 'nocert' })
    const port = (await gateway.listenDot?.('127.0.0.1', 0)) ?? assert.fail('it has a certificate')
    assert.equal(await askTls(port, v1()), REFUSED)
    assert.equal(await askTls(port, v1('TCP4 203.0.113.7 198.51.100.1 4711 853')), NXDOMAIN)
    assert.equal(await askTls(port, NOTHING), undefined)
  })

  test('closes a connection of a trusted proxy without a header', async (t) => {
    const { port } = await start(t, BOTH)
    assert.equal(await ask(port, NOTHING), '')
  })

  test('believes no other header of the client behind it', async (t) => {
    const { port } = await start(t, BOTH)
    const header = v1('TCP4 203.0.113.7 198.51.100.1 4711 443')
    assert.equal(await ask(port, header, FORWARDED), NXDOMAIN)
    // The proxy itself is a proxy also for what passes through it.
    assert.equal(await ask(port, v1('UNKNOWN'), FORWARDED), REFUSED)
  })

  test('reads no header of others', async (t) => {
    const { port } = await start(t, { ...BOTH, TRUSTED_PROXIES: '203.0.113.0/24' })
    assert.match(String(await ask(port, v1())), /^HTTP\/1\.1 400 /)
    assert.equal(await ask(port, NOTHING, FORWARDED), NXDOMAIN)
  })

  test('takes up the variable without a restart', async (t) => {
    const { gateway, port } = await start(t, { TRUSTED_PROXIES: '127.0.0.0/8' })
    assert.equal(await ask(port, NOTHING, FORWARDED), REFUSED)
    await gateway.reload(await readGatewayConfig({ COREFILE, PUBLIC: 'true', ...BOTH }))
    assert.equal(await ask(port, v1(), FORWARDED), REFUSED)
    assert.equal(await ask(port, NOTHING), '')
    await gateway.reload(await readGatewayConfig({ COREFILE, PUBLIC: 'true' }))
    assert.equal(await ask(port, NOTHING, FORWARDED), NXDOMAIN)
  })
})

test('on Bun and Deno, PROXY_PROTOCOL is refused at start', async (t) => {
  Object.assign(globalThis, { Bun: { serve: () => assert.fail('it listens') } })
  t.onTestFinished(() => void Reflect.deleteProperty(globalThis, 'Bun'))
  await assert.rejects(start(t, BOTH), {
    name: 'GatewayConfigError',
    message: 'PROXY_PROTOCOL is "true", but this platform reads no PROXY header; unset it',
  })
})
