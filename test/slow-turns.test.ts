import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from './cluster/follow/temporary-folder.ts'
import { readSlowTurns } from './slow-turns.ts'

const TURN = {
  program: 'serve --conf a',
  threadId: 0,
  cpuMs: 60,
  gcMs: 0,
  ran: 'emit (node:events:489) > parse (zone.ts:9)',
}
/** One with the events of many sockets. */
const EVENTS = { ...TURN, cpuMs: 240, ran: 'processTicksAndRejections (task_queues:72)' }
const CLOSED = { ...TURN, cpuMs: 90, ran: 'close (a.ts:9) > destroy (core:1620)' }
const WATCHED = { ...TURN, cpuMs: 69, ran: 'look (loop-watch.ts:49) > last (loop-watch.ts:122)' }

describe('readSlowTurns', () => {
  const CASES = [
    { name: 'fails on a turn over 50 ms', turns: [TURN], failed: 1 },
    { name: 'does not count garbage collections', turns: [{ ...TURN, gcMs: 11 }], failed: 0 },
    { name: 'passes a turn of 50 ms', turns: [{ ...TURN, cpuMs: 50 }], failed: 0 },
    { name: 'passes the exporter', turns: [{ ...TURN, program: 'export --once' }], failed: 0 },
    { name: 'passes many events in 240 ms', turns: [EVENTS], failed: 0 },
    { name: 'passes connections that Node closes', turns: [CLOSED], failed: 0 },
    { name: 'passes events of which only the watch itself shows', turns: [WATCHED], failed: 0 },
    { name: 'fails on more of them', turns: [{ ...EVENTS, cpuMs: 260 }], failed: 1 },
    { name: 'counts a suite once', turns: [TURN, TURN], failed: 1 },
  ]
  test.for(CASES)('$name', ({ turns, failed }, t) => {
    const path = join(temporaryFolder(t), 'turns')
    writeFileSync(path, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''))
    assert.equal(readSlowTurns(path).failed, failed)
    assert.ok(!existsSync(path))
  })

  test('has nothing to print without a report', () => {
    assert.deepEqual(readSlowTurns('/nonexistent/turns'), { lines: [], failed: 0 })
  })
})
