/**
 * The `grpc_server` plugin: limits of `grpc://` server blocks (github.com/coredns/coredns,
 * plugin/grpc_server/setup.go).
 * @module
 */
import {
  checkArgs,
  type OptionReaders,
  onlyDirective,
  readOptions,
} from '../../../corefile/arguments.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { readLimit } from '../https/https.ts'

type Limits = { httpConnectionsMax?: number; streamsMax?: number }

const READERS: OptionReaders<Limits> = {
  max_connections: (option, { httpConnectionsMax }) => ({
    httpConnectionsMax: readLimit(option, httpConnectionsMax),
  }),
  max_streams: (option, { streamsMax }) => ({ streamsMax: readLimit(option, streamsMax) }),
}

/** Configures `grpc_server { max_streams COUNT; max_connections COUNT }`; 0 means no limit. */
export const grpcServerPlugin: PluginEntry = {
  name: 'grpc_server',
  counts: 'first',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'the bounds of its own listener hold',
  },
  isApart: true,
  setup: (directives) => {
    const directive = onlyDirective(directives)
    checkArgs(directive, 0)
    return { features: [{ kind: 'grpc', limits: readOptions<Limits>(directive, READERS, {}) }] }
  },
}
