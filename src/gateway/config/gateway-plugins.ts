/**
 * The plugins of a gateway: those of its host, each as its entry says that it is at gateways.
 * @module
 */

import { options } from '../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive, ServerBlock } from '../../corefile/server-block.ts'
import {
  type GatewayDifference,
  type PluginEntry,
  type PluginFacts,
  type PluginSet,
  pluginSet,
} from '../../resolver/contract/plugin-entry.ts'
import type { Setup } from '../../resolver/contract/setup.ts'

/** A gateway on Node, Bun or Deno, or one in a Worker. */
export type GatewayKind = GatewayDifference['at']

const PLACES: Readonly<Record<GatewayKind, string>> = {
  gateway: 'at a gateway',
  worker: 'in a Worker',
}

/** Returns how a plugin differs at a gateway from `kubedoh serve`; `undefined` for the same. */
export function differenceAt(
  { gateways }: PluginFacts,
  kind: GatewayKind,
): GatewayDifference | undefined {
  return gateways?.at === 'gateway' || gateways?.at === kind ? gateways : undefined
}

/** Returns the plugins with the setups that they have at a gateway. */
export function gatewayPlugins(plugins: PluginSet, kind: GatewayKind): PluginSet {
  return pluginSet(
    [...plugins.values()].map((entry) => ({ ...entry, setup: setupAt(entry, kind) })),
  )
}

function setupAt(entry: PluginEntry, kind: GatewayKind): Setup {
  const difference = differenceAt(entry, kind)
  if (difference?.is === 'ignored') return () => ({})
  if (difference?.is !== 'refused') return entry.setup
  return ([directive]) => {
    throw configError(directive, messageFor(directive.name, difference))
  }
}

/** Returns whether some responses depend on the addresses of clients. */
export function variesByClient(blocks: readonly ServerBlock[], plugins: PluginSet): boolean {
  return blocks.some(({ directives }) =>
    directives.some((one) => plugins.get(one.name)?.variesByClient?.(one) === true),
  )
}

/** Warns of each directive and option that a gateway ignores, or takes in another way. */
export function gatewayNotices(
  blocks: readonly ServerBlock[],
  plugins: PluginSet,
  kind: GatewayKind,
): Problem[] {
  return blocks.flatMap(({ directives }) =>
    directives.flatMap((directive) => {
      const entry = plugins.get(directive.name)
      const difference = entry && differenceAt(entry, kind)
      return difference === undefined ? [] : noticesFor(directive, difference)
    }),
  )
}

function noticesFor(directive: Directive, difference: GatewayDifference): Problem[] {
  const { is, idleOptions } = difference
  const isNoted = is === 'noted' && directive.args.length > 0
  if (is === 'ignored' || isNoted) {
    return [problemAt(directive, messageFor(directive.name, difference))]
  }
  if (idleOptions === undefined) return []
  return options(directive)
    .filter(({ name }) => idleOptions.has(name))
    .map((option) => problemAt(option, messageFor(option.name, { ...difference, is: 'ignored' })))
}

/** Returns the sentence about a directive or option. */
function messageFor(name: string, { at, is, because }: GatewayDifference): string {
  const verbs = { refused: ' does not work', ignored: ' has no effect', noted: '', other: '' }
  return `"${name}"${verbs[is]} ${PLACES[at]}: ${because}`
}
