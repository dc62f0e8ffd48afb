/**
 * docs/http-api.md says who may do what: each request is sent with the credentials of each caller.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { FakeIssuer } from '../gateway/fake-issuer.ts'
import { CLUSTERS, EXPORTER_TOKEN, Running } from '../gateway/running.ts'
import { tokenRecord } from '../gateway/tokens.ts'
import { codes, read, section, tableRows } from './pages.ts'

const issuer = new FakeIssuer('https://login.example.test')
const rule = (name: string, more: object): object => ({
  when: { group: name },
  namespaces: ['shop'],
  clusters: ['shop'],
  ...more,
})
const ISSUERS = JSON.stringify([
  {
    issuer: issuer.url,
    audiences: ['kubedoh'],
    rules: [
      ...['viewer', 'issuer', 'operator', 'administrator'].map((role) => rule(role, { role })),
      rule('operator of another', { role: 'operator', clusters: ['other'] }),
      rule('client', { explain: true }),
      rule('silent client', {}),
    ],
  },
])

/** Callers by the columns of the table; those of the second list are to be refused `own`. */
const CALLERS: Readonly<Record<string, readonly [own: string[], others: string[]]>> = {
  viewer: [['group viewer', 'read-only', 'role viewer'], []],
  issuer: [['group issuer', 'role issuer'], []],
  operator: [['group operator', 'role operator'], ['group operator of another']],
  administrator: [['group administrator', 'admin'], []],
  exporter: [[EXPORTER_TOKEN], ['exporter of another']],
  replica: [['replica'], []],
  client: [['group client'], ['group silent client']],
}

const WANTED = { clusters: ['shop'], namespaces: ['shop'], expiresInSeconds: 60 }
/** Not a client, unlike the others with a role. */
const NO_CLIENT = 'read-only'

class Gateway {
  private readonly running: Running
  private readonly tokens: ReadonlyMap<string, string>

  private constructor(running: Running, tokens: ReadonlyMap<string, string>) {
    this.running = running
    this.tokens = tokens
  }

  static async open(): Promise<Gateway> {
    const other = { publicKey: 'A'.repeat(43), tokenSha256: await hashToken('exporter of another') }
    const running = await Running.start({
      ISSUERS,
      CLUSTERS: JSON.stringify({ ...JSON.parse(CLUSTERS), other }),
      ADMIN_TOKEN_SHA256: await hashToken('admin'),
      READ_ONLY_TOKEN_SHA256: await hashToken('read-only'),
      REPLICA_TOKEN_SHA256: await hashToken('replica'),
      REQUESTS_PER_MINUTE: '0',
      CLIENT_TOKEN_CLUSTERS: '*',
    })
    running.fetchPage = issuer.fetch
    running.exporter(running.host.now)
    const tokens = new Map<string, string>()
    for (const role of ['viewer', 'issuer', 'operator'] as const) {
      const { token, record } = await tokenRecord()
      const scope = { ...record.scope, clusters: ['shop'] }
      await running.tokens.add({ ...record, scope, role })
      tokens.set(`role ${role}`, token)
    }
    return new Gateway(running, tokens)
  }

  /** Sends a request as a caller; returns whether it is allowed. */
  async allows(request: string, caller: string): Promise<boolean> {
    const [method = '', route = ''] = request.split(' ')
    const path = route
      .replace('/tokens/ID', '/tokens/0123456789ab')
      .replace('/ID', '/shop')
      .replace('KEY', 'A'.repeat(43))
      .replace('SHA256', 'a'.repeat(64))
    const group = caller.startsWith('group ') ? caller.slice(6) : undefined
    const token =
      group === undefined
        ? (this.tokens.get(caller) ?? caller)
        : await issuer.sign(this.running.host.now(), { group, sub: 'ann' })
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await this.running.app.request(`https://dns.example.org${path}`, {
      method,
      headers,
      // An `issuer` may create a token within its scope.
      ...(request === 'POST /v1/tokens' && { body: JSON.stringify(WANTED) }),
    })
    assert.ok(status < 500 || path === '/readyz' || path === '/v1/audit', `${request}: ${status}`)
    return status !== 401 && status !== 403
  }
}

const TABLE = section(read('docs/http-api.md'), '### Who may do what')
const [, ...columns] = TABLE.split('\n')
  .find((line) => line.startsWith('| request |'))
  ?.split('|')
  .map((cell) => cell.trim())
  .filter((cell) => cell !== '') ?? ['']
const rows = tableRows(TABLE).map(([first = '', ...cells]) => {
  const [request = ''] = codes(first)
  return { request, cells }
})

describe('docs/http-api.md says who may send', () => {
  test('each request below /v1', async () => {
    const running = await Running.start()
    const routes = running.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/v1/'))
      .map(({ method, path }) => `${method} ${path}`)
    const named = rows.map(({ request }) =>
      request.replace('/ID', '/:id').replace('KEY', ':key').replace('SHA256', ':sha256'),
    )
    const monitoring = ['GET /metrics', 'GET /readyz']
    assert.deepEqual([...named].sort(), [...new Set(routes), ...monitoring].sort())
    assert.deepEqual(columns, Object.keys(CALLERS))
  })

  for (const { request, cells } of rows) {
    test(request, async () => {
      const gateway = await Gateway.open()
      for (const [i, column] of columns.entries()) {
        const cell = cells[i]
        assert.ok(['yes', 'own', '–'].includes(cell ?? ''), `${column}: ${cell}`)
        const [own, others] = CALLERS[column] ?? assert.fail(column)
        for (const caller of own) {
          const isAllowed = await gateway.allows(request, caller)
          const isClient = caller !== NO_CLIENT || request !== 'GET /v1/names'
          assert.equal(isAllowed, cell !== '–' && isClient, `${caller} as ${column}`)
        }
        // Some requests get what is the caller's own, or nothing.
        const isFiltered = /\/v1\/(status|names)$/.test(request)
        for (const caller of cell === 'own' && !isFiltered ? others : []) {
          assert.equal(await gateway.allows(request, caller), false, caller)
        }
      }
      const isOpen = cells[0] === 'yes' && cells.at(-1) === 'yes'
      assert.equal(await gateway.allows(request, 'nobody'), isOpen, 'nobody')
    })
  }
})
