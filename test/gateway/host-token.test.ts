import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { byteAt } from '../../src/dns/bytes/bytes.ts'
import { START_MS } from '../fake-host.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import {
  BothPaths,
  CERTIFICATE,
  get,
  hostToken,
  post,
  type Sent,
  token,
  WEB_QUESTION,
} from './both-paths.ts'

const TOKEN_DOMAIN = 'doh.example.org'
const HOST = `${hostToken}.${TOKEN_DOMAIN}`
const flipped = hostToken.slice(0, -1) + (hostToken.endsWith('0') ? '1' : '0')
/** The form of a token that no gateway has. */
const unknown = '0wkp1p09z9e7g10he8vhtar2er'
const { message } = parseQuestion(`${WEB_QUESTION} +edns`)
const padded = parseQuestion(`${WEB_QUESTION} +edns +padding`).message

function at(host: string, sent = get(WEB_QUESTION), more: Record<string, string> = {}): Sent {
  const { authorization: _, ...headers } = sent.headers
  return { ...sent, headers: { ...headers, host, ...more } }
}

function errorOf(body: readonly number[]): string {
  return /"code":"(\w+)"/.exec(Buffer.from(body).toString())?.[1] ?? ''
}

describe('a token in the hostname is answered directly as by the app:', () => {
  const cases: { name: string; sent: Sent }[] = [
    { name: 'a GET', sent: at(HOST) },
    { name: 'a POST', sent: at(HOST, post(message)) },
    { name: 'with a port', sent: at(`${HOST}:8443`) },
    { name: 'the gateway itself', sent: at(HOST, get('_dns.resolver.arpa SVCB')) },
    {
      name: 'the same token in a header',
      sent: at(HOST, get(WEB_QUESTION), { authorization: `Bearer ${hostToken}` }),
    },
  ]
  for (const { name, sent } of cases) {
    test(name, async () => {
      const fixture = await BothPaths.start({ TOKEN_DOMAIN })
      assert.equal(await fixture.directly(sent), undefined)
      const expected = await fixture.byApp(sent)
      assert.equal(expected.status, 200)
      assert.match(expected.headers['cache-control'] ?? '', /private|no-store/)
      assert.deepEqual(await fixture.directly(sent), expected)
    })
  }
})

