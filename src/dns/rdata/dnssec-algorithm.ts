/**
 * Algorithms of DNSSEC keys and their mnemonics (IANA DNS Security Algorithm Numbers, RFC 4034
 * appendix A.1).
 * @module
 */

/** Algorithm numbers by mnemonic. */
export const ALGORITHM = {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  'DSA-NSEC3-SHA1': 6,
  'RSASHA1-NSEC3-SHA1': 7,
  RSASHA256: 8,
  RSASHA512: 10,
  'ECC-GOST': 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
} as const

const VALUES: ReadonlyMap<string, number> = new Map(Object.entries(ALGORITHM))

/** Parses a mnemonic, ignoring case, or a number up to 255; `undefined` for other text. */
export function parseAlgorithm(text: string): number | undefined {
  const known = VALUES.get(text.toUpperCase())
  if (known !== undefined) return known
  return /^\d{1,3}$/.test(text) && Number(text) < 256 ? Number(text) : undefined
}
