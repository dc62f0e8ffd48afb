/**
 * The `bufsize` plugin: the largest UDP response, for clients that say that they take as much.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock, onlyDirective, parseCount } from '../../corefile/arguments.ts'
import { UDP_BYTES_ADVERTISED, UDP_BYTES_MIN } from '../../dns/limits.ts'
import type { Query } from '../../dns/query.ts'

const UDP_BYTES_MAX = 4096

/** Configures `bufsize [SIZE]`, of 512 to 4096, 1232 when left out. */
const setup: Setup = (directives) => {
  const directive = onlyDirective(directives)
  const [word] = checkArgs(directive, 1)
  checkNoBlock(directive)
  const size = word ? parseCount(word, UDP_BYTES_MIN, UDP_BYTES_MAX) : UDP_BYTES_ADVERTISED
  return {
    plugins: [
      {
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
    ],
  }
}

/** The entry of `bufsize`. */
export const bufsizePlugin: PluginEntry = {
  name: 'bufsize',
  isAtEdge: true,
  setup,
}

/** What the client says that it takes, up to `size`, instead of the bound without `bufsize`. */
function bytesFor({ udpBytes }: Query, size: number): number {
  return Math.min(Math.max(udpBytes, UDP_BYTES_MIN), size)
}
