/**
 * The `k8s_external` directive's options (github.com/coredns/coredns,
 * plugin/k8s_external/setup.go).
 * @module
 */
import { firstWord, options, parseCount, unknownOption, zonesOf } from '../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'
import { parseRelativeName, ROOT } from '../../dns/name.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'

/** The merged options of a server block's directives. */
export type ExternalOptions = {
  /** Absolute and in lower case; PTR records point to names below the first. */
  readonly zones: readonly Uint8Array[]
  /** The labels between a zone and its name server and mailbox, without the root. */
  readonly apex: Uint8Array
  readonly ttlSeconds: number
  /** Whether endpoints stand in for Services without external addresses. */
  readonly hasEndpoints: boolean
  readonly fallthrough: Fallthrough
  readonly notices: readonly Problem[]
}

const OPTIONS = ['apex', 'ttl', 'headless', 'fallthrough']
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
  const notices: Problem[] = []
  let zones = blockZones
  let apex = APEX_DEFAULT
  let ttlSeconds = TTL_SECONDS_DEFAULT
  let hasEndpoints = false
  let fallthrough: Fallthrough
  for (const directive of directives) {
    if (directive !== directives.at(-1)) {
      const message = 'the zones of this "k8s_external" have no effect: the last one\'s zones win'
      notices.push(problemAt(directive, message))
    }
    zones = zonesOf(directive.args, blockZones)
    for (const option of options(directive)) {
      switch (option.name) {
        case 'apex': {
          const word = firstWord(option, notices)
          const labels = parseRelativeName(word.text.toLowerCase().replace(/\.$/, ''))
          if (labels === undefined || labels.length === 0) {
            throw configError(word, `"${word.text}" is not a name such as "dns"`)
          }
          apex = labels
          break
        }
        case 'ttl':
          ttlSeconds = parseCount(firstWord(option, notices), 0, TTL_SECONDS_MAX)
          break
        case 'headless':
          hasEndpoints = true
          break
        case 'fallthrough':
          fallthrough = zonesOf(option.args, [ROOT])
          break
        default:
          throw unknownOption('k8s_external', option, OPTIONS)
      }
    }
  }
  return { zones, apex, ttlSeconds, hasEndpoints, fallthrough, notices }
}
