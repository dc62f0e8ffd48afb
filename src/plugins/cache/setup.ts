/**
 * The `cache` plugin: caches responses of the plugins after it.
 *
 * It does not store responses from a snapshot: another look-up costs less, and a change in the
 * cluster is visible at once. It bounds their TTLs as those of all responses.
 * @module
 */

import type { FastPathPart } from '../../chain/fast-path-part.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { formatName } from '../../dns/name.ts'
import { closestZone, closestZoneIndex } from '../../plugin-kit/zones.ts'
import { showsErrors } from '../errors/errors.ts'
import { Cache } from './cache.ts'
import { cacheMetrics } from './metrics.ts'
import { parseCache } from './options.ts'

/** Configures `cache [TTL] [ZONE…] { … }`. */
const setup: Setup = (directives, { host, zones, server, view, block }) => {
  const options = parseCache(directives, zones)
  const labels = { server, zones: options.zones.map((one) => formatName(one)).join(',') }
  const metrics = cacheMetrics(host.metrics, { ...labels, view })
  const cache = new Cache({ options, host, metrics, showsErrors: showsErrors(block) })
  return {
    plugins: [
      {
        name: 'cache',
        fastPath: fastPathPart(cache, options.zones),
        serve: (request, next) =>
          closestZone(options.zones, request.lowerName) === undefined
            ? next(request)
            : cache.serve(request, next),
      },
    ],
  }
}

/** The entry of `cache`. */
export const cachePlugin: PluginEntry = {
  name: 'cache',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'each isolate has its own, and asks the upstream before it serves what is stale',
  },
  hasListArgs: true,
  options: ['denial', 'disable', 'prefetch', 'serve_stale', 'success'],
  setup,
}

/** Most caches are for the root zone: they take every query without a check of its name. */
function fastPathPart(cache: Cache, zones: readonly Uint8Array[]): FastPathPart {
  if (zones.some((zone) => zone.length === 1)) {
    return { configure: (how) => cache.prepare(how), answered: () => cache.pass() }
  }
  return {
    prepare: (how, query) => {
      if (closestZoneIndex(zones, query) >= 0) cache.prepare(how)
    },
    answered: (query) => {
      if (closestZoneIndex(zones, query) >= 0) cache.pass()
    },
  }
}
