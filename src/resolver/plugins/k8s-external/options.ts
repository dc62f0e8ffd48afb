/**
 * The `k8s_external` directive's options (CoreDNS, plugin/k8s_external/setup.go).
 * @module
 */
import {
  firstWord,
  type OptionReaders,
  onlyWord,
  parseCount,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { parseRelativeName, ROOT } from '../../../dns/names/name.ts'
import { parseServerName } from '../../plugin-kit/authority.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'

/** The merged options of a server block's directives. */
export type ExternalOptions = {
  /** Absolute and in lower case; PTR records point to names below the first. */
  readonly zones: readonly Uint8Array[]
  /** The labels between a zone and its name server and mailbox, without the root. */
  readonly apex: Uint8Array
  /** Of watched names; published names have that of the exporter's Corefile. */
  readonly ttlSeconds: number
  /**
   * ID of the cluster whose published names are served; `undefined` for that of the directive
   * `kubernetes`.
   */
  readonly cluster: string | undefined
  /** Whether endpoints stand in for Services without external addresses. */
  readonly hasEndpoints: boolean
  readonly fallthrough: Fallthrough
  readonly notices: Problem[]
}

const APEX_DEFAULT = parseRelativeName('dns') ?? ROOT
const TTL_SECONDS_DEFAULT = 5
const TTL_SECONDS_MAX = 3600

/**
 * Merges the directives of a server block: the last directive's zones win, options accumulate.
 * @param blockZones the server block's zones, used when a directive names none
 * @throws {ConfigError} at the invalid word
 */
export function parseExternal(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
): ExternalOptions {
  const draft: ExternalOptions = {
    zones: blockZones,
    apex: APEX_DEFAULT,
    ttlSeconds: TTL_SECONDS_DEFAULT,
    cluster: undefined,
    hasEndpoints: false,
    fallthrough: undefined,
    notices: [],
  }
  for (const directive of directives) {
    if (directive !== directives.at(-1)) {
      const message = 'the zones of this "k8s_external" have no effect: the last one\'s zones win'
      draft.notices.push(problemAt(directive, message))
    }
    readOptions(directive, READERS, draft)
  }
  const last = directives.at(-1) ?? directives[0]
  return { ...draft, zones: zonesOf(last.args, blockZones) }
}

/** Options that shape the names; for published names, those of the exporter's Corefile count. */
export const K8S_EXTERNAL_SHAPING_OPTIONS: ReadonlySet<string> = new Set(['ttl', 'headless'])

const READERS: OptionReaders<ExternalOptions> = {
  apex: (option, { notices }) => ({ apex: parseServerName(option, 'dns', notices) }),
  ttl: (option, { notices }) => ({
    ttlSeconds: parseCount(firstWord(option, notices), 0, TTL_SECONDS_MAX),
  }),
  headless: () => ({ hasEndpoints: true }),
  cluster: (option) => ({ cluster: onlyWord(option).text }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
}
