/**
 * The `secondary` plugin: serves zones transferred from primaries.
 * @module
 */

import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { inSlices } from '../../../dns/bytes/steps.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { fallsThrough } from '../../plugin-kit/zones.ts'
import { notifyPeers, passOn, serveZone, ZoneMap, zoneHooks } from '../file/serve-zone.ts'
import type { ZoneData } from '../file/zone-data.ts'
import { CatalogZones } from './catalog-zones.ts'
import { parseSecondary, type SecondaryRule } from './options.ts'
import type { Primary, SecondaryHost } from './receive-zone.ts'
import { SecondaryZone, Slots } from './secondary-zone.ts'

/** Concurrent refreshes of zones. */
const TRANSFERS_MAX = 16

/**
 * Configures `secondary [ZONE…] { transfer from ADDRESS[:PORT]…  catalog [ZONE…]  fallthrough
 * [ZONE…]  answers coredns|rfc }`. Zones are kept in memory only.
 */
export const secondaryPlugin: PluginEntry<SecondaryHost> = {
  name: 'secondary',
  gateways: {
    at: 'worker',
    is: 'refused',
    because: 'it has no zone transfers; serve a copy of the zone with "file"',
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true },
  setup: (directives, context) => {
    const { rules, fallthrough, answers } = parseSecondary(directives, context.zones)
    const zones = openZones(rules, directives[0], context)
    const plugin: Plugin = {
      name: 'secondary',
      serve: (request, next) => {
        const zone = zones.closest(request.lowerName)
        if (zone === undefined) return passOn(request, next, context.peers(), 'secondary')
        const goesOn = (name: Uint8Array): boolean => fallsThrough(fallthrough, name)
        return serveZone(zone.zone, request, { rules: answers, fallsThrough: goesOn, next })
      },
      ...zoneHooks(zones),
      handleNotify: (query, client) => {
        const name = query.name.subarray(0, query.nameBytes)
        const zone = zones.closest(name)
        if (zone === undefined) return undefined
        const isMeant = zone.origin.length === name.length && zone.hasPrimary(client.address)
        if (isMeant) zone.update()
        return isMeant ? 'taken' : 'ignored'
      },
      start: () => {
        for (const zone of zones.values()) zone.update()
      },
      stop: () => {
        for (const zone of zones.values()) zone.stop()
      },
    }
    return { plugin }
  },
}

function openZones(
  rules: readonly SecondaryRule[],
  directive: Directive,
  { host, peers }: SetupContext<SecondaryHost>,
): ZoneMap<SecondaryZone> {
  const zones = new ZoneMap<SecondaryZone>()
  const slots = new Slots(TRANSFERS_MAX)
  /** Resolves when the last catalog has been applied: one at a time. */
  let taken: Promise<void> = Promise.resolve()
  const members = new CatalogZones(host, zones, (origin, primaries, data) =>
    open(origin, primaries, undefined, data),
  )
  const open = (
    origin: Uint8Array,
    primaries: readonly Primary[],
    allowed: readonly Uint8Array[] | undefined,
    known?: ZoneData,
  ): SecondaryZone => {
    const changed = (data: ZoneData): void => {
      const rule = allowed && { origin, primaries, allowed }
      if (rule !== undefined) taken = taken.then(() => inSlices(members.take(rule, data), host))
      notifyPeers(peers(), origin)
    }
    return new SecondaryZone(host, { origin, primaries, slots, changed }, known)
  }
  try {
    for (const { zones: origins, primaries, members: allowed } of rules) {
      for (const origin of origins) zones.set(origin, open(origin, primaries, allowed))
    }
  } catch (error) {
    throw configError(directive, errorText(error))
  }
  return zones
}
