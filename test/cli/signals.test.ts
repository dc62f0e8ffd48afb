import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { untilSignal } from '../../src/cli/signals.ts'
import { isServed, within } from '../shim/clients.ts'
import { ClusterApi } from './cluster-api.ts'
import { startGatewayServer } from './gateway-server.ts'
import { shopFolder } from './shop.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')

/** A process of the program. */
type Child = {
  /** Sends SIGTERM. @returns exit status and signal, `0 null` when all is well */
  readonly terminate: () => Promise<string>
  /** Resolves with what the program says first. */
  readonly ready: Promise<string>
}

/** Runs the program as users do; it does not outlive its test. */
function start(
  t: TestContext,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Child {
  const env = { ...process.env, LOCAL_IPS: '192.0.2.53', ...environment }
  const child = spawn(KUBEDOH, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const ready = once(child.stdout, 'data').then(([text]) => String(text))
  return {
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

describe('a process that gets SIGTERM', () => {
  test('ends with 0: serve', async (t) => {
    const folder = shopFolder(t)
    const files = ['--conf', join(folder, 'Corefile'), '--objects', join(folder, 'shop.yaml')]
    const { ready, terminate } = start(t, ['serve', ...files, '--dns.port', '0'])
    const [, port] = /^ready: DNS on port (\d+)\n$/.exec(await ready) ?? []
    assert.ok(await isServed(Number(port)))
    assert.equal(await terminate(), '0 null')
  })

  test('publishes what it knows, and ends with 0: export', async (t) => {
    const gateway = await startGatewayServer(t)
    const api = await ClusterApi.start(t)
    const conf = join(shopFolder(t, { Corefile: api.corefile }), 'Corefile')
    const flags = ['--gateway', gateway.url, '--cluster', 'shop', '--conf', conf, '--listen', '']
    const { ready, terminate } = start(t, ['export', ...flags], gateway.environment)
    assert.match(await ready, /^ready: \d+ records of cluster shop /)
    assert.equal(await terminate(), '0 null')
    assert.equal((await gateway.manifest())?.cluster, 'shop')
  })
})
