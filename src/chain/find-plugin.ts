/**
 * Finds the plugin that a directive names.
 * @module
 */

import { nearest } from '../corefile/arguments.ts'
import { type ConfigError, configError } from '../corefile/problem.ts'
import type { Directive } from '../corefile/server-block.ts'
import { leftOutBecause } from './left-out.ts'
import type { FactsByPlugin, PluginEntry, PluginRegistry } from './plugin-entry.ts'

/** @throws {ConfigError} with an alternative, if this host does not have the plugin */
export function findPlugin(
  { plugins, knownPlugins }: PluginRegistry,
  directive: Directive,
): PluginEntry {
  const { name } = directive
  const entry = plugins.get(name)
  if (entry !== undefined) return entry
  const known = knownPlugins?.get(name)
  if (known?.isServeOnly === true) {
    const message = `plugin "${name}" is at no gateway, as its names are not published`
    throw configError(directive, `${message}; "kubedoh serve" has it`)
  }
  if (known !== undefined) {
    const message = `plugin "${name}" is not in the Worker`
    throw configError(directive, `${message}; "kubedoh serve" and "kubedoh gateway" have it`)
  }
  throw unknownPlugin(directive, plugins, knownPlugins !== undefined)
}

/** Directives that CoreDNS no longer has, and what to write instead. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['reverse', 'write "template" in its place'],
  ['httpproxy', 'write "forward" in its place'],
  ['upstream', 'leave it out: kubedoh always resolves names through the whole server'],
])

/** Plugins of other builds of CoreDNS, and our plugin for the same purpose. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['alias', 'template'],
  ['alternate', 'forward'],
  ['fanout', 'forward'],
  ['nodecache', 'cache'],
  ['recursor', 'forward'],
  ['redis', 'etcd'],
  ['unbound', 'forward'],
])

/**
 * Returns the error for a directive.
 * @param plugins of this host
 * @param isAll whether other hosts have no other plugins
 */
export function unknownPlugin(
  directive: Directive,
  plugins: FactsByPlugin,
  isAll: boolean,
): ConfigError {
  return configError(directive, describe(directive.name, plugins, isAll))
}

function describe(name: string, plugins: FactsByPlugin, isAll: boolean): string {
  const removed = REMOVED.get(name)
  if (removed !== undefined) return `"${name}" is gone from CoreDNS; ${removed}`
  const leftOut = leftOutBecause(name)
  if (leftOut !== undefined) return leftOut
  const same = FOREIGN.get(name)
  if (same !== undefined) {
    return `"${name}" is not a plugin of CoreDNS itself; consider "${same}"`
  }
  const owners = [...plugins.values()].filter(({ options }) => options?.includes(name) === true)
  if (owners.length > 0) {
    const owner = owners.map((plugin) => plugin.name).join('" or "')
    return `"${name}" is an option of "${owner}", not a plugin; is a brace misplaced?`
  }
  const near = nearest(name, [...plugins.keys()])
  if (near !== undefined) return `there is no plugin "${name}"; did you mean "${near}"?`
  if (isAll) return `there is no plugin "${name}"; it is none of CoreDNS either`
  return `plugin "${name}" is not in the Worker; "kubedoh check" reports where it works`
}
