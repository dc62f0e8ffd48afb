import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { ADMIN, startShopGateway } from '../operated-gateway.ts'
import { runCli } from '../run-cli.ts'
import { startServer } from '../shop.ts'

const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'

async function findings(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ status: number; lines: string[]; stderr: string }> {
  const { status, stdout, stderr } = await runCli(['doctor', ...args], environment)
  return { status, lines: stdout.split('\n'), stderr }
}

describe('kubedoh doctor', () => {
  test('lists the checks that it skips, and succeeds', async () => {
    const { status, lines } = await findings([])
    assert.equal(status, 0)
    const skipped = lines.filter((line) => line.startsWith('skipped'))
    assert.deepEqual(
      skipped.map((line) => line.split(/\s+/)[1]),
      ['gateway', 'kube-dns', 'server', 'upstreams'],
    )
  })

  const ages: [name: string, ageMs: number | undefined, finding: RegExp, status: number][] = [
    ['fresh', 0, /^ok +exporter +cluster shop was confirmed \d s ago$/m, 0],
    ['stale', 600_000, /^problem +exporter +cluster shop was confirmed 60\d s ago\n +next: /m, 1],
    ['expired', 1e9, /^problem +exporter +cluster shop has no usable snapshot\n +next: /m, 1],
    ['nothing', undefined, /^problem +exporter +cluster shop has no usable snapshot\n/m, 1],
  ]
  for (const [name, ageMs, finding, status] of ages) {
    test(`examines the exporter of a gateway: ${name}`, async (t) => {
      const time = ageMs === undefined ? undefined : new Date(Date.now() - ageMs).toISOString()
      const gateway = await startShopGateway(t, COREFILE, time)
      const environment = { KUBEDOH_ADMIN_TOKEN: ADMIN }
      const found = await findings(['--gateway', gateway], environment)
      assert.match(found.lines.join('\n'), finding)
      assert.equal(found.status, status)
      assert.equal(found.stderr, status === 0 ? '' : 'kubedoh: 1 problem\n')
    })
  }

  test('reports a Corefile that serve refuses', async (t) => {
    const folder = temporaryFolder(t, {
      Corefile: '. {\n  whoami a\n}\n',
      Good: '. {\n  whoami\n}\n',
    })
    const path = join(folder, 'Corefile')
    const { lines, status } = await findings(['--conf', path])
    assert.match(
      lines.join('\n'),
      /^problem +corefile +\S+\/Corefile:2:\d+: .*\n +next: kubedoh check /m,
    )
    assert.equal(status, 1)
    const good = await findings(['--conf', join(folder, 'Good')])
    assert.match(good.lines.join('\n'), /^ok +corefile +\S+\/Good: 1 server block$/m)
  })

  test('reports a gateway that refuses the token, and one that is away', async (t) => {
    const gateway = await startShopGateway(t, COREFILE, undefined)
    const refused = await findings(['--gateway', gateway], { KUBEDOH_ADMIN_TOKEN: 'x' })
    assert.match(refused.lines[0] ?? '', /^problem +gateway +the gateway refuses the token/)
    const away = `http://127.0.0.1:${await freePort()}`
    const { lines, status } = await findings(['--gateway', away], { KUBEDOH_ADMIN_TOKEN: 'x' })
    assert.match(lines[0] ?? '', /^problem +gateway .*ECONNREFUSED/)
    assert.equal(status, 1)
  })

  test('names the variable of the token when it is not set', async () => {
    const { lines, status } = await findings(['--gateway', 'http://127.0.0.1:1'], {})
    assert.match(lines[0] ?? '', /^problem +gateway +KUBEDOH_ADMIN_TOKEN is not set$/)
    assert.match(lines[1] ?? '', /next: set KUBEDOH_ADMIN_TOKEN .* \(kubedoh keys --admin\)$/)
    assert.equal(status, 1)
  })

  test('distinguishes a server that is no gateway from one that refuses the token', async (t) => {
    const doh = `127.0.0.1:${await freePort()}`
    await startServer(t, { objects: ['demo/shop.yaml'], dohListen: doh })
    const { lines } = await findings(['--gateway', `http://${doh}`], { KUBEDOH_ADMIN_TOKEN: 'x' })
    assert.match(lines[0] ?? '', /^problem +gateway +\/metrics: HTTP status 404$/)
    assert.match(lines[1] ?? '', /next: is --gateway the URL of a kubedoh gateway\?/)
  })

  test('examines a server and the upstreams of its Corefile', async (t) => {
    const { port } = await startServer(t, { objects: ['demo/shop.yaml'] })
    const dead = await freePort()
    const server = `127.0.0.1:${port}`
    const corefile = `. {\n  forward . 127.0.0.1:${port} 127.0.0.1:${dead}\n}\n`
    const conf = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
    const alive = await findings(['--server', server])
    assert.equal(alive.status, 0, alive.lines.join('\n'))
    const both = alive.lines.filter((line) => /^ok +server/.test(line))
    assert.deepEqual(
      both.map((line) => line.slice(20)),
      ['UDP', 'TCP'].map(
        (protocol) => `${server} over ${protocol} answers kubernetes.default.svc.cluster.local. A`,
      ),
    )
    const text = (await findings(['--server', server, '--conf', conf])).lines.join('\n')
    assert.match(text, /^problem +loop +forward sends queries to .*, which is this server itself$/m)
    assert.match(text, /^problem +upstreams +127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/m)
    const other = await findings(['--server', server, '--cluster-domain', 'a.test'])
    assert.match(other.lines.join('\n'), /^problem +server .* answers (REFUSED|SERVFAIL) to /m)
  })

  test('refuses a server that is none in one line', async () => {
    const { status, stderr } = await findings(['--server', 'https://a.test/'])
    assert.equal(status, 1)
    assert.equal(stderr, 'kubedoh: --server "https://a.test/" is not HOST or HOST:PORT\n')
  })
})
