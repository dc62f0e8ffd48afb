/**
 * Configurations of `kubedoh router nginx` at a real nginx: the largest ones, names of one hash,
 * and requests that name two hosts. Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, test } from 'vitest'
import type { RouteTable } from '../../src/cluster/rules/route-table.ts'
import { formatNginx } from '../../src/operators/router/nginx-config.ts'
import { withDistinctNames } from '../../src/operators/router/nginx-names.ts'
import { findMissing } from '../clients/programs.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { collidingHosts, tableOfHosts } from '../operators/router/colliding-hosts.ts'
import { portOf } from '../server/clients.ts'

/** Processor time that `nginx -t` may take. */
const PROOF_SECONDS_MAX = 2
const PATIENCE_MS = 10_000
/** Paths as long as they may be. */
const LONG_PATHS: readonly string[] = ['/0', '/1'].map((path) => path.padEnd(253, 'y'))

/** Returns paths with a long common start, of which each second has a slash after it. */
function pathsInTurn(host: number): string[] {
  const start = `/${'a'.repeat(200)}`
  return Array.from({ length: 16 }, (_, i) => `${start}${i % 2 === 0 ? '-' : '/'}${host}-${i}`)
}

describeUnless(findMissing('nginx'), 'kubedoh router nginx under attack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-nginx-'))
  const conf = join(folder, 'nginx.conf')
  let listen: string[] = []

  beforeAll(async () => {
    const port = await freePort()
    listen = [`127.0.0.1:${port}`, `[::1]:${port}`]
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function write(table: RouteTable): string {
    const { text: written } = formatNginx(withDistinctNames(table).hosts, { listen, folder })
    writeFileSync(conf, written)
    return written
  }

  /** Returns the processor time of `nginx -t`, in seconds. */
  function proofSeconds(table: RouteTable): { readonly seconds: number; readonly says: string } {
    const { length } = write(table)
    // A shell prints the times of the program that it ran.
    const { stdout, stderr, status } = spawnSync('sh', ['-c', `nginx -t -c ${conf} 2>&1; times`], {
      encoding: 'utf8',
      timeout: PATIENCE_MS * 6,
    })
    const [, own = ''] = stdout.trimEnd().split('\n').slice(-2)
    const parts = [...own.matchAll(/(\d+)m([\d.]+)s/g)]
    const seconds = parts.reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0)
    const mib = (length / 1024 / 1024).toFixed(1)
    process.stdout.write(`nginx -t | ${mib} MiB | ${seconds.toFixed(2)} s of processor time\n`)
    return { seconds, says: `${status} ${stdout}${stderr}` }
  }

  const label = (at: number): string => `h${at}.`
  const long = (start: string, size: number): string =>
    start.padEnd(size, `${'y'.repeat(60)}.`).replace(/\.$/, 'z')
  const tables: { name: string; table: () => RouteTable; hosts: number }[] = [
    {
      name: 'the most hosts, with the most paths, all as long as they may be',
      table: () =>
        tableOfHosts(
          Array.from({ length: 12_000 }, (_, i) => long(label(i), 248)),
          { pathsOf: (i) => (i % 5 < 3 ? LONG_PATHS : LONG_PATHS.slice(1)) },
        ),
      hosts: 10_000,
    },
    {
      name: 'a host with the most paths, in an order that is not that of nginx',
      table: () =>
        tableOfHosts(
          Array.from({ length: 250 }, () => 'one.test'),
          { pathsOf: (i) => pathsInTurn(i), namespaces: 1 },
        ),
      hosts: 1,
    },
    {
      name: 'hosts of one hash',
      table: () => tableOfHosts([...collidingHosts(900, long('', 200).slice(1)), 'other.test']),
      hosts: 9,
    },
  ]
  for (const { name, table, hosts } of tables) {
    test(`nginx -t takes at most 2 s for ${name}`, () => {
      const built = table()
      assert.equal(withDistinctNames(built).hosts.length, hosts)
      const { seconds, says } = proofSeconds(built)
      assert.match(says, /test is successful/)
      assert.ok(seconds <= PROOF_SECONDS_MAX, `${seconds} s`)
    })
  }

  test('a backend gets the host that chose it, and no other one', async (t) => {
    const backend = createServer((incoming, response) => {
      const { host, 'x-forwarded-host': forwarded } = incoming.headers
      response.end(`${incoming.url} ${host} ${forwarded}`)
    })
    backend.listen(0, '127.0.0.1')
    await once(backend, 'listening')
    t.onTestFinished(() => void backend.close())
    const table = tableOfHosts(['www.a.test', 'www.b.test'])
    for (const { routes } of table.hosts) {
      for (const route of routes) {
        Object.assign(route, { backend: { address: '127.0.0.1', port: portOf(backend.address()) } })
      }
    }
    write(table)
    const nginx = spawn('nginx', ['-p', folder, '-c', conf, '-g', 'daemon off;'], {
      stdio: 'ignore',
    })
    t.onTestFinished(async () => {
      nginx.kill('SIGTERM')
      await once(nginx, 'exit')
    })
    const port = Number(listen[0]?.split(':')[1])
    await untilListening(port)
    const cases = [
      { target: '/x', host: 'www.a.test', to: '/x www.a.test www.a.test' },
      { target: '/x', host: 'www.a.test.', to: '/x www.a.test www.a.test' },
      { target: '/x', host: 'WWW.A.test', to: '/x www.a.test www.a.test' },
      { target: '/x', host: `www.a.test:${port}`, to: `/x www.a.test:${port} www.a.test:${port}` },
      { target: '/x', host: 'www.a.test.:8080', to: '/x www.a.test:8080 www.a.test:8080' },
      { target: 'http://www.b.test/x', host: 'www.a.test', to: '/x www.b.test www.b.test' },
      { target: 'http://www.b.test./x', host: 'www.a.test', to: '/x www.b.test www.b.test' },
      {
        target: 'HTTP://www.b.test:81?q',
        host: 'www.a.test:82',
        to: '/?q www.b.test:81 www.b.test:81',
      },
      { target: 'http://www.b.test/x', host: 'www.a.test:82', to: '/x www.b.test www.b.test' },
    ]
    for (const { target, host, to } of cases) {
      assert.equal(await bodyOf(port, target, host), to, `${target} ${host}`)
    }
    assert.match(await bodyOf(port, 'http://other.test/x', 'www.a.test'), /404/)
  })
})

/** Sends a request with any target, and returns the body of the response. */
async function bodyOf(port: number, target: string, host: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const [, ...body] = (await text(socket)).split('\r\n\r\n')
  // The length of each chunk comes before it.
  return body.join('').replace(/^[0-9a-f]+\r\n|\r\n0$|\r\n0\r\n$/g, '')
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isOpen) return
    assert.ok(performance.now() < deadline, 'nginx does not listen')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
