import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Host } from '../../../src/resolver/contract/host.ts'
import { random16 } from '../../../src/server/keys/random16.ts'
import { createNodeHost } from '../../../src/server/serve/node-host.ts'
import { openUpstream } from '../../../src/server/upstream/upstream-client.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

function openNothing(): never {
  throw new Error('No cluster here')
}

function hostIn(folder: string, parts: Partial<Host> = {}): Host {
  const unused = { log: () => undefined, openCluster: openNothing, abort: () => undefined }
  return createNodeHost({ folder, metrics: new Metrics(), ...unused, ...parts })
}

describe('files', () => {
  test('are listed recursively, sorted, relative to the folder', async (t) => {
    const folder = temporaryFolder(t)
    for (const path of ['z', 'z/b', 'z/b/c']) mkdirSync(join(folder, path))
    for (const path of ['z/x', 'z/a', 'z/b/c/y', 'z/b/x', 'other']) {
      writeFileSync(join(folder, path), '')
    }
    symlinkSync('x', join(folder, 'z/link'))
    symlinkSync('..', join(folder, 'z/b/up'))
    const host = hostIn(folder)
    const files = ['z/a', 'z/b/c/y', 'z/b/up', 'z/b/x', 'z/link', 'z/x']
    assert.deepEqual(await host.listFiles('z'), files)
    assert.deepEqual(
      await host.listFiles(join(folder, 'z')),
      files.map((path) => join(folder, path)),
    )
  })

  test('are listed in a symlinked folder', async (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'z'))
    writeFileSync(join(folder, 'z/x'), '')
    symlinkSync('z', join(folder, 'link'))
    assert.deepEqual(await hostIn(folder).listFiles('link'), ['link/x'])
  })

  test('are empty for a missing folder', async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'x'), '')
    assert.equal(await hostIn(folder).listFiles('z'), undefined)
    assert.equal(await hostIn(folder).listFiles('x'), undefined)
  })

  test('have a modification time and a size', (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'x'), '')
    utimesSync(join(folder, 'x'), 1_700_000_000, 1_700_000_000)
    assert.deepEqual(hostIn(folder).fileState('x'), { modifiedMs: 1_700_000_000_000, bytes: 0 })
    assert.equal(hostIn(folder).fileState('y'), undefined)
  })
})

describe('createNodeHost', () => {
  test('passes on its options', () => {
    const events: LogEvent[] = []
    const aborted: string[] = []
    const metrics = new Metrics()
    const host = hostIn('/', {
      metrics,
      log: (event) => events.push(event),
      abort: (message) => aborted.push(message),
    })
    host.log({ level: 'info', message: 'begun' })
    host.abort('a loop')
    assert.deepEqual(events, [{ level: 'info', message: 'begun' }])
    assert.deepEqual(aborted, ['a loop'])
    assert.equal(host.metrics, metrics)
    assert.equal(host.openCluster, openNothing)
    assert.equal(host.openUpstream, openUpstream)
    assert.equal(host.random16, random16)
  })

  test("returns the system's time, even after it is set", () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
    const host = hostIn('/')
    assert.equal(host.now(), 1000)
    vi.setSystemTime(3_600_000)
    assert.equal(host.now(), 3_600_000)
    vi.setSystemTime(0)
    assert.equal(host.now(), 0)
  })

  test('reads relative and absolute paths', (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'hosts'), '192.0.2.1 a.example.org\n')
    const host = hostIn(folder)
    assert.equal(host.readText('hosts'), '192.0.2.1 a.example.org\n')
    assert.equal(hostIn('/').readText(join(folder, 'hosts')), '192.0.2.1 a.example.org\n')
    assert.equal(host.readText('other'), undefined)
    assert.equal(host.readBytes?.('hosts')?.length, '192.0.2.1 a.example.org\n'.length)
    assert.equal(host.readBytes?.('other'), undefined)
  })

  test('runs a task once, after its delay', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let count = 0
    hostIn('/').after(100, () => count++)
    vi.advanceTimersByTime(99)
    assert.equal(count, 0)
    vi.advanceTimersByTime(1)
    assert.equal(count, 1)
    vi.advanceTimersByTime(1000)
    assert.equal(count, 1)
  })

  test('does not run a task at once whose delay is longer than a timer can be', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let count = 0
    hostIn('/').after(3_600_000_000, () => count++)
    vi.advanceTimersByTime(1000)
    assert.equal(count, 0)
  })

  test('does not run a cancelled task', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let count = 0
    const callOff = hostIn('/').after(100, () => count++)
    callOff()
    vi.advanceTimersByTime(1000)
    assert.equal(count, 0)
  })

  test('does not keep the process alive for a task', () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const callOff = hostIn('/').after(1_000_000, () => undefined)
    assert.equal(timers(), before)
    callOff()
  })

  test('prints query log lines as CoreDNS does', () => {
    const written: unknown[] = []
    const mock = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((text) => written.push(text) > 0)
    hostIn('/').print('127.0.0.1:53 - 1 "A IN example.org."')
    mock.mockRestore()
    assert.deepEqual(written, ['[INFO] 127.0.0.1:53 - 1 "A IN example.org."\n'])
  })
})
