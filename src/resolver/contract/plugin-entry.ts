/**
 * The registry entry of a plugin: its setup, and all that the chain and `kubedoh check` know about
 * it by name.
 * @module
 */
import type { Problem } from '../../corefile/problem.ts'
import type { Directive, ServerBlock } from '../../corefile/server-block.ts'
import type { Host } from './host.ts'
import type { DefaultPorts } from './server-address.ts'
import type { Setup } from './setup.ts'

/** Which queries a plugin answers, as far as its directive shows. */
export type AnswerClaim = {
  /** The arguments that name its zones, from index to index; absent for the block's zones. */
  readonly zoneArgs?: readonly [start: number, end?: number]
  /** Whether it answers every query for its zones, unless it has `fallthrough`. */
  readonly takesAll: boolean
  /** Options with which it leaves some queries to later plugins all the same. */
  readonly leavesSome?: readonly string[]
  /** Whether it forwards queries for all names to other servers. */
  readonly isRelay?: boolean
  /** Whether it checks itself what a client may see; the chain does so for other plugins. */
  readonly checksVisibility?: boolean
}

/** Settings of a server block for all of its plugins. */
export type BlockSettings = {
  /** Folder of relative paths. */
  readonly folder?: string
  /** Name of the block's view. */
  readonly view?: string
  /** Addresses and interfaces to listen on; absent for all. */
  readonly addresses?: readonly string[]
}

/** The environment of a directive, for `PluginFacts.advise`. */
export type DirectiveSurroundings = {
  readonly block: ServerBlock
  /** Addresses that the block listens on; none for all. */
  readonly addresses: readonly string[]
  readonly ports: DefaultPorts
  /** Whether a query that comes back to the server may take another path. */
  readonly mayDiverge: boolean
  /** The next directive in the chain that answers some of the same names. */
  readonly next: Directive | undefined
  /** Reads a file that the Corefile names; `undefined` if it is missing. */
  readonly readText: (path: string) => string | undefined
}

/** How a plugin differs at gateways from `kubedoh serve`. */
export type GatewayDifference = {
  /** Where: at every gateway, or only in Workers. */
  readonly at: 'gateway' | 'worker'
  /**
   * `refused`: its directives are errors. `ignored`: they have no effect, and no response depends
   * on them. `noted`: they work, with a warning if they have arguments. `other`: they work in
   * another way.
   */
  readonly is: 'refused' | 'ignored' | 'noted' | 'other'
  /** The reason, and what to do instead: the rest of a sentence about the plugin. */
  readonly because: string
  /** Options without an effect there, for the same reason. */
  readonly idleOptions?: ReadonlySet<string>
}

/** Facts about a plugin that need no setup. */
export type PluginFacts = {
  readonly name: string
  /** Absent for plugins that are the same everywhere. */
  readonly gateways?: GatewayDifference
  /** Options that users write as directives when a brace is misplaced. */
  readonly options?: readonly string[]
  /** Whether the arguments are a list: one mistake does not keep the others from being checked. */
  readonly hasListArgs?: boolean
  /**
   * Which of several directives of a block counts in CoreDNS, which ignores the others; absent if
   * the setup gets them all.
   */
  readonly counts?: 'first' | 'last'
  /** Whether a block with it takes queries of all classes (CoreDNS, core/dnsserver/server.go). */
  readonly takesAnyClass?: boolean
  /** Whether it is not in CoreDNS's chain: a block of such plugins refuses every query. */
  readonly isApart?: boolean
  /** Whether the server gives a reason (RFC 8914) when it refuses a query for no server block. */
  readonly explainsRefusals?: boolean
  /** Whether it changes queries. */
  readonly rewrites?: boolean
  /** Whether it keeps some queries from its server block. */
  readonly admitsSome?: boolean
  /** Absent for plugins that do not answer by themselves. */
  readonly answers?: AnswerClaim
  /** Whether it may answer some queries of any name. */
  readonly mayAnswer?: boolean
  /** Whether a directive may have clients get responses that depend on their addresses. */
  readonly variesByClient?: (directive: Directive) => boolean
  /** Reads what the plugin's directives say about the other plugins of the block. */
  readonly blockSettings?: (directives: readonly Directive[]) => BlockSettings
  /** Warns of a directive that is valid, but unlikely to be intended. */
  readonly advise?: (directive: Directive, around: DirectiveSurroundings) => Problem[]
}

/** A plugin for hosts of type `H`. */
export type PluginEntry<H extends Host = Host> = PluginFacts & { readonly setup: Setup<H> }

/** Plugins by name, in the order in which they act. */
export type PluginSet<H extends Host = Host> = ReadonlyMap<string, PluginEntry<H>>

/** As a `PluginSet`, without the setups. */
export type FactsByPlugin = ReadonlyMap<string, PluginFacts>

/** The plugins of a runtime. */
export type PluginRegistry = { readonly plugins: PluginSet }

/** A host with its plugins. */
export type PluginHost = Host & PluginRegistry

/** Indexes plugins by name; they act in the order of the list. */
export function pluginSet<H extends Host = Host>(entries: readonly PluginEntry<H>[]): PluginSet<H> {
  return new Map(entries.map((entry) => [entry.name, entry]))
}

/** Binds plugins to their host's members beyond those of `Host`. */
export function bindPlugins<Extra extends object>(
  plugins: PluginSet<Host & Extra>,
  extra: Extra,
): PluginSet {
  return pluginSet(
    [...plugins.values()].map(({ setup, ...facts }) => ({
      ...facts,
      setup: (directives, context) =>
        setup(directives, { ...context, host: { ...context.host, ...extra } }),
    })),
  )
}
