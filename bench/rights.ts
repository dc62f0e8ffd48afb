/**
 * What rights by RBAC cost: the table of a large cluster, and its computation after a change.
 * @module
 */
import { hash } from 'node:crypto'
import { RbacObjects } from '../src/cluster/follow/rbac-objects.ts'
import { serviceReaders } from '../src/cluster/rules/service-readers.ts'
import { finish } from '../src/dns/bytes/steps.ts'
import { RIGHTS_BYTES_MAX, writeRights } from '../src/snapshot/format/rights-table.ts'
import { median, type Row, row } from './row.ts'

const SUBJECTS = 10_000
const NAMESPACES = 1000
/** Each subject is in 1 to this many namespaces. */
const EACH_MAX = 4
/** Subjects of a binding. */
const BOUND = 5
const RUNS = 21
const KIB = 1024

/** Measures. */
export function benchRights(): Row[] {
  const objects = cluster()
  const compute = (): Uint8Array => {
    const rights = finish(serviceReaders(objects.effectiveBindings()))
    return finish(writeRights(rights, (text) => hash('sha256', text, 'buffer')))
  }
  const times = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage()
    compute()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  const name = `${SUBJECTS} users and groups, ${NAMESPACES} namespaces`
  const goal = { atMost: RIGHTS_BYTES_MAX / KIB }
  return [
    row('rights', `the table, ${name}`, 'KiB', compute().length / KIB, goal),
    row('rights', `CPU time to compute it, ${name}`, 'ms', median(times)),
  ]
}

/** Binds each user and group to a ClusterRole in the namespaces that its number gives. */
function cluster(): RbacObjects {
  const objects = new RbacObjects((message) => {
    throw new Error(message)
  })
  const rules = [{ apiGroups: [''], resources: ['*'], verbs: ['get'] }]
  void objects.intake('ClusterRole').take({ metadata: { name: 'view' }, rules })
  const members: object[][] = Array.from({ length: NAMESPACES }, () => [])
  for (let i = 0; i < SUBJECTS; i++) {
    const kind = i % 10 === 0 ? 'Group' : 'User'
    for (let k = 0; k <= i % EACH_MAX; k++) {
      const at = (i * 7919 + k * 104_729) % NAMESPACES
      members[at]?.push({ kind, name: `oidc:user-${i}@example.org` })
    }
  }
  const bindings = objects.intake('RoleBinding')
  members.forEach((subjects, at) => {
    for (let first = 0; first < subjects.length; first += BOUND) {
      void bindings.take({
        metadata: { namespace: `team-${at}`, name: `readers-${first}` },
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: subjects.slice(first, first + BOUND),
      })
    }
  })
  return objects
}
