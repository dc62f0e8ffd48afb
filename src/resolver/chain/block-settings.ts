/**
 * Settings that a directive of a server block sets for all of its plugins.
 * @module
 */
import type { ServerBlock } from '../../corefile/server-block.ts'
import type { BlockSettings, FactsByPlugin } from '../contract/plugin-entry.ts'

/** Reads the settings of a block from its directives, without setting up plugins. */
export function readBlockSettings(
  { directives }: Pick<ServerBlock, 'directives'>,
  plugins: FactsByPlugin,
): BlockSettings {
  const settings = [...plugins.values()].map(({ name, blockSettings }) => {
    const own = blockSettings && directives.filter((directive) => directive.name === name)
    return own === undefined || own.length === 0 ? {} : blockSettings?.(own)
  })
  return Object.assign({}, ...settings)
}

/** Returns a function that resolves relative paths against a folder. */
export function pathsBelow(folder: string | undefined): (path: string) => string {
  return (path) => (folder === undefined || path.startsWith('/') ? path : `${folder}/${path}`)
}
