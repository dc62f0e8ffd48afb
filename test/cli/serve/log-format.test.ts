import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { freePort } from '../../free-port.ts'
import { start } from '../../real-cluster/processes.ts'
import { runCli } from '../run-cli.ts'
import { shopFolder } from '../shop.ts'

const KUBEDOH = join(import.meta.dirname, '../../../bin/kubedoh')

/** The lines of a format: what all look like, and two that scripts of CoreDNS wait for. */
type Format = {
  readonly name: string
  readonly every: RegExp
  readonly failed: RegExp
  readonly reloaded: RegExp
}

const FORMATS: readonly Format[] = [
  {
    name: 'json',
    every: /^\{"time":"[^"]+Z","level":"(?:info|warning|error)","message":".*\}$/,
    failed: /"plugin":"errors","rcode":"SERVFAIL","name":"away\.test\.","type":"A"/,
    reloaded: /"message":"Reloading complete"/,
  },
  {
    name: 'text',
    every: /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:info|warning|error) \S/,
    failed: / error plugin\/errors: .* rcode=SERVFAIL name=away\.test\. type=A$/,
    reloaded: / info Reloading complete$/,
  },
  {
    name: 'coredns',
    every: /^\[(?:INFO|WARNING|ERROR)\] \S/,
    failed: /^\[ERROR\] plugin\/errors: 2 away\.test\. A: \S/,
    reloaded: /^\[INFO\] Reloading complete$/,
  },
]

describe('--log-format of serve', () => {
  for (const { name, every, failed, reloaded } of FORMATS) {
    test(`${name} is the format of all lines, of workers too`, async (t) => {
      const [port, closed] = [await freePort(), await freePort()]
      const Corefile = `. {
  bind 127.0.0.1
  log
  errors
  reload
  forward . 127.0.0.1:${closed}
}
`
      const folder = shopFolder(t, { Corefile })
      const conf = ['--conf', join(folder, 'Corefile'), '--dns.port', `${port}`]
      const args = ['serve', ...conf, '--workers', '2', '--log-format', name]
      const server = start(KUBEDOH, args)
      t.onTestFinished(async () => void (await server.stop()))
      await server.line(/ready: DNS on port/)
      await server.line(/Running configuration SHA512 = [0-9a-f]{128}/)
      await runCli(['query', 'away.test', 'A', '--server', `tcp://127.0.0.1:${port}`])
      await server.line(failed)
      await server.line(/A IN away\.test\. tcp .* SERVFAIL/)
      server.child.kill('SIGUSR1')
      await server.line(reloaded)
      assert.equal(await server.stop(), 0)
      const lines = server.tail().split('\n')
      assert.ok(lines.length >= 6, server.tail())
      assert.deepEqual(
        lines.filter((line) => !every.test(line)),
        [],
      )
    })
  }

  test('that is none is refused, by flag and by variable', async () => {
    const expected = 'kubedoh: --log-format is "xml", expected json, text, coredns\n'
    const flag = await runCli(['serve', '--log-format', 'xml', '--conf', '/none'])
    assert.deepEqual([flag.status, flag.stderr], [1, expected])
    const variable = await runCli(['serve', '--conf', '/none'], { KUBEDOH_LOG_FORMAT: 'xml' })
    assert.deepEqual([variable.status, variable.stderr], [1, expected])
  })
})
