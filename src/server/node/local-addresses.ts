/**
 * The addresses of this machine that the server can listen on.
 * @module
 */
import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../../dns/names/address.ts'

/** Interface names that Linux allows (net/core/dev.c, `dev_valid_name`). */
const INTERFACE_NAME = /^(?!\.{1,2}$)[^\s/:]{1,15}$/
const LINK_LOCAL = /^fe[89ab]/i

/** Lists the machine's addresses without link-local IPv6 ones, which need a zone. */
export function localAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((infos) => infos ?? [])
  return addresses.filter(({ address }) => !LINK_LOCAL.test(address)).map(({ address }) => address)
}

/**
 * Lists the machine's addresses other than loopback; `LOCAL_IPS` (comma-separated) overrides them.
 */
export function outsideAddresses(override: string | undefined): string[] {
  if (override !== undefined && override !== '') return override.split(',').map((ip) => ip.trim())
  return localAddresses().filter((ip) => !ip.startsWith('127.') && ip !== '::1')
}

/** Returns whether the machine has an interface; on Linux, also one without an address. */
export function isInterface(name: string): boolean {
  if (Object.hasOwn(networkInterfaces(), name)) return true
  return INTERFACE_NAME.test(name) && existsSync(`/sys/class/net/${name}`)
}

/**
 * Resolves the arguments of `bind`: an interface name gives all of its addresses, link-local IPv6
 * ones with the zone that binding needs (RFC 4007 §11).
 * @returns the addresses without duplicates; none for an interface that has none or does not exist
 */
export function resolveBind(words: readonly string[], except: readonly string[]): string[] {
  const interfaces = new Map(Object.entries(networkInterfaces()))
  const expand = (word: string): string[] => {
    if (parseAddress(word) !== undefined) return [word]
    const infos = interfaces.get(word) ?? []
    return infos.map(({ address }) => (LINK_LOCAL.test(address) ? `${address}%${word}` : address))
  }
  const excluded = new Set(except.flatMap(expand))
  return [...new Set(words.flatMap(expand))].filter((address) => !excluded.has(address))
}
