/**
 * The `grpc` directive's options: some of those of `forward`, and `fallthrough`
 * (github.com/coredns/coredns, plugin/grpc/setup.go).
 * @module
 */
import { type OptionReaders, options, readOptions, zonesOf } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { ROOT } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { GRPC_PATH } from '../../../dns/wire/grpc-message.ts'
import type { Upstream } from '../../contract/host.ts'
import {
  type Draft,
  draftOf,
  FORWARD_OPTIONS,
  type ForwardOptions,
  type ReadText,
} from '../forward/options.ts'
import { upstreamName } from '../forward/upstreams.ts'

/** Time for a query over all upstreams together (plugin/grpc/grpc.go, `defaultTimeout`). */
const TOTAL_MS = 5000
/** Time of one upstream, at least; CoreDNS gives the first one all of the time. */
const ATTEMPT_MS = 2000

/** The options of `forward` that `grpc` has, too. */
const SHARED: ReadonlySet<string> = new Set(['except', 'policy', 'tls', 'tls_servername'])

const READERS: OptionReaders<Draft> = {
  ...Object.fromEntries(Object.entries(FORWARD_OPTIONS).filter(([name]) => SHARED.has(name))),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
}

/**
 * Reads `grpc FROM TO… { … }`. Each upstream gets a query once, as in CoreDNS.
 * @param readText reads files that list name servers
 * @param readOwn reads certificate files, relative to the folder of the block's `root`
 * @throws {ConfigError} with the position of the mistake
 */
export function parseGrpc(
  directive: Directive,
  readText: ReadText,
  readOwn: ReadText = readText,
): ForwardOptions {
  for (const word of directive.args.slice(1)) {
    if (!/^[a-z0-9]+:\/\//.test(word.text)) continue
    const wanted = 'an upstream of "grpc" is ADDRESS[:PORT] or a file; "tls" encrypts'
    throw configError(word, `"${word.text}": ${wanted}`)
  }
  const isEncrypted = options(directive).some(({ name }) => name.startsWith('tls'))
  const draft = draftOf(directive, 'grpc', { readText, readOwn })
  readOptions(directive, READERS, draft)
  const { serverName, token: _, readOwn: __, ...relay } = draft
  const upstreams = relay.upstreams.map((one): Upstream => {
    const url = urlOf(one, isEncrypted ? 'https' : 'http')
    return { ...one, transport: 'grpc', url, ...(serverName !== undefined && { serverName }) }
  })
  const attemptsMax = upstreams.length
  const readTimeoutMs = Math.max(ATTEMPT_MS, TOTAL_MS / Math.max(attemptsMax, 1))
  return { ...relay, upstreams, attemptsMax, readTimeoutMs, next: [RCODE.NXDOMAIN] }
}

/** Returns the URL of an upstream, without the zone index of its address (RFC 6874 §4). */
function urlOf({ address, port }: Upstream, scheme: 'http' | 'https'): string {
  return `${scheme}://${upstreamName({ address: address.replace(/%.*$/, ''), port })}${GRPC_PATH}`
}
