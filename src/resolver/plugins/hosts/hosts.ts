/**
 * The `hosts` plugin: answers with addresses from a hosts file and from lines in the Corefile.
 * @module
 */

import {
  flag,
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  options,
  parseCount,
  parseDuration,
  readOption,
  unknownOption,
  zonesOf,
} from '../../../corefile/arguments.ts'
import {
  type ConfigError,
  configError,
  type Problem,
  problemAt,
} from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { ROOT } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import {
  closestZone,
  closestZoneIndex,
  type Fallthrough,
  fallsThrough,
} from '../../plugin-kit/zones.ts'
import { HostsFile } from './hosts-file.ts'
import { HostsTable } from './hosts-table.ts'

const TTL_SECONDS_DEFAULT = 3600
const TTL_SECONDS_MAX = 65535
const RELOAD_MS_DEFAULT = 5000

type HostsConfig = {
  readonly path: string
  /** Whether the Corefile names it. */
  readonly isNamed: boolean
  readonly zones: readonly Uint8Array[]
  readonly lines: string[]
  readonly ttlSeconds: number
  readonly hasReverse: boolean
  readonly reloadMs: number
  readonly fallthrough: Fallthrough
  /** Whether queries for types other than A, AAAA and PTR fall through as well. */
  readonly passesOtherTypes: boolean
}

const READERS: OptionReaders<HostsConfig> = {
  ttl: (option) => ({ ttlSeconds: parseCount(onlyWord(option), 1, TTL_SECONDS_MAX) }),
  no_reverse: (option) => ({ hasReverse: !flag(option) }),
  reload: (option) => ({ reloadMs: parseDuration(onlyWord(option)) }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  fallthrough_unsupported: (option) => ({ passesOtherTypes: flag(option) }),
}

/**
 * Configures `hosts [FILE [ZONE…]] { LINE… ttl SECONDS no_reverse reload DURATION fallthrough
 * [ZONE…] fallthrough_unsupported }` (default file `/etc/hosts`).
 */
export const hostsPlugin: PluginEntry = {
  name: 'hosts',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'the variable FILES has its file',
  },
  options: ['fallthrough'],
  answers: { zoneArgs: [1], takesAll: true },
  advise: adviseOnLines,
  setup: (directives, { host, zones, pathOf }) => {
    const { path, ...rest } = parseConfig(onlyDirective(directives), zones)
    const config = { ...rest, path: pathOf(path) }
    const inline = new HostsTable(config)
    for (const line of config.lines) inline.add(line)
    const file = new HostsFile(host, config, inline.entryCount)
    return {
      plugin: {
        name: 'hosts',
        fastPath: {
          needsSlowPath: (query) => {
            const hasName = inline.has(query) || file.table.has(query)
            return concerns(query, config, hasName)
          },
        },
        prepare: () => file.read(),
        start: () => file.start(),
        stop: () => file.stop(),
        serve: (request, next) => serve(request, next, { config, tables: [file.table, inline] }),
      },
    }
  },
}

/** Warns that `hosts` skips lines without an address (hosts(5)). */
function adviseOnLines({ lines }: Directive): Problem[] {
  return lines.flatMap(({ words: [first] }) => {
    if (first === undefined || Object.hasOwn(READERS, first.text)) return []
    if (parseAddress(first.text.replace(/%.*/, '')) !== undefined) return []
    const message = `"${first.text}" is neither an address nor an option: "hosts" skips this line`
    return [problemAt(first, message)]
  })
}

function parseConfig(directive: Directive, blockZones: readonly Uint8Array[]): HostsConfig {
  const [file, ...zoneWords] = directive.args
  const config: HostsConfig = {
    path: file?.text ?? '/etc/hosts',
    isNamed: file !== undefined,
    zones: zonesOf(zoneWords, blockZones),
    lines: [],
    ttlSeconds: TTL_SECONDS_DEFAULT,
    hasReverse: true,
    reloadMs: RELOAD_MS_DEFAULT,
    fallthrough: undefined,
    passesOtherTypes: false,
  }
  const given = options(directive)
  for (const option of given) readLine(option, config)
  const unsupported = given.find(({ name }) => name === 'fallthrough_unsupported')
  if (unsupported !== undefined && config.fallthrough === undefined) {
    throw configError(unsupported, '"fallthrough_unsupported" needs "fallthrough"')
  }
  return config
}

/** Reads an option or hosts line; as in CoreDNS, no such line may follow `fallthrough`. */
function readLine(option: Option, config: HostsConfig): void {
  if (readOption(option, READERS, config)) return
  if (config.fallthrough !== undefined) throw lateLine(option)
  config.lines.push([option.name, ...option.args.map(({ text }) => text)].join(' '))
}

function lateLine(option: Option): ConfigError {
  if (parseAddress(option.name.replace(/%.*/, '')) === undefined) {
    return unknownOption('hosts', option, Object.keys(READERS))
  }
  const message = `"${option.name}" comes after "fallthrough"; move hosts lines before it`
  return configError(option, message)
}

/** Whether the plugin passes queries of a type that hosts files do not have. */
function passes({ passesOtherTypes }: HostsConfig, type: number): boolean {
  return passesOtherTypes && type !== TYPE.A && type !== TYPE.AAAA && type !== TYPE.PTR
}

/** Whether the plugin may answer or end a query. */
function concerns(query: Query, config: HostsConfig, hasName: boolean): boolean {
  const { zones, fallthrough } = config
  const mayFallThrough = fallthrough !== undefined && closestZoneIndex(fallthrough, query) >= 0
  if (hasName) return !mayFallThrough || !passes(config, query.type)
  return !mayFallThrough && query.type !== TYPE.PTR && closestZoneIndex(zones, query) >= 0
}

type Hosts = { readonly config: HostsConfig; readonly tables: readonly HostsTable[] }

function serve(request: Request, next: Next, hosts: Hosts): MaybePromise<Outcome> {
  const { config, tables } = hosts
  const { lowerName: name, type } = request
  if (closestZone(config.zones, name) === undefined && type !== TYPE.PTR) return next(request)
  if (type === TYPE.PTR) {
    const targets = tables.flatMap((table) => table.namesOf(name))
    return targets.length === 0 ? next(request) : reply(name, type, targets, config.ttlSeconds)
  }
  if (passes(config, type) && fallsThrough(config.fallthrough, name)) return next(request)
  const addresses = findAddresses(tables, name)
  if (addresses.length === 0) {
    // Without an SOA record there is no negative response; SERVFAIL lets the client try elsewhere.
    return fallsThrough(config.fallthrough, name) ? next(request) : failure(RCODE.SERVFAIL)
  }
  const wanted = type === TYPE.A ? 4 : type === TYPE.AAAA ? 16 : 0
  const matching = addresses.filter(({ length }) => length === wanted)
  return reply(name, type, matching, config.ttlSeconds)
}

/** Returns a name's own addresses, or else those of a wildcard in place of its first label. */
function findAddresses(tables: readonly HostsTable[], name: Uint8Array): readonly Uint8Array[] {
  const own = tables.flatMap((table) => table.addressesOf(name))
  if (own.length > 0 || byteAt(name, 0) === 0) return own
  return tables.flatMap((table) => table.wildcardAddressesOf(name))
}

function reply(
  owner: Uint8Array,
  type: number,
  rdatas: readonly Uint8Array[],
  ttlSeconds: number,
): Outcome {
  const answer = rdatas.map(
    (rdata): ResourceRecord => ({ owner, type, class: CLASS.IN, ttlSeconds, rdata }),
  )
  return { ...EMPTY_REPLY, authoritative: true, answer }
}
