import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { RbacWatch } from '../../../src/cluster/follow/rbac-watch.ts'
import {
  openRights,
  principalKey,
  RIGHTS_BYTES_MAX,
} from '../../../src/snapshot/format/rights-table.ts'
import { FakeClock } from './fake-clock.ts'
import { answerLists, openWatches, page, ScriptedApi, value } from './scripted-api.ts'

const READS = '[{ apiGroups: [""], resources: [services], verbs: [get] }]'
const LISTS: Readonly<Record<string, string>> = {
  roles: `[{ metadata: { namespace: shop, name: view }, rules: ${READS} }]`,
  clusterroles: `[{ metadata: { name: view }, rules: ${READS} }]`,
  rolebindings: `[${bindingOf('ana')}]`,
  clusterrolebindings: `
    - metadata: { name: admins }
      roleRef: { kind: ClusterRole, name: view }
      subjects: [{ kind: Group, name: admins }]
  `,
}
const KINDS = Object.keys(LISTS)
const FORBIDDEN = new ApiError('roles.rbac.authorization.k8s.io is forbidden', 403)

function bindingOf(user: string, version = 5): string {
  const metadata = `{ namespace: shop, name: readers, resourceVersion: "${version}" }`
  return `{ metadata: ${metadata}, roleRef: { kind: Role, name: view },
    subjects: [{ kind: User, name: ${user} }] }`
}

/** A watch of RBAC, the API server, and the log. */
class Watching {
  readonly api: ScriptedApi = new ScriptedApi()
  readonly clock: FakeClock = new FakeClock()
  readonly messages: string[] = []
  readonly rbac: RbacWatch
  private changes = 0

  constructor(t: TestContext) {
    this.rbac = new RbacWatch({
      api: this.api,
      sleep: this.clock.sleep,
      random: () => 1,
      elapsed: this.clock.elapsed,
      onChange: () => this.changes++,
      onWarning: (message) => this.messages.push(`warning: ${message}`),
      onError: (message) => this.messages.push(`error: ${message}`),
    })
    const ended = new AbortController()
    const running = this.rbac.run(ended.signal)
    t.onTestFinished(async () => {
      ended.abort()
      await running
    })
  }

  /** Answers lists, opens watches, and waits for the table. */
  async start(lists: Readonly<Record<string, string>> = LISTS): Promise<this> {
    answerLists(this.api, lists)
    await this.clock.advance(0)
    openWatches(this.api, KINDS)
    await this.clock.advance(1000)
    return this
  }

  /** How often the table changed since the last call, and what a user and two groups see. */
  async read(user: string): Promise<unknown[]> {
    const { changes, rbac } = this
    this.changes = 0
    if (rbac.current === undefined) return [changes]
    const table = openRights(rbac.current)
    const seen = async (kind: 'user' | 'group', name: string): Promise<unknown> => {
      const namespaces = table.namespacesOf([await principalKey(kind, name)])
      return namespaces === 'all' ? 'all' : [...namespaces].join(' ')
    }
    return [changes, await seen('user', user), await seen('group', 'admins')]
  }
}