describe('a hostname below TOKEN_DOMAIN', () => {
  const cases: {
    readonly name: string
    readonly sent: Sent
    readonly serverName?: string
    readonly status: number
    readonly code: string
  }[] = [
    { name: 'no token', sent: at(`www.${TOKEN_DOMAIN}`), status: 400, code: 'bad_host_token' },
    {
      name: 'a wrong letter',
      sent: at(`${flipped}.${TOKEN_DOMAIN}`),
      status: 400,
      code: 'bad_host_token',
    },
    {
      name: 'an unknown token',
      sent: at(`${unknown}.${TOKEN_DOMAIN}`),
      status: 401,
      code: 'unauthorized',
    },
    {
      name: 'another token in the path',
      sent: { ...at(HOST), path: `/t/${token}${get(WEB_QUESTION).path}` },
      status: 400,
      code: 'two_tokens',
    },
    {
      name: 'another one in a header',
      sent: at(HOST, get(WEB_QUESTION), { authorization: `Bearer ${token}` }),
      status: 400,
      code: 'two_tokens',
    },
    {
      name: 'another handshake',
      sent: at(HOST),
      serverName: `${unknown}.${TOKEN_DOMAIN}`,
      status: 421,
      code: 'misdirected',
    },
  ]
  for (const { name, sent, serverName, status, code } of cases) {
    test(`with ${name} is ${status}, and the log has no token`, async () => {
      const fixture = await BothPaths.start({ TOKEN_DOMAIN })
      await fixture.byApp(at(HOST))
      fixture.serverName = serverName
      assert.equal(await fixture.directly(sent), undefined)
      const got = await fixture.byApp(sent)
      assert.deepEqual([got.status, errorOf(got.body)], [status, code])
      const seen = JSON.stringify([fixture.host.events, got.headers]) + Buffer.from(got.body)
      for (const secret of [hostToken, flipped, unknown, token]) assert.ok(!seen.includes(secret))
    })
  }

  test('is not in the query log when it is the query name, in any case', async () => {
    const COREFILE = '. {\n  log\n  errors\n  erratic {\n    drop 0\n  }\n}\n'
    const fixture = await BothPaths.start({ TOKEN_DOMAIN, COREFILE })
    const names = [HOST, HOST.toUpperCase(), `www.${HOST}`, `${unknown}.${TOKEN_DOMAIN}`]
    for (const name of [...names, TOKEN_DOMAIN]) {
      for (const send of [fixture.byApp, fixture.directly]) {
        await send.call(fixture, at(HOST, get(`${name} A`)))
      }
    }
    const lines = fixture.host.lines.map((line) => /"A IN (\S+) /.exec(line)?.[1])
    const hidden = `TOKEN.${TOKEN_DOMAIN}.`
    const wanted = [hidden, hidden, `www.${hidden}`, hidden, `${TOKEN_DOMAIN}.`]
    assert.deepEqual(
      lines,
      wanted.flatMap((line) => [line, line]),
    )
    const seen = JSON.stringify([fixture.host.events, fixture.host.lines]).toLowerCase()
    for (const secret of [hostToken, unknown]) assert.ok(!seen.includes(secret))
  })

  test('is like any other without TOKEN_DOMAIN', async () => {
    const fixture = await BothPaths.start()
    assert.equal((await fixture.byApp(at(HOST))).status, 401)
  })
})

describe('over TLS', () => {
  const started = (): Promise<BothPaths> => BothPaths.start({ TOKEN_DOMAIN })
  const questions = [
    WEB_QUESTION,
    `${WEB_QUESTION} +edns`,
    `${WEB_QUESTION} +edns +padding`,
    'none.shop.svc.shop.test A +edns',
    'web.shop.svc.shop.test AAAA',
    'www.example.org A',
    'shop.test AXFR',
    'use-application-dns.net A',
  ]
  for (const question of questions) {
    test(`${question} has the bytes of DNS over HTTPS`, async () => {
      const fixture = await started()
      const query = parseQuestion(question).message
      const { body } = await fixture.byApp(at(HOST, post(query)))
      // The first one is admitted by the list of tokens, the second one from memory.
      for (let i = 0; i < 2; i++) {
        assert.deepEqual([...((await fixture.overTls(query, HOST)) ?? [])], body)
      }
    })
  }

  const refused: { readonly name: string; readonly serverName?: string }[] = [
    { name: 'no server name' },
    { name: 'a wrong letter', serverName: `${flipped}.${TOKEN_DOMAIN}` },
    { name: 'an unknown token', serverName: `${unknown}.${TOKEN_DOMAIN}` },
    { name: 'a name elsewhere', serverName: `${hostToken}.example.net` },
    { name: 'the domain itself', serverName: TOKEN_DOMAIN },
  ]
  for (const { name, serverName } of refused) {
    test(`${name} gets REFUSED with "Prohibited"`, async () => {
      const fixture = await started()
      const reply = await fixture.overTls(padded, serverName)
      const [status = '', ...lines] = formatReply(reply ?? message)
      assert.match(status, /^REFUSED/)
      assert.equal((reply?.length ?? 0) % 468, 0)
      assert.deepEqual(
        lines.filter((line) => / A /.test(line)),
        [],
      )
      const text = Buffer.from(reply ?? []).toString('latin1')
      // OPTION-CODE 15, its length, INFO-CODE 18 (RFC 8914 §2).
      assert.ok(text.includes('\u0000\u0012no valid token'))
      assert.ok(!JSON.stringify(fixture.host.events).includes(hostToken))
    })
  }

  test('a certificate is enough, and a response gets none', async () => {
    const fixture = await started()
    fixture.identities = [CERTIFICATE]
    assert.match(formatReply((await fixture.overTls(message)) ?? message)[0] ?? '', /^NOERROR/)
    assert.equal(await fixture.overTls(message.with(2, 0x81)), undefined)
    fixture.identities = []
    assert.equal(await fixture.overTls(message.with(2, 0x81)), undefined)
  })

  test('everybody is answered with PUBLIC', async () => {
    const fixture = await BothPaths.start({ PUBLIC: 'true' })
    assert.match(formatReply((await fixture.overTls(message)) ?? message)[0] ?? '', /^NOERROR/)
  })

  test('whoami has the port of the client, whose caller is known or not', async () => {
    const fixture = await BothPaths.start({ TOKEN_DOMAIN, COREFILE: '. {\n  whoami\n}\n' })
    for (let i = 0; i < 2; i++) {
      const reply = (await fixture.overTls(message, HOST)) ?? message
      assert.match(formatReply(reply).join('\n'), / SRV 0 0 853 /)
    }
  })

  test('guesses of an address are bounded, and others are served meanwhile', async () => {
    const fixture = await BothPaths.start({ TOKEN_DOMAIN, REQUESTS_PER_MINUTE: '50' })
    const texts = new Set<string>()
    for (let i = 0; i < 12; i++) {
      const reply = await fixture.overTls(message, `${unknown}.${TOKEN_DOMAIN}`)
      texts.add(
        /no valid token|too many requests/.exec(Buffer.from(reply ?? []).toString())?.[0] ?? '',
      )
    }
    assert.deepEqual([...texts], ['no valid token', 'too many requests'])
    assert.equal(byteAt((await fixture.overTls(message, HOST)) ?? message, 3) & 15, 0)
  })

  test('a token over its rate limit gets REFUSED', async () => {
    const fixture = await BothPaths.start({ TOKEN_DOMAIN, REQUESTS_PER_MINUTE: '50' })
    const codes: number[] = []
    for (let i = 0; i < 12; i++) {
      codes.push(byteAt((await fixture.overTls(message, HOST)) ?? message, 3) & 15)
    }
    assert.deepEqual([...new Set(codes)], [0, 5])
    await fixture.host.advance(60_000)
    assert.ok(fixture.host.now() > START_MS)
    assert.equal(byteAt((await fixture.overTls(message, HOST)) ?? message, 3) & 15, 0)
  })
})
