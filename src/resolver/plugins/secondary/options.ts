/**
 * Options of the `secondary` plugin.
 * @module
 */
import {
  type Option,
  type OptionReaders,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { ROOT } from '../../../dns/names/name.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'
import { readRules } from '../file/serve-zone.ts'
import { parseServer } from '../forward/upstreams.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import type { Primary } from './receive-zone.ts'

/** Zones and their primaries. */
export type SecondaryRule = {
  readonly zones: readonly Uint8Array[]
  readonly primaries: readonly Primary[]
  /** Zones that a catalog (RFC 9432) may list, empty for any; `undefined` for ordinary zones. */
  readonly members: readonly Uint8Array[] | undefined
}

const PRIMARIES_MAX = 64

/** Options of all directives of a block. */
type Shared = {
  readonly fallthrough: Fallthrough
  /** The rules of negative responses. */
  readonly answers: Rules
}

type Draft = Omit<SecondaryRule, 'zones'> & Shared

/**
 * Parses `secondary [ZONE…] { transfer from ADDRESS[:PORT]…  catalog [ZONE…]  fallthrough [ZONE…]
 * answers coredns|rfc }` directives; the last two options apply to all of them.
 */
export function parseSecondary(
  directives: readonly Directive[],
  blockZones: readonly Uint8Array[],
): Shared & { readonly rules: readonly SecondaryRule[] } {
  let shared: Shared = { fallthrough: undefined, answers: 'coredns' }
  const rules = directives.map((directive): SecondaryRule => {
    const defaults: Draft = { primaries: [], members: undefined, ...shared }
    const draft = readOptions(directive, READERS, defaults)
    if (draft.primaries.length === 0) {
      throw configError(
        directive,
        '"secondary" needs "transfer from" with the addresses of primaries',
      )
    }
    if (draft.primaries.length > PRIMARIES_MAX) {
      throw configError(directive, `"secondary" takes at most ${PRIMARIES_MAX} primaries`)
    }
    const { primaries, members, fallthrough, answers } = draft
    shared = { fallthrough, answers }
    return { zones: zonesOf(directive.args, blockZones), primaries, members }
  })
  return { rules, ...shared }
}

const READERS: OptionReaders<Draft> = {
  transfer: (option, { primaries }) => ({ primaries: [...primaries, ...readPrimaries(option)] }),
  catalog: ({ args }, { members }) => {
    for (const word of args) {
      if (!word.text.endsWith(':')) continue
      throw configError(word, `"${word.text}" is not a domain name`)
    }
    // A line without zones allows any, regardless of earlier lines.
    if (args.length === 0 || members?.length === 0) return { members: [] }
    return { members: [...(members ?? []), ...zonesOf(args, [])] }
  },
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  answers: (option) => ({ answers: readRules(option) }),
}

function readPrimaries(option: Option): Primary[] {
  const [from, ...words] = option.args
  if (from?.text !== 'from' || words.length === 0) {
    throw configError(from ?? option, '"transfer" needs "from" and addresses')
  }
  return words.map((word) => {
    const primary = parseServer(word.text)
    if (primary !== undefined) return primary
    throw configError(word, `"${word.text}" is not an address or ADDRESS:PORT of a primary`)
  })
}