describe('a watch of RBAC', () => {
  test('has a table once all is listed and watched', async (t) => {
    const watching = new Watching(t)
    const { api, clock, rbac } = watching
    assert.equal(rbac.isAwaited, true)
    answerLists(api, LISTS)
    await clock.advance(5000)
    assert.deepEqual([await watching.read('ana'), rbac.isAwaited], [[0], true])
    openWatches(api, KINDS)
    await clock.advance(1000)
    assert.deepEqual([await watching.read('ana'), rbac.isAwaited], [[1, 'shop', 'all'], false])
    assert.deepEqual(api.paths, [
      ...KINDS.map((kind) => `/apis/rbac.authorization.k8s.io/v1/${kind}`),
      ...KINDS.map((kind) => `/apis/rbac.authorization.k8s.io/v1/${kind}`),
    ])
  })

  test('follows changes, and reports only those of the table', async (t) => {
    const watching = await new Watching(t).start()
    assert.deepEqual(await watching.read('ana'), [1, 'shop', 'all'])
    const { api, clock } = watching
    api.watching('rolebindings').send('MODIFIED', value(bindingOf('bob', 6)))
    await clock.advance(1000)
    assert.deepEqual(await watching.read('ana'), [1, '', 'all'])
    assert.deepEqual(await watching.read('bob'), [0, 'shop', 'all'])
    api.watching('rolebindings').send('MODIFIED', value(bindingOf('bob', 7)))
    const other = '{ metadata: { namespace: shop, name: other, resourceVersion: "8" } }'
    api.watching('roles').send('ADDED', value(other))
    await clock.advance(1000)
    assert.deepEqual(await watching.read('bob'), [0, 'shop', 'all'])
    api.watching('roles').send('DELETED', value('{ metadata: { namespace: shop, name: view } }'))
    await clock.advance(1000)
    assert.deepEqual(await watching.read('bob'), [1, '', 'all'])
  })

  test('keeps the table while a watch is closed, and then has what came meanwhile', async (t) => {
    const watching = await new Watching(t).start()
    await watching.read('ana')
    const { api, clock } = watching
    api.watching('roles').end()
    await clock.advance(1000)
    api.watching('rolebindings').send('MODIFIED', value(bindingOf('bob', 6)))
    await clock.advance(60_000)
    assert.deepEqual(await watching.read('bob'), [0, '', 'all'])
    api.watching('roles').open()
    await clock.advance(1000)
    assert.deepEqual(await watching.read('bob'), [1, 'shop', 'all'])
  })

  test('keeps the table when a right is taken away', async (t) => {
    const watching = await new Watching(t).start()
    await watching.read('ana')
    const { api, clock, messages } = watching
    api.answer('roles', FORBIDDEN)
    api.watching('roles').fail(FORBIDDEN)
    await clock.advance(60_000)
    assert.deepEqual(await watching.read('ana'), [0, 'shop', 'all'])
    assert.match(messages.join(), /^error: cannot follow roles: .* is forbidden; .*add to its/)
  })

  test('names the missing rights, and does not hold up names', async (t) => {
    const watching = new Watching(t)
    const { api, clock, rbac, messages } = watching
    for (const kind of KINDS) api.answer(kind, ...Array(10).fill(FORBIDDEN))
    await clock.advance(1000)
    assert.equal(rbac.isAwaited, true)
    await clock.advance(5000)
    assert.deepEqual([rbac.isAwaited, rbac.current], [false, undefined])
    const rule =
      '{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["list","watch"]}'
    assert.ok(messages.some((one) => one.includes(`add to its ClusterRole: ${rule}`)))
  })

  test('does not hold up names for an API server that has no RBAC', async (t) => {
    const { api, clock, rbac } = new Watching(t)
    for (const kind of KINDS) api.answer(kind, ...Array(10).fill(new ApiError('none', 404)))
    await clock.advance(9999)
    assert.equal(rbac.isAwaited, true)
    await clock.advance(1)
    assert.equal(rbac.isAwaited, false)
  })

  test('publishes what fits, and says what does not', async (t) => {
    const many = (namespace: string, first: string, count: number) => ({
      metadata: { namespace, name: 'many' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: Array.from({ length: count }, (_, i) => ({ kind: 'User', name: `${first}${i}` })),
    })
    const watching = new Watching(t)
    const items = [many('noisy', 'u', 12_000), many('loud', 'v', 12_000), many('shop', 'w', 9)]
    watching.api.answer('rolebindings', { items, resourceVersion: '3', continueToken: '' })
    await watching.start({ ...LISTS, rolebindings: '' })
    const { rbac, messages } = watching
    assert.ok(rbac.current && rbac.current.length <= RIGHTS_BYTES_MAX)
    assert.ok(rbac.current.length > 0.85 * RIGHTS_BYTES_MAX)
    assert.deepEqual(await watching.read('w8'), [1, 'shop', 'all'])
    assert.deepEqual(await watching.read('u9999999'), [0, '', 'all'])
    const [message = ''] = messages
    assert.match(
      message,
      /^warning: \d+ users and groups do not fit into 256 KiB of rights: they see nothing$/,
    )
    assert.equal(messages.length, 1)
    watching.api.watching('rolebindings').send('ADDED', page('7', `[${bindingOf('ana')}]`).items[0])
    await watching.clock.advance(1000)
    assert.deepEqual(await watching.read('ana'), [1, 'shop', 'all'])
    assert.equal(messages.length, 1)
  })

  test('has the state of each kind', async (t) => {
    const { rbac } = await new Watching(t).start()
    const states = rbac.states().map(({ resource, count, isConnected, isAvailable }) => {
      return [resource, count, isConnected, isAvailable]
    })
    assert.deepEqual(
      states,
      KINDS.map((kind) => [kind, 1, true, true]),
    )
  })
})
