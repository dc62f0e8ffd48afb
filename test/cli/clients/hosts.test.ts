import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { readText } from '../../../src/operators/node-local/replace-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { read } from '../../docs/pages.ts'
import { freePort } from '../../free-port.ts'
import { failed, runCli, Screen } from '../run-cli.ts'
import { startServer } from '../shop.ts'

const LOCALHOST = '127.0.0.1 localhost\n'
const ENTRY =
  '192.0.2.10 web.shop.svc web.shop.svc.cluster.local # openshift-generated-node-resolver\n'

function hostsFile(t: TestContext): string {
  return join(temporaryFolder(t, { hosts: LOCALHOST }), 'hosts')
}

describe('hosts', () => {
  test('writes the entries that OpenShift would, from its variables', async (t) => {
    const { port } = await startServer(t)
    const path = hostsFile(t)
    const environment = {
      SERVICES: 'web.shop.svc, none.shop.svc',
      NAMESERVER: `127.0.0.1:${port}`,
      CLUSTER_DOMAIN: 'cluster.local',
    }
    const ran = await runCli(['hosts', '--once', '--hosts-file', path], environment)
    assert.equal(ran.status, 0)
    assert.equal(readText(path), LOCALHOST + ENTRY)
  })

  test('prints what its page shows', async (t) => {
    const { port } = await startServer(t)
    const path = hostsFile(t)
    const [, shown = '', expected] = /\$ kubedoh (.*)\n([^`]*)/.exec(read('docs/hosts.md')) ?? []
    const args = shown
      .replace('127.0.0.1:5353', `127.0.0.1:${port}`)
      .replace('-file hosts', `-file ${path}`)
    const ran = await runCli(args.split(' '))
    assert.deepEqual(ran, { status: 0, stdout: expected, stderr: '' })
    assert.equal(readText(path), LOCALHOST)
  })

  test('serves metrics and updates the file until a signal ends it', async (t) => {
    const { port } = await startServer(t)
    const path = hostsFile(t)
    const listen = `127.0.0.1:${await freePort()}`
    const args = ['--services', 'web.shop.svc', '--nameserver', `127.0.0.1:${port}`]
    const screen = new Screen()
    const ended = main(['hosts', ...args, '--hosts-file', path, '--listen', listen], screen)
    await screen.shows('stderr', /"wrote .*hosts","entries":1,"how":"replaced"/)
    await vi.waitFor(async () => {
      assert.equal((await fetch(`http://${listen}/readyz`)).status, 200)
    })
    const metrics = await (await fetch(`http://${listen}/metrics`)).text()
    assert.match(metrics, /^kubedoh_hosts_entries 1$/m)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
    assert.equal(readText(path), LOCALHOST + ENTRY)
  })

  test('fails with --once when a Service cannot be resolved', async (t) => {
    const path = hostsFile(t)
    const server = `127.0.0.1:${await freePort()}`
    const args = ['--services', 'a.b.svc', '--nameserver', server, '--hosts-file', path]
    const ran = await runCli(['hosts', '--once', ...args])
    assert.equal(ran.status, 1)
    const [line = '', last] = ran.stderr.split('\n')
    assert.match(line, /"cannot resolve a\.b\.svc: .*; its entries stay"/)
    assert.equal(last, 'kubedoh: Not all entries are up to date; the log has the reasons')
  })

  const refused: readonly (readonly [args: readonly string[], message: string])[] = [
    [
      ['--services', ', ', '--nameserver', '192.0.2.1'],
      '--services has 0 names, expected 1 to 256',
    ],
    [
      ['--services', 'a.svc\n192.0.2.1', '--nameserver', '192.0.2.1', '--cluster-domain', 'x y'],
      '"x y" is not a hostname, such as web.shop.svc',
    ],
    [
      ['--services', 'a;b', '--nameserver', '192.0.2.1'],
      '"a;b" is not a hostname, such as web.shop.svc',
    ],
    [
      ['--services', 'a.svc', '--nameserver', 'dns:53'],
      '--nameserver "dns:53" is not ADDRESS or ADDRESS:PORT',
    ],
    [
      ['--services', 'a.svc', '--nameserver', '::1', '--syncinterval', '0'],
      '--syncinterval is "0", expected seconds, such as 60',
    ],
  ]
  for (const [args, message] of refused) {
    test(`refuses: ${message}`, async () => {
      assert.deepEqual(await runCli(['hosts', ...args]), failed(`kubedoh: ${message}`))
    })
  }
})
