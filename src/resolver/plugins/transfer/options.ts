/**
 * Options of the `transfer` plugin.
 * @module
 */
import { type OptionReaders, onlyWord, readOptions, zonesOf } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { isSameAddress } from '../../../dns/names/network.ts'
import { parseServer } from '../forward/upstreams.ts'

/** A server that receives NOTIFY messages. */
export type Secondary = { readonly address: string; readonly port: number }

/** The zones of a rule, and the servers that may transfer them and receive NOTIFY messages. */
export type TransferRule = {
  readonly zones: readonly Uint8Array[]
  readonly isOpen: boolean
  readonly secondaries: readonly Secondary[]
  readonly sourceAddress: string | undefined
}

const SECONDARIES_MAX = 256

type Draft = Omit<TransferRule, 'zones'>

/** Parses `transfer [ZONE…] { to *|ADDRESS[:PORT]…  source ADDRESS }`. @throws {ConfigError} */
export function parseRule(directive: Directive, blockZones: readonly Uint8Array[]): TransferRule {
  const defaults: Draft = { isOpen: false, secondaries: [], sourceAddress: undefined }
  const draft = readOptions(directive, READERS, defaults)
  if (!draft.isOpen && draft.secondaries.length === 0) {
    throw configError(directive, '"transfer" needs "to" with addresses, or "to *" for any client')
  }
  if (draft.secondaries.length > SECONDARIES_MAX) {
    throw configError(directive, `"transfer" takes at most ${SECONDARIES_MAX} addresses`)
  }
  return { zones: zonesOf(directive.args, blockZones), ...draft }
}

/** Whether a client may transfer the zones; as in CoreDNS, its port does not matter. */
export function mayTransfer({ isOpen, secondaries }: TransferRule, client: string): boolean {
  return isOpen || secondaries.some(({ address }) => isSameAddress(address, client))
}

const READERS: OptionReaders<Draft> = {
  to: (option, { secondaries, isOpen }) => {
    const { args } = option
    if (args.length === 0) throw configError(option, '"to" needs addresses or * for any client')
    const named = args.filter(({ text }) => text !== '*')
    return {
      isOpen: isOpen || named.length < args.length,
      secondaries: [...secondaries, ...named.map(parseSecondary)],
    }
  },
  source: (option, { sourceAddress }) => {
    const word = onlyWord(option)
    if (sourceAddress !== undefined) {
      throw configError(option, '"source" appears twice; remove one')
    }
    if (parseAddress(word.text) !== undefined) return { sourceAddress: word.text }
    throw configError(word, `"${word.text}" is not an address`)
  },
}

function parseSecondary(word: Word): Secondary {
  const server = parseServer(word.text)
  if (server !== undefined) return server
  throw configError(word, `"${word.text}" is not an address, ADDRESS:PORT nor *`)
}
