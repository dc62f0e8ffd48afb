import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import {
  openStoredGateway,
  type StoredGateway,
  withPrimary,
} from '../../../src/gateway/routes/stored-gateway.ts'
import { Primary } from '../../../src/gateway/snapshots/primary.ts'
import { readTokenIssuer } from '../../../src/snapshot/format/token-issuer.ts'
import { FakeHost } from '../../fake-host.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { WEB } from '../publishing.ts'
import { CLIENT_TOKEN, CLUSTERS, COREFILE, EXPORTER_TOKEN, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'

const TOKEN = 'the-token-of-a-replica'
const PRIMARY_URL = 'https://primary.example.org'
const QUESTION = 'web.shop.svc.cluster.local A'
const API = new FakeIssuer('https://kubernetes.default.svc')
const VARIABLES = {
  ISSUERS: JSON.stringify([
    {
      ...{ issuer: API.url, audiences: ['kubedoh'], keys: 'cluster:shop' },
      rules: [{ when: { sub: '*' }, clusters: ['shop'], namespaces: 'rbac' }],
    },
  ]),
  REPLICA_TOKEN_SHA256: await hashToken(TOKEN),
  CLIENT_TOKEN_SHA256: await hashToken(CLIENT_TOKEN),
  ADMIN_TOKEN_SHA256: await hashToken('the-token-of-the-operator'),
}

type Send = (url: string, init: RequestInit) => Promise<Response>

/** A replica with the clock of its primary. */
class Replica {
  readonly host: FakeHost
  /** Paths and preferences that it has sent. */
  readonly sent: string[] = []
  /** What is between the replica and its primary. */
  send: Send
  private readonly gateway: StoredGateway

  private constructor(host: FakeHost, send: Send, open: (replica: Replica) => StoredGateway) {
    this.host = host
    this.send = send
    this.gateway = open(this)
  }

  /** Starts one that sends its requests by a function. */
  static async start(host: FakeHost, send: Send, id = 'r1'): Promise<Replica> {
    const config = await readGatewayConfig({ COREFILE, CLUSTERS, ...VARIABLES })
    let own: Replica | undefined
    const primary = new Primary({
      url: `${PRIMARY_URL}/`,
      token: TOKEN,
      id,
      fetch: (url, init) => {
        const prefer = init.headers.prefer === undefined ? '' : ` ${init.headers.prefer}`
        own?.sent.push(`${url.slice(PRIMARY_URL.length)}${prefer}`)
        return (own?.send ?? send)(url, init)
      },
      after: host.after,
      elapsed: host.elapsed,
    })
    const runtime = withPrimary(
      {
        host,
        randomBytes: (size) => new Uint8Array(size),
        fetch,
        identitiesOf: () => [],
        clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }),
        keepAlive: (_, promise) => void promise,
      },
      primary,
    )
    const gateway = await openStoredGateway(config, runtime)
    own = new Replica(host, send, () => gateway)
    return own
  }

  /** Sends a request. */
  request(path: string, token: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...Object(init.headers), authorization: `Bearer ${token}` }
    const url = `https://replica.example.org${path}`
    return this.app(url, { ...init, headers })
  }

  /** Takes a request. */
  readonly app: Send = async (url, init) => this.gateway.app.request(url, init)

  /** Sends a query. */
  async ask(token = CLIENT_TOKEN): Promise<string> {
    const dns = encodeBase64url(parseQuestion(QUESTION).message)
    const response = await this.request(`/dns-query?dns=${dns}`, token)
    if (response.status !== 200) return `${response.status}`
    return formatReply(new Uint8Array(await response.arrayBuffer())).join('\n')
  }

  /** Sends queries while time passes, as clients do, until the answer is another one. */
  async until(pattern: RegExp, token?: string): Promise<void> {
    for (;;) {
      const answer = await this.ask(token)
      if (pattern.test(answer)) return
      await this.pass(50)
    }
  }

  /** Lets time pass, and what waits for hashes and signatures go on. */
  async pass(durationMs: number): Promise<void> {
    await this.host.advance(durationMs)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function start(): Promise<{ primary: Running; replica: Replica }> {
  const primary = await Running.start(VARIABLES)
  const send: Send = async (url, init) => primary.app.request(url, init)
  return { primary, replica: await Replica.start(primary.host, send) }
}

const CHANGED = WEB.replace('0.80', '0.81')

describe('a replica', () => {
  test('answers from what its primary has, and takes each change over', async () => {
    const { primary, replica } = await start()
    assert.match(await replica.ask(), /^SERVFAIL/)
    await primary.publish(WEB, 1)
    await replica.until(/10\.96\.0\.80/)
    await primary.publish(CHANGED, 2)
    await replica.until(/10\.96\.0\.81/)
    assert.ok(replica.sent.some((sent) => /manifest wait=\d+$/.test(sent)))
  })

  test('goes back to the generation that the operator pins at the primary', async () => {
    const { primary, replica } = await start()
    await primary.publish(WEB, 1)
    await primary.publish(CHANGED, 2)
    await replica.until(/10\.96\.0\.81/)
    await primary.store.pin(1)
    await replica.until(/10\.96\.0\.80/)
    await primary.store.pin(undefined)
    await replica.until(/10\.96\.0\.81/)
  })

  test('shows what RBAC shows, by the keys and rights that its primary has', async () => {
    const { primary, replica } = await start()
    const sub = 'system:serviceaccount:ci:builder'
    const token = await API.sign(primary.host.now(), { sub })
    const tokenIssuer = readTokenIssuer(API.url, (await API.keySet()).keys)
    const publish = (generation: number, namespaces: readonly string[]): Promise<void> =>
      primary.publishWhole(WEB, generation, {
        ...(tokenIssuer && { tokenIssuer }),
        rightsOf: [{ kind: 'user', name: sub, namespaces }],
      })
    await publish(1, [])
    await replica.until(/NXDOMAIN/, token)
    await publish(2, ['shop'])
    await replica.until(/10\.96\.0\.80/, token)
    await publish(3, [])
    await replica.until(/NXDOMAIN/, token)
  })

  test('answers while its primary is away: fresh, stale, then not; and is fresh after', async () => {
    const { primary, replica } = await start()
    await primary.publish(WEB, 1)
    await replica.until(/10\.96\.0\.80/)
    const { send } = replica
    replica.send = () => Promise.reject(new Error('connection refused'))
    await replica.pass(30_000)
    assert.match(await replica.ask(), /10\.96\.0\.80/)
    assert.ok(replica.sent.length < 40, `${replica.sent.length} requests`)
    await replica.pass(40_000)
    assert.match(await replica.ask(), /10\.96\.0\.80/)
    await replica.pass(24 * 3600 * 1000)
    assert.match(await replica.ask(), /^SERVFAIL/)
    replica.send = send
    await primary.publish(CHANGED, 2)
    await replica.until(/10\.96\.0\.81/)
  })

  test('admits the tokens of its primary, and refuses them once they are revoked', async () => {
    const { primary, replica } = await start()
    await primary.publish(WEB, 1)
    const { token, record } = await tokenRecord()
    assert.equal(await replica.ask(token), '401')
    await primary.tokens.add(record)
    await replica.until(/10\.96\.0\.80/, token)
    await primary.tokens.remove(record.id)
    await replica.until(/^401$/, token)
    await primary.tokens.add({ ...record, id: 'b'.repeat(12) })
    replica.send = () => Promise.reject(new Error('connection refused'))
    // A request that waits may be answered yet, in the first 10 s.
    for (let second = 0; second < 15; second++) await replica.pass(1000)
    await replica.pass(61_000)
    assert.equal(await replica.ask(token), '503')
  })

  const refused: readonly [name: string, change: (response: Response) => Promise<Response>][] = [
    ['an unsigned manifest', async (one) => changed(one, { 'kubedoh-signature': 'x' })],
    ['no JSON', async ({ headers }) => new Response('{', { headers })],
    ['1 MiB and a byte', async () => new Response(new Uint8Array(1024 * 1024 + 1))],
    ['a redirect', async () => Response.redirect('https://elsewhere.example.org', 302)],
    ['a page', async () => new Response('<html>', { status: 502 })],
    ['a replica that follows it', async (one) => changed(one, { 'kubedoh-replicas': 'r2 r1' })],
    ['a fifth replica', async (one) => changed(one, { 'kubedoh-replicas': 'a b c d' })],
  ]
  for (const [name, change] of refused) {
    test(`keeps what it has when its primary sends ${name}`, async () => {
      const { primary, replica } = await start()
      const { send } = replica
      let isBad = false
      replica.send = async (url, init) => {
        const response = await send(url, init)
        return isBad && url.endsWith('/manifest') ? change(response) : response
      }
      await primary.publish(WEB, 1)
      await replica.until(/10\.96\.0\.80/)
      isBad = true
      await primary.publish(CHANGED, 2)
      replica.host.events.length = 0
      while (!replica.host.events.some(({ level }) => level === 'error')) {
        assert.match(await replica.ask(), /10\.96\.0\.80/)
        await replica.pass(500)
      }
      assert.match(await replica.ask(), /10\.96\.0\.80/)
    })
  }

  test('sends a request a second to a primary that does not wait', async () => {
    const { primary, replica } = await start()
    await primary.publish(WEB, 1)
    const { send } = replica
    replica.send = (url, { headers, ...init }) => {
      const { prefer, ...others } = Object(headers)
      return send(url, { ...init, headers: others })
    }
    await replica.until(/10\.96\.0\.80/)
    replica.sent.length = 0
    for (let i = 0; i < 200; i++) {
      await replica.ask()
      await replica.pass(50)
    }
    const count = replica.sent.filter((sent) => sent.includes('manifest')).length
    assert.ok(count > 0 && count <= 12, `${count} requests in 10 s`)
  })

  test('logs no token, and names its primary', async () => {
    const { replica } = await start()
    replica.send = (_, { headers }) =>
      Promise.reject(new Error(`bad ${Object(headers).authorization}`))
    await replica.ask()
    await replica.pass(10)
    const [event] = replica.host.events
    assert.equal(event?.error, `${PRIMARY_URL}: bad Bearer …`)
  })

  const routes: readonly [method: string, path: string, token: string][] = [
    ['PUT', `/v1/clusters/shop/shards/${'f'.repeat(64)}`, EXPORTER_TOKEN],
    ['GET', '/v1/clusters/shop', EXPORTER_TOKEN],
    ['POST', '/v1/tokens', 'the-token-of-the-operator'],
    ['DELETE', '/v1/tokens/x', 'the-token-of-the-operator'],
    ['GET', '/v1/clusters/shop/generations', 'the-token-of-the-operator'],
    ['DELETE', '/v1/clusters/shop/pin', 'the-token-of-the-operator'],
  ]
  for (const [method, path, token] of routes) {
    test(`leaves to its primary ${method} ${path}`, async () => {
      const { replica } = await start()
      const response = await replica.request(path, token, { method })
      const { error } = JSON.parse(await response.text())
      const message = `This gateway is a replica; send this to ${PRIMARY_URL}`
      assert.deepEqual([response.status, error], [403, { code: 'replica', message }])
    })
  }
})

describe('replicas of replicas', () => {
  test('answer from the first one of the row', async () => {
    const { primary, replica } = await start()
    const second = await Replica.start(primary.host, replica.app, 'r2')
    await primary.publish(WEB, 1)
    await second.until(/10\.96\.0\.80/)
    await primary.publish(CHANGED, 2)
    await second.until(/10\.96\.0\.81/)
    const response = await second.request('/v1/clusters/shop/manifest', TOKEN)
    assert.equal(response.headers.get('kubedoh-replicas'), 'r2 r1')
  })

  test('that follow each other, or one that follows itself, log it', async () => {
    for (const length of [1, 2]) {
      const host = new FakeHost({ isGateway: true })
      const all: Replica[] = []
      for (let i = 0; i < length; i++) {
        const next: Send = (url, init) => all[(i + 1) % length]?.app(url, init) ?? assert.fail()
        all.push(await Replica.start(host, next, `r${i}`))
      }
      const seen = (): boolean =>
        host.events.some(({ error }) => /this gateway itself/.test(`${error}`))
      while (!seen()) {
        for (const one of all) assert.match(await one.ask(), /^SERVFAIL/)
        await all[0]?.pass(100)
      }
      const count = all.reduce((sum, { sent }) => sum + sent.length, 0)
      assert.ok(count < 40, `${count} requests`)
    }
  })
})

/** Returns a response with other headers. */
function changed(
  { body, headers, status }: Response,
  others: Readonly<Record<string, string>>,
): Response {
  return new Response(body, { status, headers: { ...Object.fromEntries(headers), ...others } })
}
