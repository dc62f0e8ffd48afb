/**
 * Options of the `transfer` plugin.
 * @module
 */
import { type Option, options, unknownOption, zonesOf } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'
import { parseAddress } from '../../dns/address.ts'
import { isSameAddress } from '../../dns/network.ts'
import { parseServer } from '../forward/upstreams.ts'

/** A server that receives NOTIFY messages. */
export type Secondary = { readonly address: string; readonly port: number }

/** The zones of a rule, and the servers that may transfer them and receive NOTIFY messages. */
export type TransferRule = {
  readonly zones: readonly Uint8Array[]
  /** Whether any client may transfer them. */
  readonly isOpen: boolean
  readonly secondaries: readonly Secondary[]
  /** The source address of NOTIFY messages. */
  readonly sourceAddress: string | undefined
}

/** Secondaries of one directive. */
const SECONDARIES_MAX = 256

type Draft = { isOpen: boolean; secondaries: Secondary[]; sourceAddress: string | undefined }

/** Parses `transfer [ZONE…] { to *|ADDRESS[:PORT]…  source ADDRESS }`. @throws {ConfigError} */
export function parseRule(directive: Directive, blockZones: readonly Uint8Array[]): TransferRule {
  const draft: Draft = { isOpen: false, secondaries: [], sourceAddress: undefined }
  for (const option of options(directive)) readOption(option, draft)
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

function readOption(option: Option, draft: Draft): void {
  const { name, args } = option
  const [first] = args
  switch (name) {
    case 'to':
      if (first === undefined) throw configError(option, '"to" needs addresses or * for any client')
      for (const word of args) {
        const server = word.text === '*' ? undefined : parseServer(word.text)
        if (server !== undefined) draft.secondaries.push(server)
        else if (word.text === '*') draft.isOpen = true
        else throw configError(word, `"${word.text}" is not an address, ADDRESS:PORT nor *`)
      }
      return
    case 'source':
      if (first === undefined || args.length > 1) {
        throw configError(option, '"source" takes one address')
      }
      if (draft.sourceAddress !== undefined) {
        throw configError(option, '"source" appears twice; remove one')
      }
      if (parseAddress(first.text) === undefined) {
        throw configError(first, `"${first.text}" is not an address`)
      }
      draft.sourceAddress = first.text
      return
    default:
      throw unknownOption('transfer', option, ['to', 'source'])
  }
}
