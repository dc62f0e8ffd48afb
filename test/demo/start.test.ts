import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { browse } from '../cli/login/local-issuer.ts'
import { ENVIRONMENT, runCli, Screen } from '../cli/run-cli.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { freePort } from '../free-port.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { askUdp } from '../server/clients.ts'

const SCRIPT = join(import.meta.dirname, '../../demo/start.ts')

/** Holds a free port. */
async function takePort(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('No port')
  return { server, port: address.port }
}

/** Runs it to its end. */
async function run(...args: string[]): Promise<{ status: number; out: string; err: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'exit')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exit
  return { status, out, err }
}

/** Runs a printed command of the operator as a shell with the printed token does. */
async function paste(lines: readonly string[], words: string): Promise<string> {
  const command = lines.find((line) => line.includes(`npx kubedoh ${words}`)) ?? ''
  const [, KUBEDOH_ADMIN_TOKEN = ''] =
    /export KUBEDOH_ADMIN_TOKEN=(\S+)/.exec(lines.join('\n')) ?? []
  const args = command.trim().split(' ').slice(2)
  const { status, stdout, stderr } = await runCli(args, { KUBEDOH_ADMIN_TOKEN })
  assert.equal(status, 0, `${command}: ${stderr}`)
  return stdout
}

/** Opens the page of the client that sees one namespace, and fetches both of its names. */
async function askAsLimited(lines: readonly string[]): Promise<void> {
  const own = lines.flatMap((line) => /http\S+\/t\/kdt_[^\s']*/.exec(line) ?? [])
  const [page = '', seen = '', forbidden = ''] = own
  assert.equal(own.length, 3)
  assert.match((await fetch(page)).headers.get('content-type') ?? '', /^text\/html/)
  const statuses = await Promise.all(
    [seen, forbidden].map(async (url) => JSON.parse(await (await fetch(url)).text()).Status),
  )
  assert.deepEqual(statuses, [0, 3])
}

/** Logs in by the printed command as alice does, who then sees one namespace. */
async function logInAsAlice(lines: readonly string[], t: TestContext): Promise<void> {
  const [, gateway = ''] = /npx kubedoh login --gateway (http:\S+)$/m.exec(lines.join('\n')) ?? []
  const environment = { ...ENVIRONMENT, XDG_CONFIG_HOME: temporaryFolder(t) }
  const screen = new Screen()
  const ended = main(['login', '--gateway', gateway], screen, environment)
  const [, page = ''] = await screen.shows('stderr', /^ {2}(http:\S+)$/m)
  assert.match(await browse(page, 'alice'), /You can close this window/)
  assert.equal(await ended, 0)
  const ask = async (name: string): Promise<string | undefined> => {
    const words = ['query', `${name}.svc.demo.test`, '--server', gateway]
    return /^; (\w+),/m.exec((await runCli(words, environment)).stdout)?.[1]
  }
  assert.deepEqual([await ask('web.shop'), await ask('bank.payments')], ['NOERROR', 'NXDOMAIN'])
  const [, logins = ''] = /data-logins="([^"]+)"/.exec(await (await fetch(gateway)).text()) ?? []
  assert.match(logins, /authorize/)
}

test('npm start answers over HTTP and UDP, and ends at Ctrl-C with status 0', async (t) => {
  const [port, dnsPort] = [await freePort(), await freePort()]
  const args = ['--port', `${port}`, '--dns.port', `${dnsPort}`]
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'exit')
  try {
    const errors = text(child.stderr)
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (line.includes('name=bank.payments') && line.includes('/t/kdt_')) break
    }
    assert.equal(lines.filter((line) => line.startsWith('ready in ')).length, 1)
    const curl = lines.find((line) => line.includes('/resolve?name=web.shop.svc'))
    const [, url = ''] = /curl -s '(.*)'/.exec(curl ?? '') ?? []
    const { Status, Answer } = JSON.parse(await (await fetch(url)).text())
    assert.deepEqual([Status, Answer.length], [0, 1])
    const question = parseQuestion('web.shop.svc.cluster.local A')
    const { message } = await askUdp('127.0.0.1', dnsPort, question.message)
    const reply = formatReply(message)
    assert.equal(reply.at(1)?.split(' ').at(-1), Answer[0].data)
    for (const words of ['query', 'explain', 'token create']) await paste(lines, words)
    assert.match(await paste(lines, 'explain bank'), /payments\/bank/)
    assert.match(await paste(lines, 'token list'), / only shop /)
    await askAsLimited(lines)
    await logInAsAlice(lines, t)
    child.kill('SIGINT')
    assert.deepEqual(await exit, [0, null])
    // The gateway logs what the operator did.
    const others = (await errors).split('\n').filter((line) => !line.includes('"audit":true'))
    assert.deepEqual(others, [''])
  } finally {
    child.kill('SIGKILL')
  }
})

describe('npm start says what is wrong', () => {
  test('with a port that is taken', async (t) => {
    const { server, port } = await takePort()
    t.onTestFinished(() => void server.close())
    const { status, err } = await run('--port', `${port}`)
    assert.equal(status, 1)
    const message = `cannot listen on 127.0.0.1:${port}: address in use; stop the other process or run npm start`
    assert.match(err, new RegExp(message.replace(/[()]/g, '\\$&')))
  })

  test('with a port that is none', async () => {
    const { status, err } = await run('--dns.port', '70000')
    assert.equal(status, 1)
    assert.match(err, /--dns\.port is "70000", expected 1 to 65535/)
  })

  test('with a word that means nothing', async () => {
    const { status, err } = await run('--prot', '1')
    assert.equal(status, 1)
    assert.match(err, /Unknown option '--prot'[\s\S]*Usage: npm start/)
  })

  test('and what it takes', async () => {
    const { status, out } = await run('--help')
    assert.equal(status, 0)
    for (const flag of ['--kubeconfig', '--port', '--dns.port']) assert.ok(out.includes(flag))
  })
})
