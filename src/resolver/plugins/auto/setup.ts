/**
 * The `auto` plugin: zones from all zone files in a folder.
 * @module
 */

import {
  argTexts,
  firstWord,
  type OptionReaders,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { createPause } from '../../../dns/bytes/steps.ts'
import { formatName, nameKey, parseName, ROOT } from '../../../dns/names/name.ts'
import { compilePattern, type Match, type Pattern } from '../../../go/pattern/pattern.ts'
import type { Host } from '../../contract/host.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import type { ZoneSource } from '../file/load-zone.ts'
import {
  notifyPeers,
  passOn,
  readRules,
  serveZone,
  ZoneMap,
  zoneHooks,
} from '../file/serve-zone.ts'
import { ZoneKeeper } from '../file/zone-keeper.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { parsePattern } from '../rewrite/name-match.ts'

/**
 * Configures `auto [ZONE…] { directory FOLDER [PATTERN TEMPLATE]  reload DURATION }`. The folder
 * need not exist yet.
 */
export const autoPlugin: PluginEntry = {
  name: 'auto',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'the variable FILES has its folder',
  },
  answers: { zoneArgs: [0], takesAll: false },
  setup: (directives, { host, zones, pathOf, peers }) => {
    const options = parseAuto(directives, zones)
    const { notices } = options
    if (options.folder === '') {
      notices.push(problemAt(directives[0], '"auto" without "directory" has no zones'))
    }
    const folder = new ZoneFolder(host, { ...options, folder: pathOf(options.folder) })
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
        return serveZone(keeper.zone, request, {
          rules: options.rules,
          fallsThrough: () => false,
          next,
        })
      },
      ...zoneHooks(keepers),
      prepare: async () => {
        if (options.folder !== '') await folder.look()
      },
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
  private isStopped = false
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
  async look(): Promise<Uint8Array[]> {
    const files = await this.zoneFiles()
    const pause = createPause(this.host)
    const changed: Uint8Array[] = []
    for (const { origin, file } of files.values()) {
      const known = this.keepers.get(origin)
      known?.moveTo(file)
      const isChanged = await (known === undefined ? this.add(origin, file) : known.look())
      if (isChanged) changed.push(origin)
      await pause()
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
    if (reloadMs === 0 || this.isStopped) return
    this.cancel = this.host.after(reloadMs, () => {
      void this.look().then((zones) => {
        if (this.isStopped) return
        for (const zone of zones) changed(zone)
        this.start(changed)
      })
    })
  }

  stop(): void {
    this.isStopped = true
    this.cancel()
  }

  private async zoneFiles(): Promise<Map<string, ZoneSource>> {
    const { folder, origin: rule } = this.options
    const files = new Map<string, ZoneSource>()
    for (const file of (await this.host.listFiles(folder)) ?? []) {
      const origin = originOfFile(rule, file.slice(file.lastIndexOf('/') + 1))
      if (origin === undefined) continue
      const key = nameKey(origin)
      const first = files.get(key)
      if (first === undefined) files.set(key, { origin, file })
      else this.report('debug', `a zone has another file, "${first.file}"`, { origin, file })
    }
    return files
  }

  private async add(origin: Uint8Array, file: string): Promise<boolean> {
    const { reloadMs } = this.options
    const source = { origin, file }
    const keeper = new ZoneKeeper(this.host, source, { reloadMs, isByTime: false })
    const loaded = await keeper.read()
    if (loaded.kind === 'zone') {
      this.keepers.set(origin, keeper)
      return true
    }
    const reason = loaded.kind === 'unchanged' ? '' : loaded.reason
    this.report('warning', `ignored a zone file: ${reason}`, source)
    return false
  }

  private report(
    level: 'debug' | 'info' | 'warning',
    message: string,
    { origin, file }: ZoneSource,
  ): void {
    this.host.log({ level, message, zone: formatName(origin), file })
  }
}

/** The options of all `auto` directives of a block; a later directive overrides an earlier one. */
type AutoOptions = {
  /** Names outside of these zones go to the next plugin. */
  zones: readonly Uint8Array[]
  /** The path in the Corefile; '' without one. */
  folder: string
  origin: OriginRule
  /** Time between checks of the folder and its files; 0 for no checks. */
  reloadMs: number
  /** The rules of negative responses. */
  rules: Rules
  readonly notices: Problem[]
}

const RELOAD_MS_DEFAULT = 60_000

/** Reads all `auto [ZONE…] { directory FOLDER [PATTERN TEMPLATE]  reload DURATION }`. */
export function parseAuto(
  directives: readonly Directive[],
  blockZones: readonly Uint8Array[],
): AutoOptions {
  const found: AutoOptions = {
    zones: blockZones,
    folder: '',
    origin: { pattern: compilePattern('db\\.(.*)'), template: '{1}' },
    reloadMs: RELOAD_MS_DEFAULT,
    rules: 'coredns',
    notices: [],
  }
  for (const directive of directives) {
    found.zones = zonesOf(directive.args, blockZones)
    readOptions(directive, READERS, found)
  }
  return found
}

const READERS: OptionReaders<AutoOptions> = {
  directory: (option, { origin }) => {
    const [folder = '', pattern] = argTexts(option, 1, 3)
    const [, word, template] = option.args
    if (word === undefined) return { folder, origin }
    if (template === undefined) {
      throw configError(word, `"${pattern}" needs a template after it, such as {1}`)
    }
    return { folder, origin: { pattern: readPattern(word), template: template.text } }
  },
  reload: (option, { notices }) => ({ reloadMs: parseDuration(firstWord(option, notices)) }),
  answers: (option) => ({ rules: readRules(option) }),
  // CoreDNS before 1.5 had this option; later versions ignore it.
  upstream: null,
}

function readPattern(word: Word): Pattern {
  const pattern = parsePattern(word)
  if (pattern.groupNames.length > 1) return pattern
  throw configError(word, `"${word.text}" needs a group in parentheses, which yields the zone`)
}

type OriginRule = { readonly pattern: Pattern; readonly template: string }

/**
 * Returns the zone of a file by its name, in lower case; `undefined` if the name does not match or
 * yields no valid domain name. An empty result is the root, as in CoreDNS.
 */
export function originOfFile(
  { pattern, template }: OriginRule,
  file: string,
): Uint8Array | undefined {
  const match = pattern.exec(file)
  if (match === undefined) return undefined
  const text = expand(template, match, pattern.groupNames).toLowerCase()
  return text === '' ? ROOT : parseName(text)
}

/** Expands a template; unknown groups, and groups without a match, are empty. */
function expand(template: string, { groups }: Match, names: readonly string[]): string {
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const index = /^\d+$/.test(name) ? Number(name) : names.indexOf(name)
    return groups[index] ?? ''
  })
}
