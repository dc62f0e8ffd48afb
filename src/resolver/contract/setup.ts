/**
 * The setup of a plugin: from its directives in a server block to handlers and features.
 * @module
 */

import type { Problem } from '../../corefile/problem.ts'
import type { Directive, ServerBlock } from '../../corefile/server-block.ts'
import type { Steps } from '../../dns/bytes/steps.ts'
import type { Feature } from './feature.ts'
import type { Host } from './host.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Outcome } from './outcome.ts'
import type { Plugin } from './plugin.ts'
import type { ServerAddress } from './server-address.ts'

/** The server block in which a plugin is set up, and its runtime. */
export type SetupContext<H extends Host = Host> = {
  readonly host: H
  readonly block: ServerBlock
  /** The block's zones, absolute and in lower case. */
  readonly zones: readonly Uint8Array[]
  /** The first of the block's addresses as CoreDNS's metrics spell it: `dns://:53`. */
  readonly server: string
  /** All of the block's addresses: several if `bind` lists them. */
  readonly servers: readonly ServerAddress[]
  /** Resolves a relative path against the folder of the block's `root`. */
  readonly pathOf: (path: string) => string
  /** TSIG secrets by `nameKey`: a map for each port of the block, shared by all blocks there. */
  readonly secrets: readonly Map<string, Uint8Array>[]
  /** The name of the block's `view`, '' without one: a label of CoreDNS's metrics. */
  readonly view: string
  /** Resolves a name through the whole server for the server itself; only after its start. */
  readonly lookup: (name: Uint8Array, type: number) => MaybePromise<Outcome>
  /** All plugins of the block in the order in which they act; empty until the block is compiled. */
  readonly peers: () => readonly Plugin[]
}

/** The result of a plugin's setup. */
export type SetupResult = {
  readonly plugin?: Plugin
  /** For directives that each act for themselves. */
  readonly plugins?: readonly Plugin[]
  readonly features?: readonly Feature[]
  /** Warnings for the operator. */
  readonly notices?: readonly Problem[]
}

/**
 * Sets up a plugin from all of its directives in a server block, at least one. Takes steps where a
 * directive may have 100,000 words.
 * @throws {ConfigError} with the position of each mistake
 */
export type Setup<H extends Host = Host> = (
  directives: readonly [Directive, ...Directive[]],
  context: SetupContext<H>,
) => SetupResult | Steps<SetupResult>
