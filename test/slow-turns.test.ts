import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { temporaryFolder } from './exporter/temporary-folder.ts'
import { readSlowTurns } from './slow-turns.ts'

const TURN = { program: 'serve --conf a', threadId: 0, cpuMs: 60, gcMs: 0, ran: 'read' }

describe('readSlowTurns', () => {
  const CASES = [
    { name: 'fails on a turn over 50 ms', turns: [TURN], failed: 1 },
    { name: 'does not count garbage collections', turns: [{ ...TURN, gcMs: 11 }], failed: 0 },
    { name: 'passes a turn of 50 ms', turns: [{ ...TURN, cpuMs: 50 }], failed: 0 },
    { name: 'passes the exporter', turns: [{ ...TURN, program: 'export --once' }], failed: 0 },
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
