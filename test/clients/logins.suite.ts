/**
 * Logins at a real OpenID provider, from the first page to logout, at gateways on Node and workerd:
 * the program in processes of its own, and a person who is a script. Run by `npm run test:clients`.
 * @module
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { startGateway } from '../../build/local-gateway.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { parseResponse } from '../../src/dns/wire/message.ts'
import { generateKeyPair } from '../../src/snapshot/format/signature.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import { browse, entryOf, startIssuer } from '../cli/login/local-issuer.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { askUdp, queryWith } from '../server/clients.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const NAME = 'a.example.org'
const COREFILE = `. {
  hosts {
    192.0.2.7 ${NAME}
  }
}
`
const ANSWER = new RegExp(`^${NAME}\\. .*192\\.0\\.2\\.7$`, 'm')
const ENDED = `x.${Buffer.from('{"exp":1}').toString('base64url')}.x`
const PAST = '2026-01-01T00:00:00Z'

type Variables = Readonly<Record<string, string>>

/** Starts a gateway, which runs until its test ends. Returns its URL. */
type StartGateway = (t: TestContext, variables: Variables) => Promise<string>

const GATEWAYS: Readonly<Record<string, StartGateway>> = {
  Node: async (t, variables) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-logins-'))
    writeFileSync(join(folder, 'Corefile'), COREFILE)
    const listen = `127.0.0.1:${await freePort()}`
    const args = ['--conf', join(folder, 'Corefile'), '--store', 'memory', '--listen', listen]
    const gateway = start(KUBEDOH, ['gateway', ...args], variables)
    t.onTestFinished(async () => {
      await gateway.stop()
      rmSync(folder, { recursive: true })
    })
    await gateway.line(/^ready/)
    return `http://${listen}`
  },
  workerd: async (t, variables) => {
    const gateway = await startGateway({ variables: { ...variables, COREFILE } })
    t.onTestFinished(() => gateway.stop())
    return gateway.url
  },
}

/** A person's machine, with the files of one user. */
class Laptop {
  readonly gateway: string
  private readonly t: TestContext
  private readonly folder = mkdtempSync(join(tmpdir(), 'kubedoh-laptop-'))

  constructor(t: TestContext, gateway: string) {
    this.t = t
    this.gateway = gateway
    t.onTestFinished(() => rmSync(this.folder, { recursive: true }))
  }

  private get file(): string {
    return join(this.folder, 'kubedoh/credentials.json')
  }

  /** Starts a command, which ends with the test. */
  start(...args: readonly string[]): Running {
    const running = start(KUBEDOH, args, {
      XDG_CONFIG_HOME: this.folder,
      KUBEDOH_GATEWAY: this.gateway,
      // A program that opens nothing.
      BROWSER: 'true',
    })
    this.t.onTestFinished(() => void running.child.kill('SIGKILL'))
    return running
  }

  /** Runs a command to its end. Returns its status and its last lines. */
  async run(...args: readonly string[]): Promise<{ status: number | null; text: string }> {
    const running = this.start(...args)
    const status = await running.ended
    return { status, text: running.tail() }
  }

  /** Logs ada in on the page that the command prints. */
  async login(...args: readonly string[]): Promise<void> {
    const running = this.start('login', ...args)
    const page = /(http:\S+)$/.exec(await running.line(/^(?:or open| ) http:\S+$/))?.[1] ?? ''
    await browse(page, 'ada')
    equal(await running.ended, 0, running.tail())
    match(running.tail(), /^logged in at http:\S+ as ada of http/m)
  }

  query(): ReturnType<Laptop['run']> {
    return this.run('query', NAME, '--server', `${this.gateway}/dns-query`)
  }

  /** Ends what is written down of the login, as time does. */
  expire(): void {
    const { gateways } = recordOf(JSON.parse(readFileSync(this.file, 'utf8')))
    const kept = { ...Object(gateways)[this.gateway], expires: PAST, idToken: ENDED }
    writeFileSync(this.file, JSON.stringify({ gateways: { [this.gateway]: kept } }))
  }
}

for (const [runtime, open] of Object.entries(GATEWAYS)) {
  describe(`a person at a gateway on ${runtime}`, () => {
    async function laptop(t: TestContext): Promise<Laptop> {
      const ISSUERS = JSON.stringify([entryOf(await startIssuer(t))])
      const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
      return new Laptop(t, await open(t, { ISSUERS, EXCHANGE_KEY }))
    }

    test('logs in by a browser, uses every command, and logs out', async (t) => {
      const own = await laptop(t)
      const login = `run kubedoh login --gateway ${own.gateway}`
      match((await own.query()).text, new RegExp(`HTTP status 401; .*, or ${login}$`))
      await own.login()
      match((await own.query()).text, ANSWER)
      for (const args of [['explain', NAME], ['token', 'list'], ['conflicts']]) {
        const { status, text } = await own.run(...args)
        equal(status, 0, `${args.join(' ')}: ${text}`)
      }
      match((await own.run('doctor')).text, /gateway.*reachable/)
      const port = await freePort()
      const listen = ['--system', 'none', '--listen', `127.0.0.1:${port}`]
      const connected = own.start('connect', '--domain', 'example.org', ...listen)
      await connected.line(/^ready/)
      const { message } = await askUdp('127.0.0.1', port, queryWith(1, NAME))
      match(parseResponse(message)?.answer.map(formatRecord).join('') ?? '', /192\.0\.2\.7$/)
      equal(await connected.stop(), 0)
      own.expire()
      match((await own.query()).text, ANSWER)
      const out = await own.run('logout')
      match(out.text, /the refresh token is revoked at http/)
      match((await own.query()).text, /HTTP status 401/)
      deepEqual(await own.run('logout'), {
        status: 1,
        text: `kubedoh: No login at ${own.gateway}`,
      })
    })

    test('logs in by a code on another device', async (t) => {
      const own = await laptop(t)
      await own.login('--device')
      match((await own.query()).text, ANSWER)
    })
  })
}
