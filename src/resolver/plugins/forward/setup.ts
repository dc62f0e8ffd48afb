/**
 * The `forward` plugin: relays queries to upstreams, the next one when one fails.
 * @module
 */

import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { equalNames, nameOf } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import type { ClientVisibility } from '../../contract/client.ts'
import type { Host } from '../../contract/host.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import { failure } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import type { Setup, SetupContext, SetupResult } from '../../contract/setup.ts'
import { showsErrors } from '../errors/errors.ts'
import { type BlockOptions, Forward, type Relayed } from './forward.ts'
import { type ForwardOptions, parseForward, type ReadText } from './options.ts'
import { adviseOnUpstreams } from './upstream-advice.ts'
import { noticesOfFiles, readListing, UpstreamFiles } from './upstream-files.ts'
import { isHostName, upstreamName } from './upstreams.ts'

/** The upstream of each request, by its trace, which derived requests share. */
type Upstreams = WeakMap<Request['trace'], string>

type Parsed = { readonly directive: Directive; readonly options: ForwardOptions }

/** Configures `forward FROM TO… { … }`, once for each zone. */
const setup: Setup = (directives, context) => {
  const last = directives.at(-1)
  return relaySetup(directives, context, {
    parse: parseForward,
    // `next` passes the query to another `forward`; after the last one, this outcome counts.
    leaves: ({ goesOn }, _, { directive }) => goesOn && directive !== last,
  })
}

/** How the directives of a plugin are read, and which queries they leave to the next plugin. */
export type Relay = {
  readonly parse: (directive: Directive, readText: ReadText, readOwn: ReadText) => ForwardOptions
  readonly leaves: (relayed: Relayed, request: Request, parsed: Parsed) => boolean
}

/**
 * Sets up directives that relay queries.
 * @throws {ConfigError} with the position of the mistake
 */
export function relaySetup(
  directives: readonly Directive[],
  { host, zones, block, peers, pathOf }: SetupContext,
  { parse: parseWith, leaves }: Relay,
): SetupResult {
  const upstreams: Upstreams = new WeakMap()
  const readOwn = (path: string): string | undefined => host.readText(pathOf(path))
  const parse = (directive: Directive): ForwardOptions =>
    parseWith(directive, (path) => readListing(host, path), readOwn)
  const parsed: Parsed[] = directives.map((directive) => ({ directive, options: parse(directive) }))
  const relays = (visibility: ClientVisibility): boolean =>
    visibility.mayRecurse || isOpenTo(visibility, zones)
  const plugins = parsed.map((one): Plugin => {
    const { directive, options } = one
    const beside = { showsErrors: showsErrors(block), observeExchange: observerOf(peers) }
    const forward = openForward(directive, () => new Forward(options, host, beside))
    const files = new UpstreamFiles(options.files, host, () => {
      reread(forward, host, () => parse(directive))
    })
    const { plugin: name } = options
    return {
      name,
      relays,
      start: () => files.start(),
      stop: () => {
        files.stop()
        forward.stop()
      },
      metadata: (label, { trace }) =>
        label === `${name}/upstream` && trace !== undefined ? upstreams.get(trace) : undefined,
      serve: (request, next) => {
        const { visibility } = request.client
        const isAllowed = visibility === undefined || relays(visibility)
        if (!isAllowed || !forward.takes(request)) return next(request)
        return andThen(forward.relay(request), (relayed: Relayed) => {
          const { outcome, upstream } = relayed
          upstreams.set(request.trace, upstream)
          // What looks a name up needs an outcome to go on with.
          if (outcome.kind === 'drop' && request.isLookup === true) return failure(RCODE.SERVFAIL)
          return leaves(relayed, request, one) ? next(request) : outcome
        })
      },
    }
  })
  return { plugins, notices: parsed.flatMap(noticesOf) }
}

/** The entry of `forward`. */
export const forwardPlugin: PluginEntry = {
  name: 'forward',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'its upstreams are https:// only',
  },
  hasListArgs: true,
  options: [
    'except',
    'expire',
    'force_tcp',
    'health_check',
    'max_concurrent',
    'max_fails',
    'policy',
    'prefer_udp',
    'tls_servername',
    'token',
  ],
  answers: {
    zoneArgs: [0, 1],
    takesAll: true,
    leavesSome: ['except', 'next', 'next_on_nodata'],
    isRelay: true,
    checksVisibility: true,
  },
  takesAnyClass: true,
  advise: adviseOnUpstreams,
  setup,
}

function observerOf(peers: () => readonly Plugin[]): BlockOptions['observeExchange'] {
  return (exchange) => {
    for (const { observeUpstream } of peers()) observeUpstream?.(exchange)
  }
}

function openForward(directive: Directive, open: () => Forward): Forward {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw configError(directive, error.message)
  }
}

/** Takes over the upstreams that files list now; keeps the previous ones if they are not valid. */
function reread(forward: Forward, host: Host, parse: () => ForwardOptions): void {
  try {
    const options = parse()
    if (!forward.update(options)) return
    const upstreams = options.upstreams.map(upstreamName).join(', ')
    host.log({ level: 'info', message: 'a file that lists upstreams has changed', upstreams })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const message = 'a file that lists upstreams is not used; the previous ones stay'
    host.log({ level: 'warning', message, reason: error.message })
  }
}

/**
 * Warns of hostnames, which CoreDNS resolves at startup and kubedoh later, and of files without
 * name servers, with which CoreDNS does not start.
 */
function noticesOf({ directive, options }: Parsed): Problem[] {
  const hosts = options.upstreams
    .filter((upstream) => upstream.transport !== 'https' && isHostName(upstream))
    .map(({ address }) => {
      const word = directive.args.find(({ text }) => text.includes(address))
      const message = `"${address}" is neither an address nor a file`
      return problemAt(word ?? directive, `${message}: kubedoh resolves it as a hostname`)
    })
  return [...hosts, ...noticesOfFiles(options.files)]
}

/** Names by which browsers probe a server (Chromium, Firefox). */
const PROBES: readonly Uint8Array[] = ['www.gstatic.com', 'example.com'].map(nameOf)

/**
 * Whether a client that may not recurse may use this block: for zones that it sees, and for probes
 * of browsers.
 */
function isOpenTo(visibility: ClientVisibility, zones: readonly Uint8Array[]): boolean {
  return zones.every((zone) => {
    if (PROBES.some((probe) => equalNames(probe, zone))) return true
    return zone.length > 1 && visibility.seesOrigin(undefined, zone)
  })
}
