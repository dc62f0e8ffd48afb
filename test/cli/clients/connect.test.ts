import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { AUTHORITY } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ROOT, read } from '../../docs/pages.ts'
import { freePort } from '../../free-port.ts'
import { writeReplyText } from '../../message-text.ts'
import { askUdp, frame, queryWith, TcpClient, within } from '../../server/clients.ts'
import { fakeHttps } from '../../server/secure-servers.ts'
import { FAKE_PROGRAMS } from '../fake-resolved.ts'
import { failed, runCli } from '../run-cli.ts'

const ANSWER = 'a.example.org. 30 IN A 192.0.2.7'
const GATEWAY = 'https://dns.example.net'
const PRINT = ['connect', '--gateway', GATEWAY, '--domain', 'prod.example.org', '--print']

/** A gateway that knows one token. */
const serveDoh: RequestListener = (request, response) => {
  if (request.headers.authorization === 'Bearer s3cret/+') answer(request, response)
  else response.writeHead(401).end()
}

const answer: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    response.setHeader('content-type', 'application/dns-message')
    response.end(writeReplyText(['NOERROR aa', ANSWER], new Uint8Array(Buffer.concat(chunks))))
  })
}

/** A machine with fake programs, and how to run the command on it. */
async function machine(t: TestContext) {
  const folder = temporaryFolder(t, { ...FAKE_PROGRAMS, 'ca.pem': AUTHORITY })
  for (const name of Object.keys(FAKE_PROGRAMS)) chmodSync(join(folder, name), 0o755)
  const { port: gatewayPort } = await fakeHttps(t, serveDoh)
  const port = await freePort()
  const args = [
    ...['connect', '--gateway', `https://127.0.0.1:${gatewayPort}`, '--domain', 'Example.org.'],
    ...['--listen', `127.0.0.1:${port}`, '--ca', join(folder, 'ca.pem'), '--system', 'linux'],
    ...['--state', join(folder, 'state.json')],
  ]
  const start = async (): Promise<ChildProcess> => {
    const { NODE_COMPILE_CACHE } = process.env
    const env = { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, NODE_COMPILE_CACHE }
    const child = spawn(join(ROOT, 'bin/kubedoh'), args, {
      env: { ...env, KUBEDOH_CLIENT_TOKEN: 's3cret/+' },
    })
    t.onTestFinished(() => {
      child.kill('SIGKILL')
    })
    let text = ''
    const ready = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          text += String(chunk)
          if (text.includes('ready: ')) resolve()
        })
      }
    })
    await within(ready, 'the ready line').catch((error) => assert.fail(`${error}: ${text}`))
    said = text
    return child
  }
  let said = ''
  const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').split('\n').slice(0, -1)
  const hasState = (): boolean => existsSync(join(folder, 'state.json'))
  return { start, calls, port, hasState, said: () => said }
}

function ended(child: ChildProcess): Promise<number | null> {
  return within(new Promise((resolve) => child.once('exit', resolve)), 'the end')
}

