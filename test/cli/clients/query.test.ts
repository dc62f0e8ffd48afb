import assert from 'node:assert/strict'
import dns from 'node:dns'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { stripVTControlCharacters } from 'node:util'
import { describe, type TestContext, test, vi } from 'vitest'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { startHttpApi } from '../../cluster/follow/http-api.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { writeReplyText } from '../../message-text.ts'
import { echo, fakeUdp } from '../../server/clients.ts'
import { failed, type Ran, runCli } from '../run-cli.ts'
import { startServer } from '../shop.ts'

/** Asks, and returns the lines that are printed but for the time it took. */
async function ask(...args: readonly string[]): Promise<string[]> {
  const { status, stdout, stderr } = await runCli(['query', ...args])
  assert.deepEqual([status, stderr], [0, ''])
  const plain = stripVTControlCharacters(stdout).replace(/ \d+\.\d ms from /, ' T ms from ')
  assert.ok(plain.endsWith('\n'))
  return plain.slice(0, -1).split('\n')
}

/** Starts a server that also answers over HTTP. @returns its URLs by scheme */
async function startShop(t: TestContext): Promise<Record<'udp' | 'tcp' | 'http', string>> {
  const doh = `127.0.0.1:${await freePort()}`
  const { port } = await startServer(t, { dohListen: doh })
  return {
    udp: `udp://127.0.0.1:${port}`,
    tcp: `tcp://127.0.0.1:${port}`,
    http: `http://${doh}/dns-query`,
  }
}

/** Puts other servers in place of those that this machine asks. */
function mockSystemServers(t: TestContext, servers: readonly string[]): void {
  const mock = vi.spyOn(dns, 'getServers').mockImplementation(() => [...servers])
  syncBuiltinESMExports()
  t.onTestFinished(() => {
    mock.mockRestore()
    syncBuiltinESMExports()
  })
}

