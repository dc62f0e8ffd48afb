/**
 * The `bufsize` plugin: the largest UDP response to clients that advertise that size or more.
 * @module
 */

import { onlyArgs, parseCount } from '../../../corefile/arguments.ts'
import { UDP_BYTES_ADVERTISED, UDP_BYTES_MIN } from '../../../dns/names/limits.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const UDP_BYTES_MAX = 4096

/** Configures `bufsize [SIZE]`, from 512 to 4096; 1232 by default. */
export const bufsizePlugin: PluginEntry = {
  name: 'bufsize',
  counts: 'first',
  setup: (directives) => {
    const [word] = onlyArgs(directives, 1)
    const size = word ? parseCount(word, UDP_BYTES_MIN, UDP_BYTES_MAX) : UDP_BYTES_ADVERTISED
    return {
      plugin: {
        name: 'bufsize',
        fastPath: {
          prepare: (how, query) => {
            if (how.isUdp) how.bytesMax = bytesFor(query, size)
            how.udpBytes = size
          },
        },
        serve: (request, next) => {
          const { limits, query } = request
          limits.udpBytes = bytesFor(query, size)
          limits.advertisedBytes = size
          return next(request)
        },
      },
    }
  },
}

/** Returns the client's advertised size, at most `size`. */
function bytesFor({ udpBytes }: Query, size: number): number {
  return Math.min(Math.max(udpBytes, UDP_BYTES_MIN), size)
}