describe('kubedoh connect', () => {
  test('answers from the gateway, with the token, and sets and undoes split DNS', async (t) => {
    const { start, calls, port, hasState, said } = await machine(t)
    const child = await start()
    assert.equal(said(), `ready: example.org by 127.0.0.1:${port}; Ctrl-C ends it\n`)
    const client = await TcpClient.open(port)
    client.socket.write(frame(queryWith(1)))
    const [overTcp] = await client.messages(1)
    const { message: overUdp } = await askUdp('127.0.0.1', port, queryWith(2))
    for (const message of [overTcp, overUdp]) {
      assert.deepEqual(message && parseResponse(message)?.answer.map(formatRecord), [ANSWER])
    }
    client.socket.destroy()
    assert.equal(calls().length, 8)
    assert.ok(hasState())
    child.kill('SIGHUP')
    assert.equal(await ended(child), 0)
    assert.deepEqual(calls().slice(8), ['resolvectl revert kubedoh0', 'ip link delete kubedoh0'])
    assert.equal(hasState(), false)
  })

  test('undoes after SIGKILL what the run before has set', async (t) => {
    const { start, calls, hasState, said } = await machine(t)
    const first = await start()
    first.kill('SIGKILL')
    await ended(first)
    assert.ok(hasState())
    const second = await start()
    assert.match(said(), /^kubedoh: undid what a crashed run had set\nready: /)
    assert.deepEqual(
      calls().map((call) => call.split(' ', 3).slice(0, 3).join(' ')),
      [...SET, 'resolvectl revert kubedoh0', 'ip link delete', ...SET],
    )
    second.kill('SIGTERM')
    assert.equal(await ended(second), 0)
  })

  const SET = [
    ...['ip link add', 'ip address add', 'ip link set', 'resolvectl dns kubedoh0'],
    ...['domain', 'default-route', 'dnssec', 'dnsovertls'].map(
      (verb) => `resolvectl ${verb} kubedoh0`,
    ),
  ]

  for (const system of ['linux', 'macos', 'windows', 'none']) {
    test(`--print changes nothing, for ${system}`, async () => {
      const ran = await runCli([...PRINT, '--system', system, '--token', 's3cret'])
      assert.deepEqual([ran.status, ran.stderr], [0, ''])
      assert.ok(!ran.stdout.includes('s3cret'))
      assert.match(ran.stdout, /forward \. https:\/\/x:TOKEN@dns\.example\.net\/dns-query \{/)
      const [, set = ''] = ran.stdout.split('# set\n')
      assert.equal(set.includes('prod.example.org'), system !== 'none')
    })
  }

  test('docs/connect.md shows what --print prints', async () => {
    const ran = await runCli([...PRINT, '--system', 'linux', '--token', 's3cret'])
    assert.ok(read('docs/connect.md').includes(`\n${ran.stdout}\`\`\`\n`), ran.stdout)
  })

  test('starts nothing when the gateway refuses the token', async (t) => {
    const { port } = await fakeHttps(t, (_, response) => response.writeHead(401).end())
    const { status, stderr } = await runCli([
      ...['connect', '--gateway', `https://127.0.0.1:${port}`, '--domain', 'a.example.org'],
      ...['--system', 'none', '--ca', join(temporaryFolder(t, { ca: AUTHORITY }), 'ca')],
    ])
    const line = `127.0.0.1:${port} refuses DNS over HTTPS (HTTP status 401); pass a valid token`
    assert.deepEqual([status, stderr], [1, `kubedoh: ${line}, --token\n`])
  })
})

describe('a command line of connect that is wrong', () => {
  const cases: { name: string; args: string[]; line: string }[] = [
    {
      name: 'names no domain',
      args: ['--domain', 'a/../b'],
      line: '--domain "a/../b" is not a domain such as prod.example.org',
    },
    {
      name: 'has the gateway in its domain',
      args: ['--domain', 'example.net'],
      line:
        'The gateway dns.example.net is in --domain example.net, which only it could resolve; ' +
        'use another name or its address',
    },
    {
      name: 'listens for other machines',
      args: ['--listen', '0.0.0.0:53'],
      line: '--listen "0.0.0.0:53" is not a loopback address with a port',
    },
    {
      name: 'has a port that Windows cannot use',
      args: ['--listen', '127.0.0.1:5300', '--system', 'windows'],
      line: '--listen needs port 53 on Windows, whose policy table has no ports',
    },
    {
      name: 'has an address that macOS has not',
      args: ['--listen', '127.0.0.53:53', '--system', 'macos'],
      line: '--listen needs 127.0.0.1 or ::1 on macOS, which has no other loopback',
    },
    {
      name: 'names no system',
      args: ['--system', 'plan9'],
      line: '--system "plan9" is not one of linux, macos, windows, none',
    },
  ]
  for (const { name, args, line } of cases) {
    test(name, async () => {
      assert.deepEqual(await runCli([...PRINT, ...args]), failed(`kubedoh: ${line}`))
    })
  }
})
