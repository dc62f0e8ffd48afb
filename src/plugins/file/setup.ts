/**
 * The `file` plugin: zones from zone files.
 * @module
 */

import type { Host } from '../../chain/host.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import {
  argTexts,
  type Option,
  options,
  parseDuration,
  unknownOption,
  zonesOf,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { formatName, ROOT } from '../../dns/name.ts'
import { type Fallthrough, fallsThrough } from '../../plugin-kit/zones.ts'
import { passOn, serveZone } from './serve-zone.ts'
import { tellPeers, ZoneMap, zoneHooks } from './zone-hooks.ts'
import { type ReloadOptions, ZoneKeeper } from './zone-keeper.ts'

const RELOAD_MS_DEFAULT = 60_000

/** Options of all directives of a block: each also applies to later directives. */
type Shared = { reloadMs: number; isByTime: boolean; fallthrough: Fallthrough }

/**
 * Configures `file FILE [ZONE…] { reload DURATION  reload_by_mtime  fallthrough [ZONE…] }`. Each
 * reload tries a missing file again; an invalid file is an error.
 */
const setup: Setup = (directives, context) => {
  const { host, zones: blockZones, pathOf, peers } = context
  const shared: Shared = { reloadMs: RELOAD_MS_DEFAULT, isByTime: false, fallthrough: undefined }
  const keepers = new ZoneMap<ZoneKeeper>()
  for (const directive of directives) {
    const { args, options: reload } = readDirective(directive, shared)
    const [file, ...zoneWords] = args
    for (const origin of zonesOf(zoneWords, blockZones)) {
      const keeper = new ZoneKeeper(host, { file: pathOf(file.text), origin }, reload)
      readFirst(keeper, file, host)
      keepers.set(origin, keeper)
    }
  }
  const plugin: Plugin = {
    name: 'file',
    serve: (request, next) => {
      const keeper = keepers.closest(request.lowerName)
      if (keeper === undefined) return passOn(request, next, peers(), 'file')
      const goesOn = (name: Uint8Array): boolean => fallsThrough(shared.fallthrough, name)
      return serveZone(keeper.zone, request, { fallsThrough: goesOn, next })
    },
    ...zoneHooks(keepers),
    start: () => {
      for (const keeper of keepers.values()) {
        const report = (): void => {
          tellPeers(peers(), keeper.source.origin)
        }
        if (keeper.zone !== undefined) report()
        keeper.start(report)
      }
    },
    stop: () => {
      for (const keeper of keepers.values()) keeper.stop()
    },
  }
  return { plugins: [plugin] }
}

/** The entry of `file`. */
export const filePlugin: PluginEntry = {
  name: 'file',
  answers: { zoneArgs: [1], takesAll: true },
  setup,
}

function readDirective(
  directive: Directive,
  shared: Shared,
): { readonly args: readonly [Word, ...Word[]]; readonly options: ReloadOptions } {
  const [file, ...zones] = directive.args
  if (file === undefined) throw configError(directive, '"file" needs the path of a zone file')
  for (const option of options(directive)) readOption(option, shared)
  const { reloadMs, isByTime } = shared
  return { args: [file, ...zones], options: { reloadMs, isByTime } }
}

function readOption(option: Option, shared: Shared): void {
  const [word] = option.args
  switch (option.name) {
    case 'reload':
      argTexts(option, 1, Infinity)
      if (word !== undefined) shared.reloadMs = parseDuration(word)
      return
    case 'reload_by_mtime':
      shared.isByTime = true
      return
    case 'fallthrough':
      shared.fallthrough = zonesOf(option.args, [ROOT])
      return
    case 'upstream':
      // An option of CoreDNS before 1.5, which still accepts and ignores it.
      return
    default:
      throw unknownOption('file', option, ['reload', 'reload_by_mtime', 'fallthrough'])
  }
}

/** @throws {ConfigError} at the mistake in the zone file */
function readFirst(keeper: ZoneKeeper, at: Word, host: Host): void {
  const { source } = keeper
  const loaded = keeper.read()
  if (loaded.kind === 'wrong') {
    const { error, reason } = loaded
    throw configError(error ?? at, error?.reason ?? `"${source.file}": ${reason}`)
  }
  if (loaded.kind !== 'missing') return
  if (!keeper.isReloading) throw configError(at, `cannot read zone file "${source.file}"`)
  const facts = { zone: formatName(source.origin), file: source.file }
  host.log({ level: 'warning', message: 'a zone file does not exist yet', ...facts })
}
