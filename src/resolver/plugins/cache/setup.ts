/**
 * The `cache` plugin: caches responses of the plugins after it.
 *
 * It does not store responses from a snapshot: another look-up costs less, and a change in the
 * cluster is visible at once. It bounds their TTLs as those of all responses.
 * @module
 */

import { configError } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { formatName } from '../../../dns/names/name.ts'
import type { FastPathPart } from '../../contract/fast-path-part.ts'
import type { Host } from '../../contract/host.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Setup, SetupContext } from '../../contract/setup.ts'
import { closestZone, closestZoneIndex } from '../../plugin-kit/zones.ts'
import { showsErrors } from '../errors/errors.ts'
import { Cache } from './cache.ts'
import { cacheMemoryOf } from './cache-memory.ts'
import { cacheMetrics } from './metrics.ts'
import { parseCache } from './options.ts'
import { type CacheHost, Persistence } from './persistence.ts'

/** Where a word is does not matter to the entries of a cache. */
const POSITION: ReadonlySet<string> = new Set(['file', 'line', 'column'])

/** Configures `cache [TTL] [ZONE…] { … }`. */
const setup: Setup<Host & CacheHost> = (directives, context) => {
  const { host, zones, server, view, block } = context
  const options = parseCache(directives, zones)
  const labels = { server, zones: options.zones.map((one) => formatName(one)).join(',') }
  const metrics = cacheMetrics(host.metrics, { ...labels, view })
  const memory = cacheMemoryOf(host.metrics, host.memoryLimitBytes)
  const cache = new Cache({ options, host, metrics, memory, showsErrors: showsErrors(block) })
  const persistence = openPersistence(options.file, cache, context)
  return {
    plugins: [
      {
        name: 'cache',
        ...(persistence && { start: () => persistence.start() }),
        stop: async () => {
          await persistence?.stop()
          cache.close()
        },
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
export const cachePlugin: PluginEntry<Host & CacheHost> = {
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

/** Opens the file. Entries of a block with another configuration could be wrong. */
function openPersistence(
  file: Word | undefined,
  cache: Cache,
  { host, pathOf, server, zones, view, block }: SetupContext<Host & CacheHost>,
): Persistence | undefined {
  if (file === undefined) return undefined
  if (host.openCacheFile === undefined || host.readBytes === undefined) {
    throw configError(file, '"persist" needs files, which this runtime does not have')
  }
  const names = zones.map((zone) => formatName(zone))
  const directives = block.directives.map(({ name, args, lines }) => [name, args, lines])
  const identity = JSON.stringify([server, names, view, directives], (key, value: unknown) =>
    POSITION.has(key) ? undefined : value,
  )
  const path = file.text
  return new Persistence({ cache, file: host.openCacheFile(pathOf(path), identity), path, host })
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
