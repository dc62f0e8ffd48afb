/**
 * The `file` plugin: zones from zone files.
 * @module
 */

import {
  firstWord,
  type OptionReaders,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { ConfigError, configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { formatName, ROOT } from '../../../dns/names/name.ts'
import type { Host } from '../../contract/host.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { type Fallthrough, fallsThrough } from '../../plugin-kit/zones.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { notifyPeers, passOn, readRules, serveZone, ZoneMap, zoneHooks } from './serve-zone.ts'
import { type ReloadOptions, ZoneKeeper } from './zone-keeper.ts'

const RELOAD_MS_DEFAULT = 60_000

/** Options of all directives of a block: each also applies to later directives. */
type Shared = ReloadOptions & {
  readonly fallthrough: Fallthrough
  readonly rules?: Rules
  readonly notices: Problem[]
}

/**
 * Configures `file FILE [ZONE…] { reload DURATION  reload_by_mtime  fallthrough [ZONE…]  answers
 * coredns|rfc }`. Each reload tries a missing file again; an invalid file is an error.
 */
export const filePlugin: PluginEntry = {
  name: 'file',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'the variable FILES has its file',
  },
  answers: { zoneArgs: [1], takesAll: true },
  setup: (directives, context) => {
    const { host, zones: blockZones, pathOf, peers } = context
    const defaults = { reloadMs: RELOAD_MS_DEFAULT, isByTime: false, fallthrough: undefined }
    const shared: Shared = { ...defaults, notices: [] }
    const keepers = new ZoneMap<ZoneKeeper>()
    const unread = new Map<ZoneKeeper, Word>()
    for (const directive of directives) {
      const [file, ...zoneWords] = directive.args
      if (file === undefined) throw configError(directive, '"file" needs the path of a zone file')
      readOptions(directive, READERS, shared)
      for (const origin of zonesOf(zoneWords, blockZones)) {
        const keeper = new ZoneKeeper(host, { file: pathOf(file.text), origin }, { ...shared })
        keepers.set(origin, keeper)
        unread.set(keeper, file)
      }
    }
    const plugin: Plugin = {
      name: 'file',
      serve: (request, next) => {
        const keeper = keepers.closest(request.lowerName)
        if (keeper === undefined) return passOn(request, next, peers(), 'file')
        const goesOn = (name: Uint8Array): boolean => fallsThrough(shared.fallthrough, name)
        return serveZone(keeper.zone, request, { ...shared, fallsThrough: goesOn, next })
      },
      ...zoneHooks(keepers),
      prepare: async () => {
        const problems: Problem[] = []
        for (const [keeper, word] of unread) problems.push(...(await readFirst(keeper, word, host)))
        if (problems.length > 0) throw new ConfigError(problems)
      },
      start: () => {
        for (const keeper of keepers.values()) {
          const report = (): void => {
            notifyPeers(peers(), keeper.source.origin)
          }
          if (keeper.zone !== undefined) report()
          keeper.start(report)
        }
      },
      stop: () => {
        for (const keeper of keepers.values()) keeper.stop()
      },
    }
    return { plugin, notices: shared.notices }
  },
}

const READERS: OptionReaders<Shared> = {
  reload: (option, { notices }) => ({ reloadMs: parseDuration(firstWord(option, notices)) }),
  reload_by_mtime: () => ({ isByTime: true }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  answers: (option) => ({ rules: readRules(option) }),
  // CoreDNS before 1.5 had this option; later versions ignore it.
  upstream: null,
}

/** Reads a zone for the first time. Returns the mistake in its file, if there is one. */
async function readFirst(keeper: ZoneKeeper, at: Word, host: Host): Promise<Problem[]> {
  const { source } = keeper
  const loaded = await keeper.read()
  if (loaded.kind === 'wrong') {
    const { error, reason } = loaded
    return [problemAt(error ?? at, error?.reason ?? `"${source.file}": ${reason}`)]
  }
  if (loaded.kind !== 'missing') return []
  const { reason } = loaded
  if (!keeper.isReloading) {
    return [problemAt(at, `cannot read zone file "${source.file}": ${reason}`)]
  }
  const facts = { zone: formatName(source.origin), file: source.file, reason }
  host.log({ level: 'warning', message: 'cannot read a zone file yet', ...facts })
  return []
}
