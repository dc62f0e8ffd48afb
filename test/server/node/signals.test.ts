import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'vitest'
import { onReloadSignal, untilSignal } from '../../../src/server/node/signals.ts'
import { ClusterApi } from '../../cli/cluster-api.ts'
import { startGatewayServer } from '../../cli/gateway-server.ts'
import { runCli } from '../../cli/run-cli.ts'
import { shopFolder } from '../../cli/shop.ts'
import { freePort } from '../../free-port.ts'
import { isServed, within } from '../clients.ts'

const KUBEDOH = join(import.meta.dirname, '../../../bin/kubedoh')

/** A process of the program. */
type Child = {
  /** Sends SIGTERM. @returns exit status and signal, `0 null` when all is well */
  readonly terminate: () => Promise<string>
  readonly pid: number
  /** Resolves with what the program says first. */
  readonly ready: Promise<string>
  /** Resolves with the first line on standard error that fits, and passes on the others. */
  readonly logs: (pattern: RegExp) => Promise<string>
}

/** Runs the program as users do; it does not outlive its test. */
function start(
  t: TestContext,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Child {
  const env = { ...process.env, LOCAL_IPS: '192.0.2.53', ...environment }
  const child = spawn(KUBEDOH, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const ready = once(child.stdout, 'data').then(([text]) => String(text))
  const lines = createInterface(child.stderr)
  lines.on('line', (line) => process.stderr.write(`${line}\n`)) // seen when a test fails
  return {
    pid: child.pid ?? 0,
    logs: (pattern) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      lines.on('line', (line) => {
        if (pattern.test(line)) resolve(line)
      })
      return within(promise, `${pattern} in the log`)
    },
    terminate: async () => {
      child.kill('SIGTERM')
      const [status, signal] = await within(exited, 'the end of the process')
      return `${status} ${signal}`
    },
    ready: within(ready, 'the first line'),
  }
}

describe('untilSignal', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`waits for ${signal}, and leaves the next one to Node`, async () => {
      const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
      const before = count()
      let isDone = false
      const done = untilSignal().then(() => {
        isDone = true
      })
      await new Promise(setImmediate)
      assert.equal(isDone, false)
      assert.equal(count(), before + 2)
      process.emit(signal, signal)
      await done
      assert.equal(count(), before)
    })
  }
})

test('onReloadSignal calls at SIGHUP and SIGUSR1 until it is ended', () => {
  let calls = 0
  const end = onReloadSignal(() => calls++)
  process.emit('SIGHUP', 'SIGHUP')
  process.emit('SIGUSR1', 'SIGUSR1')
  end()
  assert.equal(process.listenerCount('SIGHUP') + process.listenerCount('SIGUSR1'), 0)
  assert.equal(calls, 2)
})

describe('serve', () => {
  for (const [signal, workers] of [
    ['SIGUSR1', '1'],
    ['SIGUSR1', '2'],
    ['SIGHUP', '1'],
  ] as const) {
    test(`reloads the Corefile at ${signal}, ${workers} at work`, async (t) => {
      const folder = shopFolder(t, { Corefile: hostsCorefile('192.0.2.1') })
      const conf = join(folder, 'Corefile')
      const dnsPort = await freePort()
      const pidfile = join(folder, 'pid')
      const flags = ['-conf', conf, '-p', `${dnsPort}`, '-workers', workers, '-pidfile', pidfile]
      const { pid, ready, logs, terminate } = start(t, ['serve', ...flags])
      assert.equal(await ready, `ready: DNS on port ${dnsPort}\n`)
      assert.equal(readFileSync(pidfile, 'utf8'), `${pid}\n`)
      writeFileSync(conf, hostsCorefile('192.0.2.2'))
      const reloaded = logs(/reloaded the changed Corefile/)
      process.kill(pid, signal)
      await reloaded
      const server = `udp://127.0.0.1:${dnsPort}`
      const { stdout } = await runCli(['query', 'a.test', '--server', server])
      assert.match(stdout, /IN A 192\.0\.2\.2\n/)
      assert.equal(await terminate(), '0 null')
      assert.ok(!existsSync(pidfile))
    })
  }
})

test('gateway reloads at SIGHUP, and opens no inspector at SIGUSR1', async (t) => {
  const conf = join(shopFolder(t, { Corefile: '. {\n  any\n}\n' }), 'Corefile')
  const args = ['gateway', '--conf', conf, '--listen', '127.0.0.1:0']
  const { pid, ready, logs, terminate } = start(t, args)
  assert.match(await ready, /^ready: DNS over HTTP on /)
  for (const signal of ['SIGHUP', 'SIGUSR1']) {
    const reloaded = logs(/reloaded the Corefile|Debugger listening/)
    process.kill(pid, signal)
    assert.match(await reloaded, /reloaded the Corefile/)
  }
  assert.equal(await terminate(), '0 null')
})

function hostsCorefile(address: string): string {
  return `. {\n  bind 127.0.0.1\n  hosts {\n    ${address} a.test\n  }\n}\n`
}

describe('a process that gets SIGTERM', () => {
  test('ends with 0: serve', async (t) => {
    const folder = shopFolder(t)
    const files = ['--conf', join(folder, 'Corefile'), '--objects', join(folder, 'shop.yaml')]
    const { ready, terminate } = start(t, ['serve', ...files, '--dns.port', '0'])
    const [, port] = /^ready: DNS on port (\d+)\n$/.exec(await ready) ?? []
    assert.ok(await isServed(Number(port)))
    assert.equal(await terminate(), '0 null')
  })

  test('publishes pending changes, and exits with 0: export', async (t) => {
    const gateway = await startGatewayServer(t)
    const api = await ClusterApi.start(t)
    const conf = join(shopFolder(t, { Corefile: api.corefile }), 'Corefile')
    const flags = ['--gateway', gateway.url, '--cluster', 'shop', '--conf', conf, '--listen', '']
    const { ready, terminate } = start(t, ['export', ...flags], gateway.environment)
    assert.match(await ready, /^ready: published \d+ records of cluster shop /)
    assert.equal(await terminate(), '0 null')
    assert.equal((await gateway.manifest())?.cluster, 'shop')
  })
})