describe('query', () => {
  test('prints zone-file text over every transport', async (t) => {
    const servers = await startShop(t)
    for (const server of [...Object.values(servers), servers.http.replace('/dns-query', '')]) {
      assert.deepEqual(await ask('web.shop.svc.cluster.local', '--server', server), [
        `; NOERROR, authoritative; T ms from ${server}`,
        '; answer',
        'web.shop.svc.cluster.local. 30 IN A 192.0.2.10',
      ])
    }
  })

  test('queries the given type, PTR for an address, else A', async (t) => {
    const { tcp } = await startShop(t)
    assert.deepEqual(await ask('_http._tcp.web.shop.svc.cluster.local', 'srv', '--server', tcp), [
      `; NOERROR, authoritative; T ms from ${tcp}`,
      '; answer',
      '_http._tcp.web.shop.svc.cluster.local. 30 IN SRV 0 100 80 web.shop.svc.cluster.local.',
      '; additional',
      'web.shop.svc.cluster.local. 30 IN A 192.0.2.10',
    ])
    assert.deepEqual((await ask('192.0.2.10', '--server', tcp)).slice(1), [
      '; answer',
      '10.2.0.192.in-addr.arpa. 30 IN PTR web.shop.svc.cluster.local.',
    ])
    const [text = ''] = await ask('192.0.2.10', 'TXT', '--json', '--server', tcp)
    assert.match(text, /"Question":\[\{"name":"10\.2\.0\.192\.in-addr\.arpa\.","type":16\}\]/)
  })

  test('queries HOST:PORT over UDP', async (t) => {
    const { port } = await fakeUdp(t, (query) => [echo(query)])
    const [line] = await ask('a.example.org', '--server', `127.0.0.1:${port}`)
    assert.equal(line, `; NOERROR; T ms from udp://127.0.0.1:${port}`)
  })

  test('queries over TLS and trusts the CAs of --ca', async (t) => {
    const files = { 'cert.pem': SERVER.cert, 'key.pem': SERVER.key, 'ca.pem': AUTHORITY }
    const port = await freePort()
    const Corefile = `tls://.:${port} {\n  bind 127.0.0.1\n  tls cert.pem key.pem\n  whoami\n}\n`
    const { folder } = await startServer(t, {}, { Corefile, ...files })
    const args = ['query', 'a.example.org', '--server', `tls://127.0.0.1:${port}`]
    const { stderr } = await runCli(args)
    assert.match(stderr, /^kubedoh: Cannot query tls:\/\/127\.0\.0\.1:\d+: .*certificate.*\n$/)
    const defaults = getCACertificates('default')
    t.onTestFinished(() => setDefaultCACertificates(defaults))
    const { status, stdout } = await runCli([...args, '--ca', join(folder, 'ca.pem')])
    assert.deepEqual([status, stdout.split(',')[0]?.endsWith('NOERROR')], [0, true])
  })

  test('prints NXDOMAIN with the zone’s SOA', async (t) => {
    const { udp } = await startShop(t)
    const [head, section, soa] = await ask('none.shop.svc.cluster.local', '--server', udp)
    assert.equal(head, `; NXDOMAIN, authoritative; T ms from ${udp}`)
    assert.equal(section, '; authority')
    assert.match(soa ?? '', /^cluster\.local\. 30 IN SOA ns\.dns\.cluster\.local\. /)
  })

  test('retries truncated responses over TCP', async (t) => {
    const { udp } = await startShop(t)
    const [head, section, ...records] = await ask('many.shop.svc.cluster.local', '--server', udp)
    assert.deepEqual([head, section], [`; NOERROR, authoritative; T ms from ${udp}`, '; answer'])
    assert.equal(records.length, 100)
  })

  test('prints one object with --json', async (t) => {
    const { udp, http } = await startShop(t)
    for (const server of [udp, http]) {
      const [line = '', ...rest] = await ask('192.0.2.10', '--json', '--server', server)
      assert.deepEqual(rest, [])
      const reply: unknown = JSON.parse(line)
      assert.deepEqual(reply, {
        Status: 0,
        TC: false,
        RD: true,
        RA: false,
        AD: false,
        CD: false,
        Question: [{ name: '10.2.0.192.in-addr.arpa.', type: 12 }],
        Answer: [
          {
            name: '10.2.0.192.in-addr.arpa.',
            type: 12,
            TTL: 30,
            data: 'web.shop.svc.cluster.local.',
          },
        ],
      })
    }
  })

  test('prints flags and extended errors', async (t) => {
    const lines = ['SERVFAIL ad ra', 'ede: 14', 'ede: 22 No Reachable Authority']
    const { port } = await fakeUdp(t, (query) => [writeReplyText(lines, query)])
    const server = `udp://127.0.0.1:${port}`
    assert.deepEqual(await ask('a.example.org', '--server', server), [
      `; SERVFAIL, authenticated; T ms from ${server}`,
      '; extended error 14 (Not Ready)',
      '; extended error 22 (No Reachable Authority): No Reachable Authority',
    ])
  })

  test('queries the server of KUBEDOH_SERVER, else the system’s', async (t) => {
    const { port } = await fakeUdp(t, (query) => [echo(query)])
    const server = `udp://127.0.0.1:${port}`
    const named = await runCli(['query', 'a.example.org'], { KUBEDOH_SERVER: server })
    assert.match(stripVTControlCharacters(named.stdout), new RegExp(`^; NOERROR; .* ${server}\n$`))
    mockSystemServers(t, [`127.0.0.1:${port}`, '192.0.2.53'])
    assert.deepEqual(await ask('a.example.org'), [`; NOERROR; T ms from ${server}`])
  })

  test('puts an IPv6 address of the system’s server in brackets', async (t) => {
    mockSystemServers(t, ['::1'])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let ran: Ran | undefined
    void runCli(['query', 'a.example.org']).then((result) => {
      ran = result
    })
    while (ran === undefined) {
      await setImmediate()
      vi.advanceTimersByTime(5000)
    }
    assert.match(ran.stdout + ran.stderr, /udp:\/\/\[::1\](\n|: )/)
  })

  test('sends a token to a gateway if there is one', async (t) => {
    const sent: (string | undefined)[] = []
    const url = await startHttpApi(t, ({ headers, url: path }, response) => {
      if (path !== '/v1/login') sent.push(headers.authorization)
      response.writeHead(401)
      response.end()
    })
    const refused = failed(
      `kubedoh: Cannot query ${url}: HTTP status 401; pass a valid token, --token TOKEN`,
    )
    const args = ['query', 'a.example.org', '--server', url]
    assert.deepEqual(await runCli([...args, '--token', 's3cret']), refused)
    assert.deepEqual(await runCli(args, { KUBEDOH_CLIENT_TOKEN: 'from-environment' }), refused)
    assert.deepEqual(await runCli(args), refused)
    assert.deepEqual(sent, ['Bearer s3cret', 'Bearer from-environment', undefined])
    const asCurl = ['query', 'a.example.org', '--server', url.replace('//', '//x:s3cret@')]
    assert.deepEqual(await runCli(asCurl), refused)
    assert.equal(sent.at(-1), 'Bearer s3cret')
    const inPath = await runCli(['query', 'a.example.org', '--server', `${url}/t/s3cret/dns-query`])
    const label = `${url}/t/TOKEN/dns-query`
    assert.deepEqual(
      inPath,
      failed(`kubedoh: Cannot query ${label}: HTTP status 401; pass a valid token, --token TOKEN`),
    )
  })
})

