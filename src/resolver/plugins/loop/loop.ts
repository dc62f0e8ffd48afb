/**
 * The `loop` plugin: detects at startup whether our upstreams send our queries back to us, and ends
 * the process if they do.
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { equalNames, formatName, joinName, nameOf, ROOT } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/**
 * Sightings of the probe without a loop: our own query. A loop adds only one, because `forward`
 * does not repeat a query that awaits its response.
 */
const SIGHTINGS_MAX = 1
const WATCH_MS = 2000

/** Configures `loop`, which watches for two seconds. */
export const loopPlugin: PluginEntry = {
  name: 'loop',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'its clients use HTTPS, so no forwarded query of plain DNS comes back',
  },
  setup: (directives, { host, zones, lookup }) => {
    onlyArgs(directives, 0)
    const zone = zones[0] ?? ROOT
    const words = Array.from({ length: 8 }, host.random16)
    const label = (from: number): string => words.slice(from, from + 4).join('')
    const probe = joinName(nameOf(`${label(0)}.${label(4)}`).subarray(0, -1), zone) ?? zone
    let isWatching = true
    let sightings = 0
    return {
      plugin: {
        name: 'loop',
        fastPath: { needsSlowPath: (query) => query.type === TYPE.HINFO },
        start: () => {
          host.after(WATCH_MS, () => {
            isWatching = false
          })
          void lookup(probe, TYPE.HINFO)
        },
        serve: (request, next) => {
          const isProbe =
            isWatching && request.type === TYPE.HINFO && equalNames(request.name, probe)
          if (isProbe && ++sightings > SIGHTINGS_MAX) {
            const { address, port } = request.client
            host.abort(
              `Loop detected for zone "${formatName(zone)}": the server got its own query from ` +
                `${address}:${port}; point "forward" to another server`,
            )
          }
          return next(request)
        },
      },
    }
  },
}
