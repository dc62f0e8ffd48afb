/**
 * Rights by RBAC beside what a real API server says: random roles and bindings, and for each of
 * 2,000 clients reviews of some namespaces. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, it } from 'vitest'
import { sleep as pause } from '../../src/cluster/api/backoff.ts'
import { RbacWatch } from '../../src/cluster/follow/rbac-watch.ts'
import { openApi } from '../../src/cluster/follow/watch.ts'
import { isRecord, listOf, recordOf } from '../../src/dns/bytes/unknown.ts'
import { elapsed } from '../../src/server/node/elapsed.ts'
import {
  openRights,
  principalKey,
  type RightsTable,
} from '../../src/snapshot/format/rights-table.ts'
import { describeUnless } from '../describe-unless.ts'
import { seededRandom } from '../differential/generate.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, RBAC_RIGHTS, RIGHTS } from './objects.ts'
import { type Running, start } from './processes.ts'
import { labelOf, namespaceNames, type Principal, RandomRbac } from './random-rbac.ts'

const { KUBEDOH_SEED = '35' } = process.env
const PATIENCE_MS = 60_000
/** Requests at once. */
const PARALLEL = 16
const CHANGES = 400
const GROUP = 'rbac.authorization.k8s.io'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

/** Does something with each item, some at once. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values()
  const work = async (): Promise<void> => {
    for (const item of waiting) await act(item)
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
}

/** Returns the roles and bindings of two users, one for each kind of role. */
function markers(suffix: string): ApiObject[] {
  const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }]
  return (['Role', 'ClusterRole'] as const).flatMap((kind): ApiObject[] => {
    const name = `marker-${suffix}`
    const metadata = { name, ...(kind === 'Role' && { namespace: 'ns-0' }) }
    const subjects = [{ kind: 'User', apiGroup: GROUP, name: `${kind}-${suffix}` }]
    const roleRef = { apiGroup: GROUP, kind, name }
    const apiVersion = `${GROUP}/v1`
    return [
      { apiVersion, kind, metadata, rules },
      { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects },
    ]
  })
}

