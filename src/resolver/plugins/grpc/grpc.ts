/**
 * The `grpc` plugin: relays queries to upstreams over gRPC (github.com/coredns/coredns,
 * plugin/grpc).
 * @module
 */
import { onlyDirective } from '../../../corefile/arguments.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Setup } from '../../contract/setup.ts'
import { fallsThrough } from '../../plugin-kit/zones.ts'
import { relaySetup } from '../forward/setup.ts'
import { parseGrpc } from './options.ts'

/** Configures `grpc FROM TO… { … }`, once in a server block. */
const setup: Setup = (directives, context) => {
  const isLast = (): boolean => {
    const serving = context.peers().filter(({ serve }) => serve !== undefined)
    return serving.at(-1)?.name === 'grpc'
  }
  return relaySetup([onlyDirective(directives)], context, {
    parse: parseGrpc,
    leaves: ({ outcome, goesOn }, { lowerName }, { options: { fallthrough } }) =>
      (goesOn || outcome.kind === 'failure') && fallsThrough(fallthrough, lowerName) && !isLast(),
  })
}

/** The entry of `grpc`. */
export const grpcPlugin: PluginEntry = {
  name: 'grpc',
  gateways: {
    at: 'worker',
    is: 'refused',
    because: 'it opens no connection of gRPC; use "forward" with https:// upstreams',
  },
  hasListArgs: true,
  options: ['except', 'policy', 'tls_servername'],
  answers: {
    zoneArgs: [0, 1],
    takesAll: true,
    leavesSome: ['except'],
    isRelay: true,
    checksVisibility: true,
  },
  takesAnyClass: true,
  setup,
}
