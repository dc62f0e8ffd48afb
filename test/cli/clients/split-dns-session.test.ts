import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import type { Split } from '../../../src/cli/clients/split-dns.ts'
import { SplitDnsSession } from '../../../src/cli/clients/split-dns-session.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { FAKE_PROGRAMS } from '../fake-resolved.ts'

const SPLIT: Split = {
  system: 'linux',
  domains: ['prod.example.org'],
  address: '127.0.0.1',
  port: 5300,
}
const SET = [
  'ip link add kubedoh0 type dummy',
  'ip address add 192.0.0.8/32 dev kubedoh0',
  'ip link set kubedoh0 up',
  'resolvectl dns kubedoh0 127.0.0.1:5300',
  'resolvectl domain kubedoh0 ~prod.example.org',
  'resolvectl default-route kubedoh0 false',
  'resolvectl dnssec kubedoh0 no',
  'resolvectl dnsovertls kubedoh0 no',
]
const UNDO = ['resolvectl revert kubedoh0', 'ip link delete kubedoh0']

/** A process that has ended. */
const DEAD = spawnSync('true').pid

function open(t: TestContext) {
  const folder = temporaryFolder(t, FAKE_PROGRAMS)
  for (const name of Object.keys(FAKE_PROGRAMS)) chmodSync(join(folder, name), 0o755)
  vi.stubEnv('PATH', folder)
  const path = join(folder, 'state.json')
  return {
    folder,
    path,
    session: new SplitDnsSession(path),
    record: (pid: number, split: unknown = SPLIT) =>
      writeFileSync(path, JSON.stringify({ pid, split })),
    calls: (): string[] => {
      const log = join(folder, 'calls')
      return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
    },
  }
}

describe('a session of split DNS', () => {
  test('sets and undoes, and keeps a record in between', async (t) => {
    const { session, path, calls } = open(t)
    assert.equal(await session.recover(), false)
    await session.set(SPLIT)
    assert.deepEqual(calls(), SET)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { pid: process.pid, split: SPLIT })
    assert.deepEqual(await session.undo(SPLIT), [])
    assert.deepEqual(calls(), [...SET, ...UNDO])
    assert.equal(existsSync(path), false)
  })

  test('undoes what a run that crashed has set', async (t) => {
    const { session, path, record, calls } = open(t)
    record(DEAD)
    assert.equal(await session.recover(), true)
    assert.deepEqual(calls(), UNDO)
    assert.equal(existsSync(path), false)
    await session.set(SPLIT)
  })

  test('leaves a run alone that still lives', async (t) => {
    const { session, record, calls } = open(t)
    record(process.ppid)
    await assert.rejects(session.recover(), {
      message: new RegExp(`^kubedoh connect runs already, as process ${process.ppid}; stop it`),
    })
    assert.deepEqual(calls(), [])
  })

  test('undoes the first steps when one fails, and reports why', async (t) => {
    const { session, folder, path, calls } = open(t)
    writeFileSync(join(folder, 'fail'), 'domain')
    await assert.rejects(session.set(SPLIT), {
      message:
        /^Cannot set up split DNS: resolvectl domain kubedoh0 "~prod.example.org": refused(; run as root)?$/,
    })
    assert.deepEqual(calls(), [...SET.slice(0, 5), ...UNDO])
    assert.equal(existsSync(path), false)
  })

  test('says what to do without systemd-resolved', async (t) => {
    const { session, folder } = open(t)
    rmSync(join(folder, 'resolvectl'))
    await assert.rejects(session.set(SPLIT), {
      message: /: no such program; pass --system none and configure your resolver yourself$/,
    })
  })

  test('reports what it cannot undo, and undoes the rest', async (t) => {
    const { session, folder, calls } = open(t)
    await session.set(SPLIT)
    writeFileSync(join(folder, 'fail'), 'revert')
    const [line = '', ...others] = await session.undo(SPLIT)
    assert.match(line, /^resolvectl revert kubedoh0: refused/)
    assert.deepEqual(others, [])
    assert.deepEqual(calls().slice(-1), ['ip link delete kubedoh0'])
  })

  for (const [name, split] of [
    ['a path', { ...SPLIT, domains: ['../etc/passwd'] }],
    ['a command', { ...SPLIT, address: "'; rm" }],
    ['another system', { ...SPLIT, system: 'plan9' }],
    ['nothing', null],
  ] as const) {
    test(`runs nothing for a record with ${name} in it`, async (t) => {
      const { session, record, calls, path } = open(t)
      record(DEAD, split)
      await assert.rejects(session.recover(), {
        message: `${path} is no record of kubedoh connect; remove it`,
      })
      assert.deepEqual(calls(), [])
    })
  }
})
