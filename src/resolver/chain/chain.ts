/**
 * A compiled server block: its plugins in the order in which they act.
 * @module
 */

import { ConfigError, type Problem } from '../../corefile/problem.ts'
import type { Directive, ServerBlock } from '../../corefile/server-block.ts'
import type { Steps } from '../../dns/bytes/steps.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import type { Feature } from '../contract/feature.ts'
import type { MaybePromise } from '../contract/maybe-promise.ts'
import { failure, type Outcome } from '../contract/outcome.ts'
import type { Plugin } from '../contract/plugin.ts'
import type {
  PluginEntry,
  PluginFacts,
  PluginHost,
  PluginRegistry,
} from '../contract/plugin-entry.ts'
import type { Next } from '../contract/request.ts'
import type { SetupContext } from '../contract/setup.ts'
import { pathsBelow, readBlockSettings } from './block-settings.ts'
import { configurePlugin, type DirectiveGroup, PROBLEMS_MAX } from './configure-plugin.ts'
import { compileFastPath, type FastPath } from './fast-path.ts'
import { findPlugin } from './find-plugin.ts'

/** A compiled server block. */
export type Chain = {
  readonly plugins: readonly Plugin[]
  readonly features: readonly Feature[]
  /** Warnings for the operator. */
  readonly notices: readonly Problem[]
  /** Sends a request through all plugins. */
  readonly serve: Next
  /** Answers queries without a request; `undefined` if a plugin of the block needs requests. */
  readonly fastPath: FastPath | undefined
  /** Plugins that observe answered queries. */
  readonly observers: readonly NonNullable<Plugin['observe']>[]
  /** Whether a query is for this block; `undefined` if the block takes all queries of its zones. */
  readonly admits: Plugin['admits']
  /** Whether the block takes queries of classes other than IN. */
  readonly takesAnyClass: boolean
  /** Whether the server gives a reason when it refuses a query for no server block. */
  readonly explainsRefusals: boolean
}

/** A plugin and its registered facts. */
type Link = { readonly plugin: Plugin; readonly facts: PluginFacts }

/** All directives of a plugin in a block. */
type Group = {
  readonly entry: PluginEntry
  readonly directives: DirectiveGroup
}

/**
 * Compiles a server block, in steps.
 * @throws {ConfigError} with every mistake in it
 */
export function* compileChain(
  block: ServerBlock,
  context: Pick<SetupContext, 'servers' | 'lookup' | 'secrets'> & {
    readonly host: PluginHost
  },
): Steps<Chain> {
  const { host, servers } = context
  const problems: Problem[] = []
  const links: Link[] = []
  const plugins: Plugin[] = []
  const features: Feature[] = []
  const notices: Problem[] = []
  const settings = readBlockSettings(block, host.plugins)
  const at: SetupContext = {
    ...context,
    server: servers[0]?.name ?? '',
    block,
    zones: block.keys.map(({ zone }) => zone),
    pathOf: pathsBelow(settings.folder),
    view: settings.view ?? '',
    peers: () => plugins,
  }
  const groups = groupByPlugin(host, block.directives, problems)
  for (const { entry, directives } of groups) {
    try {
      const result = yield* configurePlugin(entry, directives, at)
      for (const plugin of [result.plugin ?? [], result.plugins ?? []].flat()) {
        plugins.push(plugin)
        links.push({ plugin, facts: entry })
      }
      features.push(...(result.features ?? []))
      notices.push(...(result.notices ?? []))
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
    serve: link(
      links,
      groups.every(({ entry }) => entry.isApart === true),
    ),
    fastPath: compileFastPath(plugins),
    observers: plugins.flatMap(({ observe }) => observe ?? []),
    admits: plugins.find(({ admits }) => admits !== undefined)?.admits,
    takesAnyClass: links.some(({ facts }) => facts.takesAnyClass === true),
    explainsRefusals: links.some(({ facts }) => facts.explainsRefusals === true),
  }
}

/** Collects the directives of each plugin, in the order in which the plugins act. */
function groupByPlugin(
  host: PluginRegistry,
  directives: readonly Directive[],
  problems: Problem[],
): Group[] {
  const groups = new Map<string, Group>()
  for (const directive of directives) {
    if (problems.length >= PROBLEMS_MAX) break
    try {
      const entry = findPlugin(host, directive)
      const group = groups.get(entry.name)
      if (group === undefined) groups.set(entry.name, { entry, directives: [directive] })
      else group.directives.push(directive)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  return [...host.plugins.keys()].flatMap((name) => groups.get(name) ?? [])
}

/** The reason of a failure at the end of a chain. */
export const NO_PLUGIN = 'no plugin of the server block has an answer'

/** Links plugins to a chain, which ends in REFUSED or SERVFAIL. */
function link(links: readonly Link[], isRefused: boolean): Next {
  const rcode = isRefused ? RCODE.REFUSED : RCODE.SERVFAIL
  let next: Next = () => failure(rcode, NO_PLUGIN)
  for (const { plugin, facts } of links.toReversed()) {
    const { name, serve } = plugin
    if (serve === undefined) continue
    const rest = next
    const { answers } = facts
    const hasOwnNames = answers !== undefined && answers.checksVisibility !== true
    next = (request) => {
      const { trace, query, client } = request
      // For names outside its origins, a client may use forwarding plugins only.
      if (hasOwnNames && client.visibility?.seesName(query) === false) return rest(request)
      trace.plugin = name
      return trace.spans === undefined
        ? serve(request, rest)
        : inSpan(trace.spans.begin(plugin, request), () => serve(request, rest))
    }
  }
  return next
}

/** Ends a span when the plugin returns, resolves or fails. */
function inSpan(
  end: (outcome?: Outcome) => void,
  serve: () => MaybePromise<Outcome>,
): MaybePromise<Outcome> {
  const ended = (outcome: Outcome): Outcome => {
    end(outcome)
    return outcome
  }
  try {
    const outcome = serve()
    if (!(outcome instanceof Promise)) return ended(outcome)
    return outcome.then(ended, (error: unknown) => {
      end()
      throw error
    })
  } catch (error) {
    end()
    throw error
  }
}
