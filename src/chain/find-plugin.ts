/**
 * Finds the plugin that a directive names.
 * @module
 */
import { configError } from '../corefile/problem.ts'
import type { Directive } from '../corefile/server-block.ts'
import type { PluginEntry, PluginRegistry } from './plugin-entry.ts'
import { unknownPlugin } from './unknown-plugin.ts'

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
