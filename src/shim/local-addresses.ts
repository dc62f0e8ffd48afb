/**
 * The addresses of this machine, by which the shim listens.
 * @module
 */
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../dns/address.ts'

const LINK_LOCAL = /^fe[89ab]/i

/** Lists the machine's addresses, link-local IPv6 ones left out: they need a zone to be reached. */
export function localAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((infos) => infos ?? [])
  return addresses.filter(({ address }) => !LINK_LOCAL.test(address)).map(({ address }) => address)
}

/**
 * Lists the machine's addresses that others reach it by; `LOCAL_IPS` (comma-separated) overrides.
 */
export function outsideAddresses(override: string | undefined): string[] {
  if (override !== undefined && override !== '') return override.split(',').map((ip) => ip.trim())
  return localAddresses().filter((ip) => !ip.startsWith('127.') && ip !== '::1')
}

/**
 * Turns the arguments of `bind` into addresses: an interface's name stands for all of its own,
 * link-local IPv6 ones with their zone, without which nothing can be bound to them (RFC 4007 §11).
 * @returns the addresses, each once, and the words that are neither
 */
export function resolveBind(
  words: readonly string[],
  except: readonly string[],
): { readonly addresses: string[]; readonly unknown: string[] } {
  const interfaces = new Map(Object.entries(networkInterfaces()))
  const addresses = new Set<string>()
  const unknown: string[] = []
  const expand = (word: string): string[] | undefined =>
    parseAddress(word) === undefined
      ? interfaces
          .get(word)
          ?.map(({ address }) => (LINK_LOCAL.test(address) ? `${address}%${word}` : address))
      : [word]
  for (const word of words) {
    const found = expand(word)
    if (found === undefined) unknown.push(word)
    else for (const address of found) addresses.add(address)
  }
  const excluded = new Set(except.flatMap((word) => expand(word) ?? []))
  return { addresses: [...addresses].filter((address) => !excluded.has(address)), unknown }
}
