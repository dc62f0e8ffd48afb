import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { assert, describe, test } from 'vitest'
import type { AuditLine, AuditQuery } from '../../src/gateway/access/audit.ts'
import type { AuditObject } from '../../worker/audit-object.ts'

const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 24 * 3600 * 1000
const ALL: AuditQuery = { after: 0, sinceMs: 0, limit: 100_000 }

function line(operator: AuditLine['operator'], timeMs: number): AuditLine {
  return { operator, timeMs, text: `{"at":${timeMs - START_MS}}` }
}

/** Runs a test inside an object of its own. */
function inObject(name: string, act: (object: AuditObject) => void): void {
  test(name, async () => {
    const stub = env.AUDIT?.getByName(name) ?? assert.fail('AUDIT is not bound')
    await runInDurableObject<AuditObject, void>(stub, act)
  })
}

function timesOf(object: AuditObject, query: Partial<AuditQuery> = {}): number[] {
  return object.list({ ...ALL, ...query }).map(({ timeMs }) => timeMs - START_MS)
}

describe('the lines of the audit log in a Durable Object', () => {
  inObject('are listed in order, since a time, a page at a time', (object) => {
    for (const ms of [1, 2, 2, 5]) object.add(line('admin', START_MS + ms))
    const [first] = object.list(ALL)
    assert.deepEqual(first, { number: 1, ...line('admin', START_MS + 1) })
    assert.deepEqual(timesOf(object, { sinceMs: START_MS + 2 }), [2, 2, 5])
    assert.deepEqual(timesOf(object, { limit: 2 }), [1, 2])
    assert.deepEqual(timesOf(object, { after: 2, limit: 2 }), [2, 5])
    assert.deepEqual(timesOf(object, { after: 4 }), [])
  })

  inObject('are 20,000 of a kind: a flood of one operator keeps those of the other', (object) => {
    object.add(line('admin', START_MS))
    for (let i = 0; i < 20_005; i++) object.add(line('read-only', START_MS + i))
    const listed = object.list(ALL)
    assert.equal(listed.filter(({ operator }) => operator === 'read-only').length, 20_000)
    assert.deepEqual(listed[0], { number: 1, ...line('admin', START_MS) })
    assert.equal(listed[1]?.timeMs, START_MS + 5)
  })

  inObject('are kept for 396 days', (object) => {
    object.add(line('admin', START_MS))
    object.add(line('read-only', START_MS + 1))
    object.add(line('admin', START_MS + 396 * DAY_MS))
    assert.deepEqual(timesOf(object), [0, 1, 396 * DAY_MS])
    object.add(line('admin', START_MS + 397 * DAY_MS))
    assert.deepEqual(timesOf(object), [396 * DAY_MS, 397 * DAY_MS])
  })
})
