import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { watchLoop, whatRan } from '../../../src/server/node/loop-watch.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

/** Keeps the loop busy for some milliseconds of CPU time. */
function keepBusy(ms: number): void {
  const start = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(start)
    if (user + system >= 1000 * ms) return
  }
}

describe('watchLoop', () => {
  test('logs a slow turn with what ran, and no other', async (t) => {
    const events: LogEvent[] = []
    t.onTestFinished(await watchLoop('log', (event) => events.push(event)))
    await sleep(20)
    events.length = 0
    keepBusy(30)
    await sleep(20)
    const slow = events.filter(({ cpuMs }) => Number(cpuMs) >= 30)
    assert.equal(slow.length, 1, JSON.stringify(events))
    assert.match(String(slow[0]?.ran), /\(loop-watch\.test\.ts/)
  })

  test('logs it where the file cannot be written, and goes on', async (t) => {
    const events: LogEvent[] = []
    const path = join(temporaryFolder(t), 'none', 'turns')
    t.onTestFinished(await watchLoop(path, (event) => events.push(event)))
    await sleep(20)
    events.length = 0
    for (const _ of [1, 2]) {
      keepBusy(30)
      await sleep(20)
    }
    assert.equal(events.filter(({ cpuMs }) => Number(cpuMs) >= 30).length, 2)
  })

  test('takes little time itself', async (t) => {
    let reports = 0
    t.onTestFinished(await watchLoop('log', () => reports++))
    const costs: number[] = []
    for (let i = 0; i < 5; i++) {
      await sleep(20)
      keepBusy(30)
      const start = process.threadCpuUsage()
      await sleep(1)
      const { user, system } = process.threadCpuUsage(start)
      costs.push((user + system) / 1000)
    }
    assert.ok(reports >= 5, `${reports} reports`)
    assert.ok(Math.min(...costs) < 10, `a report takes ${costs.join(', ')} ms`)
  })

  test('appends it to a file', async (t) => {
    const path = join(temporaryFolder(t), 'turns')
    const stop = await watchLoop(path, () => assert.fail('it must not log'))
    await sleep(20)
    keepBusy(30)
    await sleep(20)
    stop()
    const reports = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.ok(
      reports.some(({ cpuMs, ran }) => cpuMs >= 30 && ran.includes('(loop-watch.test.ts')),
      JSON.stringify(reports),
    )
  })
})

describe('whatRan', () => {
  const frame = (functionName: string, url = ''): Profiler.ProfileNode['callFrame'] => {
    return { functionName, scriptId: '1', url, lineNumber: 6, columnNumber: 0 }
  }
  const nodes: Profiler.ProfileNode[] = [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 4] },
    { id: 2, callFrame: frame('(program)') },
    { id: 3, callFrame: frame('(garbage collector)') },
    { id: 4, callFrame: frame('read', 'file:///src/hosts.ts'), children: [5, 6] },
    { id: 5, callFrame: frame('', 'file:///src/parse.ts') },
    { id: 6, callFrame: frame('other', 'file:///src/parse.ts') },
  ]
  const CASES = [
    { name: 'one function', samples: [4, 4], gcMs: 0, ran: 'read (hosts.ts:7)' },
    {
      name: 'the function with most samples',
      samples: [5, 6, 5, 5],
      gcMs: 0,
      ran: 'read (hosts.ts:7) > anonymous (parse.ts:7)',
    },
    {
      name: 'no function with less than half',
      samples: [4, 5, 6],
      gcMs: 0,
      ran: 'read (hosts.ts:7)',
    },
    { name: 'garbage collections', samples: [3, 4, 3, 4], gcMs: 15, ran: 'read (hosts.ts:7)' },
    { name: 'not what waits', samples: [2, 2, 3, 4], gcMs: 15, ran: 'read (hosts.ts:7)' },
    {
      name: 'only the last turn',
      samples: [3, 3, 3, ...Array(30).fill(4)],
      gcMs: 0,
      ran: 'read (hosts.ts:7)',
    },
    { name: 'nothing', samples: [], gcMs: 0, ran: '' },
  ]
  test.for(CASES)('returns $name', ({ samples, gcMs, ran }) => {
    const timeDeltas = samples.map(() => 1000)
    const profile = { nodes, startTime: 0, endTime: 0, samples, timeDeltas }
    assert.deepEqual(whatRan(profile, { wallMs: 30, cpuMs: 30 }), { gcMs, ran })
  })
})
