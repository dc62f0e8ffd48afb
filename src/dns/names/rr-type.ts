/**
 * Record types and their mnemonics (IANA DNS parameters, RFC 6895 §3.1).
 * @module
 */

/** Types with a mnemonic. Every number from 0 to 65535 is a type (RFC 3597). */
export const TYPE = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  SRV: 33,
  ATMA: 34,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
  AVC: 258,
  AMTRELAY: 260,
  RESINFO: 261,
  TA: 32768,
  DLV: 32769,
} as const

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPE).map(([name, value]) => [value, name]),
)
const VALUES: ReadonlyMap<string, number> = new Map(Object.entries(TYPE))

/** Formats a type as its mnemonic, or as `TYPE` and its number (RFC 3597 §5). */
export function formatType(type: number): string {
  return NAMES.get(type) ?? `TYPE${type}`
}

/** Returns whether a query type requests a zone transfer. */
export function isTransferType(type: number): boolean {
  return type === TYPE.AXFR || type === TYPE.IXFR
}

/**
 * Parses a mnemonic, ignoring case, or `TYPEnnn`; `undefined` for other text, also for names of
 * inherited properties.
 */
export function parseType(text: string): number | undefined {
  const upper = text.toUpperCase()
  const known = VALUES.get(upper)
  if (known !== undefined) return known
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1]
  if (digits === undefined || Number(digits) > 65535) return undefined
  return Number(digits)
}