describeUnless(skip, 'rights by RBAC', () => {
  const random = new RandomRbac(seededRandom(Number(KUBEDOH_SEED)))
  const ended = new AbortController()
  const errors: string[] = []
  let api: ApiServer
  let manager: Running
  let rbac: RbacWatch
  let following: Promise<void>
  let table: RightsTable | undefined

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    // Fills the rules of aggregated ClusterRoles; the API server itself does not.
    manager = start(binaries.kubernetes, [
      'kube-controller-manager',
      `--kubeconfig=${api.adminConfig}`,
      '--controllers=clusterrole-aggregation-controller',
      '--leader-elect=false',
      '--secure-port=0',
    ])
    for (const object of [...RIGHTS, ...RBAC_RIGHTS]) await api.create(object)
    await each(namespaceNames().map(namespace), (one) => api.create(one))
    const connection = { kind: 'kubeconfig', path: api.exporterConfig, context: undefined } as const
    rbac = new RbacWatch({
      ...{ api: openApi(connection), sleep: pause, random: Math.random, elapsed },
      onChange: () => undefined,
      onWarning: (message) => errors.push(message),
      onError: (message) => errors.push(message),
    })
    following = rbac.run(ended.signal)
  })

  afterAll(async () => {
    ended.abort()
    await following
    await manager?.stop()
    await api?.stop()
  })

  /** Returns which namespaces a client sees by the table. */
  async function sees({ user, groups }: Principal): Promise<(name: string) => boolean> {
    if (rbac.current !== table?.bytes) table = rbac.current && openRights(rbac.current)
    const keys = [principalKey('user', user), ...groups.map((one) => principalKey('group', one))]
    const seen = table?.namespacesOf(await Promise.all(keys))
    return (name) => seen === 'all' || seen?.has(name) === true
  }

  /** Waits until the watch has all changes of each kind. */
  async function settle(suffix: string): Promise<void> {
    for (const object of markers(suffix)) await api.create(object)
    const users = [`Role-${suffix}`, `ClusterRole-${suffix}`]
    const startMs = performance.now()
    for (const user of users) {
      while (!(await sees({ user, groups: [] }))('ns-0')) {
        ok(performance.now() - startMs < PATIENCE_MS, `${user} sees nothing`)
        await sleep(20)
      }
    }
  }

  async function clusterRoles(): Promise<readonly ApiObject[]> {
    return (await api.list('ClusterRole', `${GROUP}/v1`)).filter(isObject)
  }

  /** Waits until the controller has filled what is aggregated. */
  async function aggregated(): Promise<void> {
    const startMs = performance.now()
    while (!areAggregated(await clusterRoles())) {
      ok(performance.now() - startMs < PATIENCE_MS, manager.tail())
      await sleep(100)
    }
  }

  /** Compares clients with the API server. */
  async function compare(what: string): Promise<void> {
    const objects = await api.list('RoleBinding', `${GROUP}/v1`)
    const bound = boundNamespaces(objects.filter(isObject))
    const reviews = random.principals().flatMap((principal) => {
      const names = [principal.user, ...principal.groups].flatMap((name) => bound.get(name) ?? [])
      const others = [random.pick(namespaceNames()), random.pick(namespaceNames()), 'missing']
      return [...new Set([...names.slice(0, 4), ...others])].map((one) => ({ principal, one }))
    })
    const differ: string[] = []
    let allowed = 0
    await each(reviews, async ({ principal, one }) => {
      const { user, groups } = principal
      const isAllowed = await api.mayReadServices(user, groups, one)
      if (isAllowed) allowed++
      if ((await sees(principal))(one) === isAllowed) return
      differ.push(`${user} (${groups.join(', ')}) in ${one}: ${isAllowed}`)
    })
    const counts = `${reviews.length} reviews, ${allowed} allowed, ${differ.length} differ`
    const bytes = rbac.current?.length
    process.stderr.write(`rbac, ${what}: ${counts}; seed ${KUBEDOH_SEED}, ${bytes} bytes\n`)
    deepEqual(differ, [])
    ok(allowed > 1000 && reviews.length - allowed > 1000, counts)
  }

  it('are what the API server says of 2,000 clients', async () => {
    for (const objects of [random.roles(), random.bindings()]) {
      await each(objects, (one) => api.create(one))
    }
    await aggregated()
    await settle('first')
    await compare('all at once')
  })

  it('still are after changes of roles and bindings', async () => {
    const kinds = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']
    const present = (await Promise.all(kinds.map((kind) => api.list(kind, `${GROUP}/v1`))))
      .flat()
      .filter(isObject)
      .filter(({ metadata }) => /^(role|shared|binding)-/.test(metadata.name))
    const changed = new Set(Array.from({ length: CHANGES }, () => random.pick(present)))
    await each([...changed], async (object) => {
      const { kind, metadata } = object
      const isRole = kind === 'Role' || kind === 'ClusterRole'
      const make = isRole ? random.role : random.binding
      const other = make.call(random, metadata.name, metadata.namespace)
      // The role of a binding cannot change: it is another one.
      if (!isRole) await api.delete(object)
      if (isRole) await api.patch(object, { rules: other.rules })
      else if (metadata.name.length % 2 === 0) await api.create(other)
    })
    await sleep(1000)
    await aggregated()
    await settle('second')
    await compare('after changes')
  })

  it('were read without a warning', () => {
    deepEqual(errors, [])
  })
})

function isObject(value: unknown): value is ApiObject {
  return isRecord(value) && isRecord(value.metadata)
}

/** Returns whether each aggregated role has the rules of those with its label, and no other. */
function areAggregated(roles: readonly ApiObject[]): boolean {
  const rulesOf = (one: ApiObject): string[] =>
    listOf(one.rules).map((rule) => JSON.stringify(rule))
  return roles.every((role) => {
    const { name } = role.metadata
    if (!name.startsWith('aggregated-')) return true
    const wanted = roles.filter((one) => labelOf(one) === name.replace('aggregated-', 'a'))
    const rules = new Set(wanted.flatMap(rulesOf))
    const own = new Set(rulesOf(role))
    return own.size === rules.size && [...rules].every((rule) => own.has(rule))
  })
}

/** Returns the namespaces of the bindings that name a user or group, by its name. */
function boundNamespaces(bindings: readonly ApiObject[]): ReadonlyMap<string, readonly string[]> {
  const bound = new Map<string, string[]>()
  for (const { metadata, subjects } of bindings) {
    const { namespace: own = '' } = metadata
    for (const subject of listOf(subjects)) {
      const { kind, name, namespace: other = own } = recordOf(subject)
      const isAccount = kind === 'ServiceAccount'
      const user = isAccount ? `system:serviceaccount:${other}:${name}` : String(name)
      bound.set(user, [...(bound.get(user) ?? []), own])
    }
  }
  return bound
}
