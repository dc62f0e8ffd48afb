/**
 * Finds the plugin that a directive names.
 * @module
 */
import { nearest } from '../../corefile/arguments.ts'
import { type ConfigError, configError } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'
import type { FactsByPlugin, PluginEntry, PluginRegistry } from '../contract/plugin-entry.ts'
import { leftOutBecause } from './left-out.ts'

/** @throws {ConfigError} with an alternative, if there is no such plugin */
export function findPlugin({ plugins }: PluginRegistry, directive: Directive): PluginEntry {
  const entry = plugins.get(directive.name)
  if (entry === undefined) throw unknownPlugin(directive, plugins)
  return entry
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

/** Returns the error for a directive that names no plugin. */
function unknownPlugin(directive: Directive, plugins: FactsByPlugin): ConfigError {
  return configError(directive, describe(directive.name, plugins))
}

function describe(name: string, plugins: FactsByPlugin): string {
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
  return `there is no plugin "${name}"; CoreDNS has none of this name either`
}
