/**
 * Which DNSRecords and HostRoutes may have their names.
 * @module
 */
import { objectKey } from '../objects/cluster.ts'
import type { HostName, HostObject, HostRefusal } from '../objects/objects.ts'
import type { SelectedHosts } from '../objects/options.ts'
import { isWithin } from './host-names.ts'

/** Returns why an object alone has no name; `undefined` for other kinds and for valid objects. */
export function recordRefusal(
  { namespace, hosts, record }: HostObject,
  { recordZones }: Pick<SelectedHosts, 'recordZones'>,
): HostRefusal | undefined {
  if (record === undefined) return undefined
  if (record.refusal !== undefined) return record.refusal
  const allowed = recordZones
    .filter((one) => one.namespace === namespace || one.namespace === '*')
    .flatMap(({ zones }) => zones)
  for (const host of hosts) {
    if (!allowed.some((zone) => isWithin(host.name, zone))) {
      const zones = allowed.length === 0 ? 'none' : allowed.join(' ')
      const message = `${host.name} is outside the zones of namespace ${namespace}: ${zones}`
      return { reason: 'OutsideAllowedZones', message }
    }
    if (pointsToItself(host)) {
      return { reason: 'InvalidValue', message: `${host.name} points to itself` }
    }
  }
  return undefined
}

/** Returns why HostRoutes have no name while their router has no address. */
export function routerRefusal({ router }: Pick<SelectedHosts, 'router'>): HostRefusal {
  const named = router.kind === 'addresses' ? 'in the Corefile' : objectKey(router)
  return { reason: 'RouterHasNoAddress', message: `the router ${named} has no address` }
}

function pointsToItself({ name, targets }: HostName): boolean {
  return targets.some((target) => target.toLowerCase().replace(/\.$/, '') === name)
}
