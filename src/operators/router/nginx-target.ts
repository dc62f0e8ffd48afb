/**
 * A router made of nginx.
 * @module
 */
import { objectKey } from '../../cluster/objects/cluster.ts'
import type { HostObject } from '../../cluster/objects/objects.ts'
import type { RouteTable } from '../../cluster/rules/route-table.ts'
import type { Nginx } from './nginx.ts'
import { formatNginx, type NginxOptions } from './nginx-config.ts'
import { withDistinctNames } from './nginx-names.ts'
import type { Applied, RouteTarget } from './router.ts'

/** Returns a target that writes nginx's configuration. */
export function nginxTarget(
  nginx: Pick<Nginx, 'ready' | 'take' | 'digest' | 'isAttached'>,
  options: NginxOptions,
): RouteTarget {
  let served: ReadonlySet<string> = new Set()
  return {
    ready: (signal) => nginx.ready(signal),
    apply: async (all, signal): Promise<Applied> => {
      const table = withDistinctNames(all)
      const reason = await nginx.take(formatNginx(table.hosts, options), signal)
      if (reason === undefined) {
        served = new Set(table.verdicts.map(({ object }) => versionOf(object)))
        return { verdicts: table.verdicts }
      }
      const isServing = (await nginx.digest()) !== undefined
      // A pod whose nginx has not started must not contradict the other pods.
      if (nginx.isAttached && !isServing) return { verdicts: [], problem: reason, isServing }
      const problem = `the routes before stay in service: ${reason}`
      return { verdicts: refuse(table.verdicts, served, problem), problem, isServing }
    },
  }
}

/** Refuses the objects that changed since nginx took a configuration. */
function refuse(
  verdicts: RouteTable['verdicts'],
  served: ReadonlySet<string>,
  message: string,
): RouteTable['verdicts'] {
  return verdicts.map(({ object, refusal }) => {
    if (refusal !== undefined || served.has(versionOf(object))) return { object, refusal }
    return { object, refusal: { reason: 'ConfigurationRefused', message } }
  })
}

/** Returns what changes with an object's spec, but not with its status. */
function versionOf(object: HostObject): string {
  return `${objectKey(object)} ${object.uid ?? ''} ${object.record?.generation}`
}
