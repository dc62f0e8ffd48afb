/**
 * Response codes in a Corefile, and what other spellings of them mean.
 * @module
 */
import { nearest } from '../../corefile/arguments.ts'
import { type ConfigError, configError } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'

/**
 * Names of response codes in RFC 1035 and in the constants of Go's library (`RcodeSuccess` of
 * github.com/miekg/dns), which CoreDNS's documents also use, in capitals without separators.
 */
const OTHER_NAMES: ReadonlyMap<string, keyof typeof RCODE> = new Map([
  ['SUCCESS', 'NOERROR'],
  ['NOERR', 'NOERROR'],
  ['NODATA', 'NOERROR'],
  ['OK', 'NOERROR'],
  ['FORMATERROR', 'FORMERR'],
  ['SERVERFAILURE', 'SERVFAIL'],
  ['SERVERFAIL', 'SERVFAIL'],
  ['SERVFAILURE', 'SERVFAIL'],
  ['NAMEERROR', 'NXDOMAIN'],
  ['NONEXISTENTDOMAIN', 'NXDOMAIN'],
  ['NOTIMPLEMENTED', 'NOTIMP'],
  ['BADVERSION', 'BADVERS'],
  ['BADSIGNATURE', 'BADVERS'],
])

/**
 * Returns the error for a word that is not a response code, and suggests the one that it means.
 * @param wanted what may be written, for words without a likely meaning
 */
export function wrongRcode(word: Word, wanted = ''): ConfigError {
  const meant = meantRcode(word.text)
  const hint = meant === undefined ? wanted : `; write ${meant}`
  return configError(word, `"${word.text}" is not a response code${hint}`)
}

function meantRcode(text: string): string | undefined {
  const names = Object.keys(RCODE)
  if (/^\d{1,2}$/.test(text)) return names.find((name) => name === formatRcode(Number(text)))
  const plain = text
    .toUpperCase()
    .replace(/[_-]/g, '')
    .replace(/^RCODE(?=.)/, '')
  return OTHER_NAMES.get(plain) ?? nearest(plain, names)
}