test('query reads a token from a file, after the flag and the variable', async (t) => {
  const url = await startHttpApi(t, ({ headers }, response) => {
    response.writeHead(headers.authorization === 'Bearer in-file' ? 500 : 401).end()
  })
  const files = { token: 'in-file\n', empty: '\n', two: 'a b' }
  const folder = temporaryFolder(t, files)
  const args = ['query', 'a.example.org', '--server', url]
  const path = (name: string): string => join(folder, name)
  const from = (name: string): Promise<Ran> =>
    runCli(args, { KUBEDOH_CLIENT_TOKEN_FILE: path(name) })
  assert.match((await from('token')).stderr, /HTTP status 500$/m)
  const given = { KUBEDOH_CLIENT_TOKEN_FILE: path('token'), KUBEDOH_CLIENT_TOKEN: 'mine' }
  assert.match((await runCli(args, given)).stderr, /HTTP status 401/)
  const texts = {
    empty: `${path('empty')} has no token; KUBEDOH_CLIENT_TOKEN_FILE names it`,
    two: `${path('two')} contains a space or another character that tokens cannot have`,
    none: `Cannot read ${path('none')}: no such file`,
  }
  for (const [name, text] of Object.entries(texts)) {
    assert.deepEqual(await from(name), failed(`kubedoh: ${text}`))
  }
})

describe('an invalid query', () => {
  const cases: { name: string; args: readonly string[]; line: string }[] = [
    { name: 'no name', args: ['a..b'], line: '"a..b" is not a domain name' },
    { name: 'no type', args: ['a', 'B'], line: '"B" is not a record type such as SRV' },
    {
      name: 'no server',
      args: ['a', '--server', 'a b:53'],
      line: '--server "a b:53" is not HOST:PORT, udp://HOST, tcp://HOST, tls://HOST or https://HOST/dns-query',
    },
    {
      name: 'a token in the clear',
      args: ['a', '--server', 'http://192.0.2.1/dns-query', '--token', 'x'],
      line: 'Cannot send a token to 192.0.2.1 over plain http://; use https://',
    },
    {
      name: 'a URL of another kind',
      args: ['a', '--server', 'ftp://a'],
      line: '--server "ftp://a" is not HOST:PORT, udp://HOST, tcp://HOST, tls://HOST or https://HOST/dns-query',
    },
    {
      name: 'a token in the path of a URL of another kind',
      args: ['a', '--server', 'ftp://x:s3cret@a/t/s3cret/dns-query'],
      line: '--server "ftp://a/t/TOKEN/dns-query" is not HOST:PORT, udp://HOST, tcp://HOST, tls://HOST or https://HOST/dns-query',
    },
    {
      name: 'a token in the path, in the clear',
      args: ['a', '--server', 'http://192.0.2.1/t/s3cret/dns-query'],
      line: 'Cannot send a token to 192.0.2.1 over plain http://; use https://',
    },
    {
      name: 'a token of two lines',
      args: ['a', '--server', 'https://192.0.2.1/dns-query', '--token', 's3\ncret'],
      line: '--token contains a space or another character that tokens cannot have',
    },
    {
      name: 'missing authorities',
      args: ['a', '--server', 'tls://127.0.0.1', '--ca', '/none/ca.pem'],
      line: 'Cannot read the CA file /none/ca.pem: no such file',
    },
  ]
  for (const { name, args, line } of cases) {
    test(`is refused in one line: ${name}`, async () => {
      const server = args.includes('--server') ? [] : ['--server', 'udp://127.0.0.1:1']
      assert.deepEqual(await runCli(['query', ...args, ...server]), failed(`kubedoh: ${line}`))
    })
  }
})

describe('an unresponsive server', () => {
  for (const scheme of ['udp', 'tcp', 'http', 'https']) {
    test(`is reported in one line: ${scheme}`, async () => {
      const server = `${scheme}://127.0.0.1:${await freePort()}`
      const { status, stdout, stderr } = await runCli([
        'query',
        'a.example.org',
        '--server',
        server,
      ])
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^kubedoh: Cannot query \S+: .*ECONNREFUSED.*\n$/)
      assert.ok(stderr.includes(server))
    })
  }

  test('times out after 5 seconds', async (t) => {
    const asked = Promise.withResolvers<void>()
    const { port } = await fakeUdp(t, () => {
      asked.resolve()
      return []
    })
    const server = `udp://127.0.0.1:${port}`
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ran = runCli(['query', 'a.example.org', '--server', server])
    await asked.promise
    vi.advanceTimersByTime(5000)
    const line = `kubedoh: Cannot query ${server}: no response over UDP in time`
    assert.deepEqual(await ran, failed(line))
  })

  test('sends an invalid message', async (t) => {
    const send = (_: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'application/dns-message' })
      response.end(new Uint8Array(12).fill(0xff))
    }
    const server = await startHttpApi(t, send)
    assert.deepEqual(
      await runCli(['query', 'a.example.org', '--server', server]),
      failed(`kubedoh: ${server} sent an invalid DNS message`),
    )
  })
})
