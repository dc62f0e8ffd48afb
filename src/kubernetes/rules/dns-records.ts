/**
 * Which DNSRecords may have their names.
 * @module
 */
import type { Host, HostObject, Refusal } from '../objects/objects.ts'
import type { HostsTree } from '../objects/options.ts'
import { isWithin } from './host-names.ts'

/** Returns why an object alone has no name; `undefined` for other kinds and for valid records. */
export function recordRefusal(
  { kind, namespace, hosts, record }: HostObject,
  { recordZones }: Pick<HostsTree, 'recordZones'>,
): Refusal | undefined {
  if (kind !== 'DNSRecord') return undefined
  if (record?.refusal !== undefined) return record.refusal
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

function pointsToItself({ name, targets }: Host): boolean {
  return targets.some((target) => target.toLowerCase().replace(/\.$/, '') === name)
}
