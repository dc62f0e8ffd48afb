/**
 * RCODEs and opcodes (RFC 1035 §4.1.1, RFC 6895 §2).
 * @module
 */

/** RCODEs. Those over 15 need an OPT record for their upper bits (RFC 6891 §6.1.3). */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  DSOTYPENI: 11,
  BADVERS: 16,
  BADKEY: 17,
  BADTIME: 18,
  BADMODE: 19,
  BADNAME: 20,
  BADALG: 21,
  BADTRUNC: 22,
  BADCOOKIE: 23,
} as const

/** Other mnemonics (RFC 8945 §3; github.com/miekg/dns, msg.go). */
const ALIASES = { BADSIG: RCODE.BADVERS, NOTIMPL: RCODE.NOTIMP } as const

/** Opcodes. */
export const OPCODE = { QUERY: 0, IQUERY: 1, STATUS: 2, NOTIFY: 4, UPDATE: 5, DSO: 6 } as const

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(RCODE).map(([name, value]) => [value, name]),
)
const VALUES: ReadonlyMap<string, number> = new Map(Object.entries({ ...RCODE, ...ALIASES }))

/** Formats an RCODE as its mnemonic, or as `RCODE` and its number. */
export function formatRcode(rcode: number): string {
  return NAMES.get(rcode) ?? `RCODE${rcode}`
}

/** Parses a mnemonic, ignoring case; `undefined` for other text. */
export function parseRcode(text: string): number | undefined {
  return VALUES.get(text.toUpperCase())
}
