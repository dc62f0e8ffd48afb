/**
 * A server block, compiled: its plugins in the order in which they act.
 * @module
 */
import { ConfigError, type Problem } from '../corefile/problem.ts'
import type { Directive, ServerBlock } from '../corefile/server-block.ts'
import { RCODE } from '../dns/rcode.ts'
import { pathsBelow } from '../plugins/root/root.ts'
import { hasOwnNames } from './answering-parts.ts'
import { configurePlugin, type DirectiveGroup, PROBLEMS_MAX } from './configure-plugin.ts'
import { compileFastPath, type FastPath } from './fast-path.ts'
import type { Feature } from './feature.ts'
import type { Host } from './host.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { failure, type Outcome } from './outcome.ts'
import type { Plugin } from './plugin.ts'
import { findSetup, type PluginSet } from './registry.ts'
import type { Next } from './request.ts'
import type { SetupContext } from './setup.ts'

/** A compiled server block. */
export type Chain = {
  readonly plugins: readonly Plugin[]
  readonly features: readonly Feature[]
  /** What works, but may surprise. */
  readonly notices: readonly Problem[]
  /** Sends a request through all plugins. */
  readonly serve: Next
  /** The way for queries that need no request; `undefined` when there is none. */
  readonly fastPath: FastPath | undefined
  /** Plugins that look at answered queries. */
  readonly observers: readonly NonNullable<Plugin['observe']>[]
  /** Whether a query is for this block; `undefined` when all of its zones are. */
  readonly admits: Plugin['admits']
  /** Whether queries of classes other than IN may come in: some plugins can do with them. */
  readonly takesAnyClass: boolean
}

/** Plugins that open a server to all classes (CoreDNS, core/dnsserver/server.go). */
const ANY_CLASS: ReadonlySet<string> = new Set(['chaos', 'forward'])

/**
 * Compiles a server block.
 * @throws {ConfigError} with all that is wrong in it
 */
export function compileChain(
  block: ServerBlock,
  context: {
    readonly host: Host
    readonly servers: SetupContext['servers']
    readonly lookup: SetupContext['lookup']
    readonly secrets: SetupContext['secrets']
  },
): Chain {
  const zones = block.keys.map(({ zone }) => zone)
  const problems: Problem[] = []
  const plugins: Plugin[] = []
  const peers = (): readonly Plugin[] => plugins
  const pathOf = pathsBelow(block.directives)
  const view = block.directives.find(({ name }) => name === 'view')?.args[0]?.text ?? ''
  const features: Feature[] = []
  const notices: Problem[] = []
  const { plugins: known } = context.host
  for (const directives of groupByPlugin(known, block.directives, problems)) {
    try {
      const server = context.servers[0]?.name ?? ''
      const at = { ...context, server, block, zones, pathOf, view, peers }
      const configured = configurePlugin(directives, at)
      plugins.push(...(configured.plugins ?? []))
      features.push(...(configured.features ?? []))
      notices.push(...(configured.notices ?? []))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    plugins,
    features,
    notices,
    serve: link(plugins, block),
    fastPath: compileFastPath(plugins),
    observers: plugins.flatMap(({ observe }) => observe ?? []),
    admits: plugins.find(({ admits }) => admits !== undefined)?.admits,
    takesAnyClass: plugins.some(({ name }) => ANY_CLASS.has(name)),
  }
}

/** Directives of one plugin together, plugins in the order in which they act. */
function groupByPlugin(
  known: PluginSet,
  directives: readonly Directive[],
  problems: Problem[],
): DirectiveGroup[] {
  const groups = new Map<string, DirectiveGroup>()
  for (const directive of directives) {
    if (problems.length >= PROBLEMS_MAX) break
    try {
      findSetup(known, directive)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
      continue
    }
    const group = groups.get(directive.name)
    if (group === undefined) groups.set(directive.name, [directive])
    else group.push(directive)
  }
  return [...known.keys()].flatMap((name) => {
    const group = groups.get(name)
    return group === undefined ? [] : [group]
  })
}

/** Plugins that are no part of CoreDNS's chains: a block of these alone refuses every query. */
const APART: ReadonlySet<string> = new Set(
  (
    'root proxyproto quic grpc_server https https3 timeouts multisocket reload bind debug ready ' +
    'health pprof tls on'
  ).split(' '),
)

/** Behind the last plugin there is nobody to ask. */
function link(plugins: readonly Plugin[], { directives }: ServerBlock): Next {
  const isRefused = directives.every(({ name }) => APART.has(name))
  const rcode = isRefused ? RCODE.REFUSED : RCODE.SERVFAIL
  let next: Next = () => failure(rcode, 'no plugin of the server block has an answer')
  for (const { name, serve } of plugins.toReversed()) {
    if (serve === undefined) continue
    const rest = next
    const isOwn = hasOwnNames(name)
    next = (request) => {
      const { trace, query, client } = request
      // For names outside its origins a client may have other servers asked, at most.
      if (isOwn && client.visibility?.seesName(query) === false) return rest(request)
      trace.plugin = name
      return trace.spans === undefined
        ? serve(request, rest)
        : inSpan(trace.spans.begin(name), () => serve(request, rest))
    }
  }
  return next
}

/** Ends a span when the plugin does, now or later, well or badly. */
function inSpan(end: () => void, serve: () => MaybePromise<Outcome>): MaybePromise<Outcome> {
  let isLater = false
  try {
    const outcome = serve()
    isLater = outcome instanceof Promise
    return outcome instanceof Promise ? outcome.finally(end) : outcome
  } finally {
    if (!isLater) end()
  }
}
