import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AuditLine, AuditStore, StoredAuditLine } from '../../../src/gateway/access/audit.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { FakeHost } from '../../fake-host.ts'
import { Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
const READER = 'the-token-that-reads'

/** A store in memory. */
class MemoryAudit implements AuditStore {
  readonly lines: StoredAuditLine[] = []
  readonly add = async (line: AuditLine): Promise<void> => {
    this.lines.push({ number: this.lines.length + 1, ...line })
  }
  readonly list: AuditStore['list'] = async ({ after, sinceMs, limit }) =>
    this.lines.filter(({ number, timeMs }) => number > after && timeMs >= sinceMs).slice(0, limit)
}

async function start(auditStore?: AuditStore): Promise<Running> {
  const variables = {
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    READ_ONLY_TOKEN_SHA256: await hashToken(READER),
  }
  return Running.start(variables, new FakeHost({ isGateway: true }), auditStore && { auditStore })
}

async function read(running: Running, query = ''): Promise<{ lines: object[]; next: unknown }> {
  const response = await running.get(`/v1/audit${query}`, ADMIN)
  assert.equal(response.status, 200)
  return JSON.parse(await response.text())
}

describe('GET /v1/audit', () => {
  test('lists what operators did, page after page, and who read the list', async () => {
    const running = await start(new MemoryAudit())
    await running.get('/v1/tokens', ADMIN)
    await running.get('/v1/explain?name=www.example.org', READER)
    const time = new Date(running.host.now()).toISOString()
    const by = { time, address: '192.0.2.1', method: 'GET' }
    const explained = { path: '/v1/explain', status: 200, name: 'www.example.org' }
    assert.deepEqual(await read(running, '?limit=2'), {
      lines: [
        { number: 1, operator: 'admin', ...by, path: '/v1/tokens', status: 200 },
        { number: 2, operator: 'read-only', ...by, ...explained },
      ],
      next: 2,
    })
    assert.deepEqual(await read(running, '?limit=2&after=2'), {
      lines: [{ number: 3, operator: 'admin', ...by, path: '/v1/audit', status: 200 }],
      next: null,
    })
    await running.host.advance(3_600_000)
    const since = new Date(running.host.now()).toISOString()
    assert.deepEqual(await read(running, `?since=${since}`), { lines: [], next: null })
    assert.equal((await read(running, '?since=2020-01-01')).lines.length, 5)
  })

  const refused: readonly { query: string; status: number; code: string; token?: string }[] = [
    { query: '', status: 401, code: 'unauthorized', token: READER },
    { query: '', status: 401, code: 'unauthorized', token: 'wrong' },
    { query: '?limit=0', status: 400, code: 'bad_parameter' },
    { query: '?limit=1001', status: 400, code: 'bad_parameter' },
    { query: '?limit=ten', status: 400, code: 'bad_parameter' },
    { query: '?after=-1', status: 400, code: 'bad_parameter' },
    { query: '?after=9999999999999999', status: 400, code: 'bad_parameter' },
    { query: '?since=yesterday', status: 400, code: 'bad_parameter' },
    { query: '?since=2026-13-01', status: 400, code: 'bad_parameter' },
  ]
  for (const { query, status, code, token = ADMIN } of refused) {
    test(`answers ${status} to "${query}" with ${token}`, async () => {
      const running = await start(new MemoryAudit())
      const response = await running.get(`/v1/audit${query}`, token)
      assert.equal(response.status, status)
      assert.equal(JSON.parse(await response.text()).error.code, code)
    })
  }

  test('answers 501 where the lines are in the log only', async () => {
    const response = await (await start()).get('/v1/audit', ADMIN)
    assert.equal(response.status, 501)
    assert.equal(JSON.parse(await response.text()).error.code, 'no_audit_store')
  })
})

describe('a store of the audit log', () => {
  const failing: Record<string, AuditStore['add']> = {
    rejects: () => Promise.reject(new Error('the object is overloaded')),
    throws: () => {
      throw new Error('the object is overloaded')
    },
  }
  for (const [how, add] of Object.entries(failing)) {
    test(`that ${how} fails no request, and is logged beside the line`, async () => {
      const running = await start({ add, list: async () => [] })
      assert.equal((await running.get('/v1/tokens', ADMIN)).status, 200)
      await Promise.all(running.kept)
      assert.deepEqual(
        running.host.events.map(({ level, message, error }) => [level, message, error]),
        [
          ['info', 'operator request', undefined],
          [
            'error',
            'cannot store a line of the audit log; it is in this log only',
            'the object is overloaded',
          ],
        ],
      )
    })
  }

  test('that hangs delays no response', async () => {
    const running = await start({ add: () => new Promise(() => undefined), list: async () => [] })
    assert.equal((await running.get('/v1/tokens', ADMIN)).status, 200)
  })
})
