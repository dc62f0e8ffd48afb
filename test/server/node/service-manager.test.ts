import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { ServiceManager } from '../../../src/server/node/service-manager.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { within } from '../clients.ts'

/** A `systemd-notify` that writes its arguments to a file, and what waits for its lines. */
function fakeNotify(t: TestContext, status = 0) {
  const folder = temporaryFolder(t, {
    'systemd-notify': `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> "$0.log"\nexit ${status}\n`,
  })
  chmodSync(join(folder, 'systemd-notify'), 0o755)
  const path = join(folder, 'systemd-notify.log')
  const lines = (): string[] =>
    existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  const shows = (count: number): Promise<string[]> => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    const look = (): void => {
      if (lines().length >= count) resolve(lines())
    }
    const watcher = watch(folder, look)
    t.onTestFinished(() => watcher.close())
    look()
    return within(promise, `${count} lines`)
  }
  const environment = {
    PATH: folder,
    NOTIFY_SOCKET: '/run/notify',
  }
  return { lines, shows, environment }
}

function managerOf(t: TestContext, environment: Record<string, string>) {
  const events: LogEvent[] = []
  const logged = Promise.withResolvers<void>()
  const log = (event: LogEvent): void => {
    events.push(event)
    logged.resolve()
  }
  const manager = new ServiceManager(log, environment)
  t.onTestFinished(() => manager.close())
  return { manager, events, logged: logged.promise }
}

describe('ServiceManager', () => {
  test('reports the start and the end', async (t) => {
    const { shows, environment } = fakeNotify(t)
    const { manager, events } = managerOf(t, environment)
    manager.ready()
    assert.deepEqual(await shows(1), ['/run/notify READY=1'])
    manager.stopping()
    assert.deepEqual(await shows(2), ['/run/notify READY=1', '/run/notify STOPPING=1'])
    assert.deepEqual(events, [])
  })

  test('feeds the watchdog of this process', async (t) => {
    const { shows, environment } = fakeNotify(t)
    const watchdog = { WATCHDOG_USEC: '40000', WATCHDOG_PID: String(process.pid) }
    const { manager } = managerOf(t, { ...environment, ...watchdog })
    manager.ready()
    const [first, ...others] = await shows(3)
    manager.close()
    assert.equal(first, '/run/notify READY=1')
    assert.deepEqual(new Set(others), new Set(['/run/notify WATCHDOG=1']))
  })

  test('leaves the watchdog of another process alone', async (t) => {
    const { shows, lines, environment } = fakeNotify(t)
    const { manager } = managerOf(t, { ...environment, WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' })
    manager.ready()
    await shows(1)
    manager.stopping()
    await shows(2)
    assert.ok(!lines().join().includes('WATCHDOG'))
  })

  test('does nothing without systemd', (t) => {
    const { manager, events } = managerOf(t, { PATH: '/nowhere' })
    manager.ready()
    manager.stopping()
    assert.deepEqual(events, [])
  })

  for (const [name, path, reason] of [
    ['is missing', '/nowhere', 'ENOENT'],
    ['fails', undefined, 'status 1'],
  ] as const) {
    test(`warns once when systemd-notify ${name}`, async (t) => {
      const { environment, shows } = fakeNotify(t, 1)
      const { manager, events, logged } = managerOf(t, {
        ...environment,
        ...(path && { PATH: path }),
      })
      manager.ready()
      manager.stopping()
      await within(logged, 'the warning')
      if (path === undefined) await shows(2)
      const message = `systemd-notify fails: ${reason}; use Type=exec`
      assert.deepEqual(events, [{ level: 'warning', message }])
    })
  }
})
