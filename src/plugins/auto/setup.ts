/**
 * The `auto` plugin: zones from all zone files in a folder.
 * @module
 */

import type { Host } from '../../chain/host.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import { problemAt } from '../../corefile/problem.ts'
import { formatName, nameKey } from '../../dns/name.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import { passOn, serveZone } from '../file/serve-zone.ts'
import { notifyPeers, ZoneMap, zoneHooks } from '../file/zone-hooks.ts'
import { ZoneKeeper } from '../file/zone-keeper.ts'
import { type AutoOptions, originOfFile, parseAuto } from './options.ts'

/**
 * Configures `auto [ZONE…] { directory FOLDER [PATTERN TEMPLATE]  reload DURATION }`. The folder
 * need not exist yet.
 */
export const autoPlugin: PluginEntry = {
  name: 'auto',
  answers: { zoneArgs: [0], takesAll: false },
  setup: (directives, { host, zones, pathOf, peers }) => {
    const options = parseAuto(directives, zones)
    const { notices } = options
    if (options.folder === '') {
      notices.push(problemAt(directives[0], '"auto" without "directory" has no zones'))
    }
    const folder = new ZoneFolder(host, { ...options, folder: pathOf(options.folder) })
    if (options.folder !== '') folder.look()
    const { keepers } = folder
    const notify = (zone: Uint8Array): void => {
      notifyPeers(peers(), zone)
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
    return { plugin, notices }
  },
}

/** A folder's zones. */
export class ZoneFolder {
  readonly keepers: ZoneMap<ZoneKeeper> = new ZoneMap<ZoneKeeper>()
  private readonly host: Host
  private readonly options: AutoOptions
  private cancel: () => void = () => undefined

  constructor(host: Host, options: AutoOptions) {
    this.host = host
    this.options = options
  }

  /**
   * Reads new and changed files. If two files are for one zone, the first one counts. Logs invalid
   * files.
   * @returns new and changed zones
   */
  look(): Uint8Array[] {
    const files = this.zoneFiles()
    const changed: Uint8Array[] = []
    for (const { origin, file } of files.values()) {
      const known = this.keepers.get(origin)
      known?.moveTo(file)
      const isChanged = known === undefined ? this.add(origin, file) : known.look()
      if (isChanged) changed.push(origin)
    }
    for (const { source } of [...this.keepers.values()]) {
      if (files.has(nameKey(source.origin))) continue
      this.keepers.delete(source.origin)
      this.report('info', 'removed a zone: its file is gone', source)
    }
    return changed
  }

  /** Starts to check the folder regularly. @param changed called for each new or changed zone */
  start(changed: (zone: Uint8Array) => void): void {
    const { reloadMs } = this.options
    if (reloadMs === 0) return
    this.cancel = this.host.after(reloadMs, () => {
      for (const zone of this.look()) changed(zone)
      this.start(changed)
    })
  }

  /** Ends the checks. */
  stop(): void {
    this.cancel()
  }

  private zoneFiles(): Map<string, { readonly origin: Uint8Array; readonly file: string }> {
    const { folder, origin: rule } = this.options
    const files = new Map<string, { origin: Uint8Array; file: string }>()
    for (const file of this.host.listFiles(folder) ?? []) {
      const origin = originOfFile(rule, file.slice(file.lastIndexOf('/') + 1))
      if (origin === undefined) continue
      const key = nameKey(origin)
      const first = files.get(key)
      if (first === undefined) files.set(key, { origin, file })
      else this.report('debug', `a zone has another file, "${first.file}"`, { origin, file })
    }
    return files
  }

  private add(origin: Uint8Array, file: string): boolean {
    const { reloadMs } = this.options
    const source = { origin, file }
    const keeper = new ZoneKeeper(this.host, source, { reloadMs, isByTime: false })
    const loaded = keeper.read()
    if (loaded.kind === 'zone') {
      this.keepers.set(origin, keeper)
      return true
    }
    const reason = loaded.kind === 'wrong' ? loaded.reason : 'it cannot be read'
    this.report('warning', `ignored a zone file: ${reason}`, source)
    return false
  }

  private report(
    level: 'debug' | 'info' | 'warning',
    message: string,
    { origin, file }: { readonly origin: Uint8Array; readonly file: string },
  ): void {
    this.host.log({ level, message, zone: formatName(origin), file })
  }
}
