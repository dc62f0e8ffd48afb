/**
 * The `bufsize` plugin: the largest UDP message that a client is held to take.
 * @module
 */
import { checkArgs, checkNoBlock, onlyDirective, parseCount } from '../corefile/arguments.ts'
import { UDP_BYTES_ADVERTISED, UDP_BYTES_MIN } from '../dns/limits.ts'
import type { Setup } from './plugin.ts'

const UDP_BYTES_MAX = 4096

/** Configures `bufsize [SIZE]`, of 512 to 4096, 1232 when left out. */
export const setupBufsize: Setup = (directives) => {
  const directive = onlyDirective(directives)
  const [word] = checkArgs(directive, 1)
  checkNoBlock(directive)
  const size = word ? parseCount(word, UDP_BYTES_MIN, UDP_BYTES_MAX) : UDP_BYTES_ADVERTISED
  return {
    plugins: [
      {
        name: 'bufsize',
        quick: {
          prepare: (how) => {
            if (how.isUdp) how.bytesMax = Math.min(how.bytesMax, size)
            how.udpBytes = size
          },
        },
        serve: (request, next) => {
          const { limits } = request
          limits.udpBytes = Math.min(limits.udpBytes, size)
          limits.advertisedBytes = size
          return next(request)
        },
      },
    ],
  }
}
