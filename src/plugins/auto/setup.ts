/**
 * The `auto` plugin: zones from all zone files in a folder.
 * @module
 */

import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { problemAt } from '../../corefile/problem.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import { passOn, serveZone } from '../file/serve-zone.ts'
import { tellPeers, zoneHooks } from '../file/zone-hooks.ts'
import { parseAuto } from './options.ts'
import { ZoneFolder } from './zone-folder.ts'

/**
 * Configures `auto [ZONE…] { directory FOLDER [PATTERN TEMPLATE]  reload DURATION }`. The folder
 * need not exist yet.
 */
const setup: Setup = (directives, { host, zones, pathOf, peers }) => {
  const options = parseAuto(directives, zones)
  const notices =
    options.folder === ''
      ? [problemAt(directives[0], '"auto" without "directory" has no zones')]
      : []
  const folder = new ZoneFolder(host, { ...options, folder: pathOf(options.folder) })
  if (options.folder !== '') folder.look()
  const { keepers } = folder
  const notify = (zone: Uint8Array): void => {
    tellPeers(peers(), zone)
  }
  const plugin: Plugin = {
    name: 'auto',
    serve: (request, next) => {
      const { lowerName } = request
      if (closestZone(options.zones, lowerName) === undefined) return next(request)
      const keeper = keepers.closest(lowerName)
      if (keeper === undefined) return passOn(request, next, peers(), 'auto')
      return serveZone(keeper.zone, request, { fallsThrough: () => false, next })
    },
    ...zoneHooks(keepers),
    start: () => {
      if (options.folder === '') return
      for (const { source } of keepers.values()) notify(source.origin)
      folder.start(notify)
    },
    stop: () => {
      folder.stop()
    },
  }
  return { plugins: [plugin], notices }
}

/** The entry of `auto`. */
export const autoPlugin: PluginEntry = {
  name: 'auto',
  answers: { zoneArgs: [0], takesAll: false },
  setup,
}
