/**
 * The `loop` plugin: finds out at the start whether queries come back to us through our own
 * upstreams, and ends the process if they do.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock, onlyDirective } from '../../corefile/arguments.ts'
import { equalNames, formatName, joinName, nameOf, ROOT } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'

/**
 * Sightings of the probe beyond which it must have come back: the first is our own. There may be no
 * third, because `forward` does not ask again what it is waiting for.
 */
const SIGHTINGS_MAX = 1
const WATCH_MS = 2000

/** Configures `loop`. Watches for two seconds. */
const setup: Setup = (directives, { host, zones, lookup }) => {
  const directive = onlyDirective(directives)
  checkArgs(directive, 0)
  checkNoBlock(directive)
  const zone = zones[0] ?? ROOT
  const words = Array.from({ length: 8 }, host.random16)
  const label = (from: number): string => words.slice(from, from + 4).join('')
  const probe = joinName(nameOf(`${label(0)}.${label(4)}`).subarray(0, -1), zone) ?? zone
  let isWatching = true
  let sightings = 0
  return {
    plugins: [
      {
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
              `Loop detected for zone "${formatName(zone)}": our own query came back from ` +
                `${address}:${port}; let "forward" lead elsewhere than to this server`,
            )
          }
          return next(request)
        },
      },
    ],
  }
}

/** The entry of `loop`. */
export const loopPlugin: PluginEntry = {
  name: 'loop',
  setup,
}
