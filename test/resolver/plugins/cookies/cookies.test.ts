import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { block, directive, type Server, serve } from '../../../ask.ts'

const HOSTS = directive('hosts none', '192.0.2.1 www.example.org')
const HEAD = 'NOERROR aa rd'
const ANSWER = 'www.example.org. 3600 IN A 192.0.2.1'
const CLIENT_COOKIE = '2464c4abcf10c957'
const ASK = 'www.example.org A'
const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf'

/** Asks with the hexadecimal data of a COOKIE option. */
function ask(server: Server, cookie: string, more = ''): Promise<string[]> {
  return server.ask(`${ASK} +option=10:${cookie}${more}`)
}

function cookieOf(lines: readonly string[]): string {
  return lines.find((line) => line.startsWith('option 10: '))?.slice(11) ?? ''
}

/** Asks for a cookie over TCP, which counts for no rate. */
async function learnCookie(server: Server, from = '198.51.100.7'): Promise<string> {
  return cookieOf(await ask(server, CLIENT_COOKIE, ` +tcp +from=${from}`))
}

describe('cookies', () => {
  for (const transport of ['udp', 'tcp', 'tls', 'https']) {
    test(`returns a server cookie over ${transport}`, async () => {
      const lines = await ask(serve(block('cookies', HOSTS)), CLIENT_COOKIE, ` +${transport}`)
      assert.deepEqual(lines.slice(0, 3), [HEAD, ANSWER, 'edns: 1232'])
      assert.match(cookieOf(lines), /^2464c4abcf10c95701000000[0-9a-f]{24}$/)
    })
  }

  test('returns none to a query without a cookie', async () => {
    const server = serve(block('cookies', HOSTS))
    assert.deepEqual(await server.ask(`${ASK} +edns`), [HEAD, ANSWER, 'edns: 1232'])
  })

  test('without the directive, ignores cookies', async () => {
    assert.equal(cookieOf(await ask(serve(block(HOSTS)), CLIENT_COOKIE)), '')
  })

  test('repeats a good cookie and renews it after half an hour', async () => {
    const server = serve(block('cookies', HOSTS))
    const first = await learnCookie(server)
    assert.equal(cookieOf(await ask(server, first)), first)
    server.host.step(1_801_000)
    assert.notEqual(cookieOf(await ask(server, first)), first)
  })

  test('answers a query with a bad cookie, and returns a good one', async () => {
    const server = serve(block('cookies', HOSTS))
    const good = await learnCookie(server)
    for (const bad of [`${good.slice(0, -2)}00`, `${CLIENT_COOKIE}${'ab'.repeat(32)}`]) {
      const lines = await ask(server, bad)
      assert.deepEqual(lines.slice(0, 2), [HEAD, ANSWER])
      assert.equal(cookieOf(lines), good)
    }
  })

  for (const size of [0, 7, 9, 15, 41]) {
    test(`refuses a COOKIE option of ${size} bytes`, async () => {
      const lines = await ask(serve(block('cookies', HOSTS)), '00'.repeat(size))
      assert.deepEqual(lines, ['FORMERR rd', 'edns: 1232'])
    })
  }

  test('adds the cookie to a failure', async () => {
    const server = serve(block('cookies', HOSTS))
    const lines = await server.ask(`nosuch.example.org A +option=10:${CLIENT_COOKIE}`)
    assert.equal(lines[0], 'SERVFAIL rd')
    assert.equal(cookieOf(lines).length, 48)
  })

  test('sends no cookie to an upstream, and returns none of an upstream', async () => {
    const upstream = (): string[] => ['NOERROR ra', 'a. 60 IN A 192.0.2.1', 'option 10: aabb']
    const server = serve(block('cookies', 'forward . 192.0.2.53'), { upstream })
    const lines = await server.ask(`a A +option=10:${CLIENT_COOKIE}`)
    assert.match(lines.at(-1) ?? '', /^option 10: 2464c4abcf10c957/)
    assert.equal(lines.filter((line) => line.startsWith('option 10')).length, 1)
    assert.doesNotMatch(server.host.asked[0]?.question ?? '', /option=10/)
  })

  test('replaces the cookie of an upstream that `rewrite` sends one', async () => {
    const upstream = (): string[] => ['NOERROR ra', 'a. 60 IN A 192.0.2.1', 'option 10: aabb']
    const lines = ['cookies', 'rewrite edns0 local set 10 0xaabb', 'forward . 192.0.2.53']
    const server = serve(block(...lines), { upstream })
    const reply = await server.ask(`a A +option=10:${CLIENT_COOKIE}`)
    assert.match(server.host.asked[0]?.question ?? '', /option=10:aabb/)
    assert.equal(reply.filter((line) => line.startsWith('option 10')).length, 1)
    assert.match(cookieOf(reply), /^2464c4abcf10c957/)
  })

  test('returns a cookie of its own to each client of a cache', async () => {
    const upstream = (): string[] => ['NOERROR ra', 'a. 60 IN A 192.0.2.1']
    const server = serve(block('cookies', 'cache', 'forward . 192.0.2.53'), { upstream })
    const cookies = ['192.0.2.1', '192.0.2.2'].map(async (from) =>
      cookieOf(await server.ask(`a A +option=10:${CLIENT_COOKIE} +from=${from}`)),
    )
    const [one, other] = await Promise.all(cookies)
    assert.equal(one?.length, 48)
    assert.notEqual(one, other)
  })

  test('leaves queries without a cookie on the fast path unless a rate is set', async () => {
    const cluster = { objects: '[]' }
    const server = serve(block('cookies', 'kubernetes cluster.local'), { cluster })
    assert.equal(await server.isQuick('nosuch.cluster.local A +edns'), true)
    assert.equal(await server.isQuick('nosuch.cluster.local A +cookie'), false)
    const rated = block(directive('cookies', 'rate 1000'), 'kubernetes cluster.local')
    const limited = serve(rated, { cluster })
    assert.equal(await limited.isQuick('nosuch.cluster.local A +edns'), false)
    assert.equal(await limited.isQuick('nosuch.cluster.local A +edns +tcp'), true)
  })

  test('never throws, and returns cookies for no other address', async () => {
    const server = serve(block('cookies', HOSTS), { files: { none: '' } })
    const stranger = await learnCookie(server, '203.0.113.9')
    const property = fc.asyncProperty(fc.uint8Array({ maxLength: 48 }), async (data) => {
      const lines = await ask(server, formatHex(data))
      const { length } = data
      const isValid = length === 8 || (length >= 16 && length <= 40)
      assert.equal(lines[0], isValid ? HEAD : 'FORMERR rd')
      assert.equal(cookieOf(lines).length, isValid ? 48 : 0)
      assert.notEqual(cookieOf(lines).slice(16), stranger.slice(16))
    })
    await fc.assert(property)
    assert.notEqual(cookieOf(await ask(server, stranger)), stranger)
    assert.equal(server.host.events.length, 0)
  })
})

