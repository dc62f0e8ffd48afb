import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { read } from '../../docs/pages.ts'
import { freePort } from '../../free-port.ts'
import { portOf } from '../../server/clients.ts'
import { failed, runCli, Screen } from '../run-cli.ts'

const TEMPLATE = `. {
    bind __PILLAR__LOCAL__DNS__
    hosts {
        192.0.2.1 a.example.org
    }
}
`
const OFF = ['-setupinterface=false', '-setupiptables=false']

describe('node-cache', () => {
  test('serves the Corefile that it generates, and metrics of setup errors', async (t) => {
    const folder = temporaryFolder(t, { base: TEMPLATE })
    const [port, metricsPort] = [await freePort(), await freePort()]
    const file = (name: string): string => join(folder, name)
    const metrics = `127.0.0.1:${metricsPort}`
    const screen = new Screen()
    const args = [
      ...['-basecorefile', file('base'), '-conf', file('Corefile'), '-pidfile', file('pid')],
      ...['-localip', '127.0.0.1', `-dns.port=${port}`, ...OFF, '-metrics-listen-address', metrics],
    ]
    const ended = main(['node-cache', ...args], screen, {})
    await screen.shows('stdout', /ready: DNS on port \d+\n/)
    assert.equal(readFileSync(file('pid'), 'utf8'), `${process.pid}\n`)
    assert.match(readFileSync(file('Corefile'), 'utf8'), /bind 127\.0\.0\.1\n/)
    const { stdout } = await runCli(['query', 'a.example.org', '--server', `127.0.0.1:${port}`])
    assert.match(stdout, /192\.0\.2\.1/)
    const text = await (await fetch(`http://${metrics}/metrics`)).text()
    assert.match(text, /^coredns_nodecache_setup_errors_total\{errortype="iptables_lock"\} 0$/m)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('starts with a ConfigMap that NodeLocal DNSCache ignores', async (t) => {
    const stubDomains = '{"acme.example":["10.0.0.1:abc"]}'
    const folder = temporaryFolder(t, { base: TEMPLATE, 'cm/stubDomains': stubDomains })
    const screen = new Screen()
    const args = [
      ...['-basecorefile', join(folder, 'base'), '-conf', join(folder, 'Corefile'), ...OFF],
      ...['-kubednscm', join(folder, 'cm'), '-metrics-listen-address', ''],
      ...['-localip', '127.0.0.1', `-dns.port=${await freePort()}`],
    ]
    const reason = /ignored .*cm: stubDomains: .*acme\.example.*10\.0\.0\.1:abc.* is not an address/
    const printed = await runCli(['node-cache', ...args, '--print'])
    assert.match(printed.stderr, reason)
    assert.equal(printed.status, 0)
    const ended = main(['node-cache', ...args], screen, {})
    await screen.shows('stdout', /ready: DNS on port \d+\n/)
    assert.match(screen.text.stderr, reason)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('serves while another program has the port of the metrics', async (t) => {
    const folder = temporaryFolder(t, { base: TEMPLATE })
    const other = createServer().listen(0, '127.0.0.1')
    t.onTestFinished(() => void other.close())
    await once(other, 'listening')
    const metrics = `127.0.0.1:${portOf(other.address())}`
    const screen = new Screen()
    const args = [
      ...['-basecorefile', join(folder, 'base'), '-conf', join(folder, 'Corefile'), ...OFF],
      ...['-localip', '127.0.0.1', `-dns.port=${await freePort()}`, '-syncinterval', '1'],
      ...['-metrics-listen-address', metrics],
    ]
    const ended = main(['node-cache', ...args], screen, {})
    await screen.shows('stdout', /ready: DNS on port \d+\n/)
    await screen.shows('stderr', /address in use/)
    other.close()
    await vi.waitFor(() => fetch(`http://${metrics}/metrics`), 10_000)
    process.emit('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('prints what its page shows', async (t) => {
    const folder = temporaryFolder(t, { 'Corefile.base': TEMPLATE })
    const [, command = '', expected = ''] =
      /\$ kubedoh (.*)\n([^`]*)/.exec(read('docs/node-cache.md')) ?? []
    const args = command.replace('Corefile.base', join(folder, 'Corefile.base')).split(' ')
    assert.deepEqual(await runCli(args), { status: 0, stdout: expected, stderr: '' })
  })

  const local = ['-localip', '::1']
  const many = Array.from({ length: 17 }, (_, i) => `192.0.2.${i}`).join(',')
  const refused: readonly (readonly [args: readonly string[], message: string])[] = [
    [['-localip', '169.254.20'], '--localip "169.254.20" is not an address'],
    [['-localip', many], '--localip has 17 addresses, expected 1 to 16'],
    [[...local, '-interfacename', 'a b'], '--interfacename "a b" is not the name of an interface'],
    [[...local, '-setupinterface=2'], '--setupinterface is "2", expected true or false'],
    [[...local, '--rules', 'pf'], '--rules is "pf", expected auto, iptables or nftables'],
    [[...local, '-health-port', 'x'], '--health-port is "x", expected 0 to 65535'],
    [
      [...local, ...OFF, '-basecorefile', '/none', '-conf', '/none'],
      'Cannot read /none or /none: no such file',
    ],
  ]
  for (const [args, message] of refused) {
    test(`refuses: ${message}`, async () => {
      assert.deepEqual(await runCli(['node-cache', ...args]), failed(`kubedoh: ${message}`))
    })
  }

  test('needs the address of the Service if the template does', async (t) => {
    const folder = temporaryFolder(t, { base: '. {\n forward . __PILLAR__CLUSTER__DNS__\n}\n' })
    const args = ['-basecorefile', join(folder, 'base'), '-upstreamsvc', 'kube-dns-upstream']
    const message =
      'KUBE_DNS_UPSTREAM_SERVICE_HOST is not an address: ' +
      'create Service kube-dns-upstream first, or pass --upstreamsvc'
    assert.deepEqual(
      await runCli(['node-cache', ...local, ...OFF, ...args]),
      failed(`kubedoh: ${message}`),
    )
  })
})