describe('the secrets of cookies', () => {
  const corefile = block('cookies secrets', HOSTS)

  test('are the same for two replicas with one file', async () => {
    const files = { secrets: `# for all replicas\n\n${SECRET}\n` }
    const cookie = await learnCookie(serve(corefile, { files }))
    assert.equal(cookieOf(await ask(serve(corefile, { files }), cookie)), cookie)
  })

  test('change without a client that loses its verification', async () => {
    const next = 'ab'.repeat(16)
    const before = serve(corefile, { files: { secrets: SECRET } })
    const rate = block(directive('cookies secrets', 'rate 1', 'slip 0'), HOSTS)
    const after = serve(rate, { files: { secrets: `${next}\n${SECRET}` } })
    const old = await learnCookie(before)
    for (let i = 0; i < 3; i++) {
      const lines = await ask(after, old)
      assert.equal(lines[1], ANSWER)
      assert.notEqual(cookieOf(lines), old)
    }
  })
})

describe('the rate of cookies', () => {
  const rated = (...options: string[]): Server =>
    serve(block(directive('cookies', ...options), HOSTS))
  const TRUNCATED = ['NOERROR tc rd']

  test('truncates responses above it, and recovers with time', async () => {
    const server = rated('rate 2')
    const heads = async (count: number): Promise<string[]> => {
      const found: string[] = []
      for (let i = 0; i < count; i++) found.push((await server.ask(ASK))[0] ?? '')
      return found
    }
    assert.deepEqual(await heads(4), [HEAD, HEAD, TRUNCATED[0], TRUNCATED[0]])
    assert.deepEqual(await server.ask(ASK), TRUNCATED)
    await server.host.advance(500)
    assert.deepEqual(await heads(2), [HEAD, TRUNCATED[0]])
    await server.host.advance(60_000)
    assert.deepEqual(await heads(3), [HEAD, HEAD, TRUNCATED[0]])
    assert.match(
      server.host.metrics.format(),
      /^kubedoh_cookies_limited_total\{server="dns:\/\/:53",response="truncated"\} 5$/m,
    )
  })

  test('drops all but one of `slip` queries above it, or all', async () => {
    const third = rated('rate 1', 'slip 3')
    await third.ask(ASK)
    const replies = []
    for (let i = 0; i < 6; i++) replies.push(await third.ask(ASK))
    assert.deepEqual(replies, [[], [], TRUNCATED, [], [], TRUNCATED])
    const none = rated('rate 1', 'slip 0')
    await none.ask(ASK)
    assert.deepEqual(await none.ask(ASK), [])
  })

  test('returns BADCOOKIE with a cookie that lifts it', async () => {
    const server = rated('rate 1')
    await server.ask(ASK)
    const lines = await ask(server, CLIENT_COOKIE)
    assert.deepEqual(lines.slice(0, -1), ['BADCOOKIE rd', 'edns: 1232'])
    const good = cookieOf(lines)
    for (let i = 0; i < 3; i++) assert.equal((await ask(server, good))[1], ANSWER)
    assert.equal((await ask(server, `${good.slice(0, -2)}00`))[0], 'BADCOOKIE rd')
    assert.equal((await ask(server, good, ' +from=198.51.100.8'))[0], 'BADCOOKIE rd')
    server.host.step(3_601_000)
    assert.equal((await ask(server, good))[0], 'BADCOOKIE rd')
  })

  test('holds for malformed cookies', async () => {
    const server = rated('rate 1')
    assert.equal((await ask(server, '00'))[0], 'FORMERR rd')
    assert.equal((await ask(server, '00'))[0], 'NOERROR tc rd')
  })

  test('does not hold for connections', async () => {
    const server = rated('rate 1', 'slip 0')
    await server.ask(ASK)
    for (const transport of ['tcp', 'tls', 'https']) {
      for (let i = 0; i < 3; i++) {
        assert.equal((await server.ask(`${ASK} +${transport}`))[0], HEAD)
      }
    }
  })

  test('does not count the look-ups of the server itself', async () => {
    const file = directive('file zone example.org')
    const zone = '@ 60 IN SOA ns a 1 2 3 4 5\n@ 60 IN NS ns\nwww 60 IN CNAME www.example.net.\n'
    const corefile = `${block(directive('cookies', 'rate 1'), file.replace(/ \{[\s\S]*/, ''), 'forward . 192.0.2.53')}`
    const upstream = (): string[] => ['NOERROR ra', 'www.example.net. 60 IN A 192.0.2.7']
    const server = serve(corefile, { files: { zone }, upstream })
    const lines = await server.ask(ASK)
    assert.equal(lines.includes('www.example.net. 60 IN A 192.0.2.7'), true, lines.join())
    assert.equal((await server.ask(ASK))[0], 'NOERROR tc rd')
  })
})
