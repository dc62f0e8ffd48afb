/**
 * Records as the text of zone files (RFC 1035 §5.1): one record a line, `owner TTL class type
 * rdata`.
 * @module
 */
import { TTL_SECONDS_MAX } from '../dns/limits.ts'
import type { ResourceRecord } from '../dns/message.ts'
import { formatName } from '../dns/name.ts'
import { formatRdata, parseNameBelow, parseRdata } from '../dns/rdata-text.ts'
import { CLASS, formatClass, parseClass } from '../dns/rr-class.ts'
import { formatType, parseType } from '../dns/rr-type.ts'

/** A string without its quotes, a comment, or a word. */
const WORD = /"((?:[^"\\]|\\.)*)"|;.*|((?:[^\s";\\]|\\.)+)/g

/** Formats a record as one line, fields separated by one blank. */
export function formatRecord(record: ResourceRecord): string {
  const { owner, ttlSeconds, type } = record
  const rdata = formatRdata(type, record.rdata)
  const words = [formatName(owner), ttlSeconds, formatClass(record.class), formatType(type)]
  return [...words, ...(rdata === '' ? [] : [rdata])].join(' ')
}

/**
 * Parses one record from a line with owner, TTL, optional class, type and rdata. Relative names are
 * below `origin`. `undefined` when it is not a record.
 */
export function parseRecord(line: string, origin: Uint8Array): ResourceRecord | undefined {
  const words = splitWords(line) ?? []
  const [ownerText = '', ttlText = ''] = words.splice(0, 2)
  const owner = parseNameBelow(ownerText, origin)
  const ttlSeconds = /^\d{1,10}$/.test(ttlText) ? Number(ttlText) : undefined
  const rrClass = parseClass(words[0] ?? '')
  if (rrClass !== undefined) words.shift()
  const type = parseType(words.shift() ?? '')
  if (owner === undefined || ttlSeconds === undefined || type === undefined) return undefined
  if (ttlSeconds > TTL_SECONDS_MAX) return undefined
  const rdata = parseRdata(type, words, origin)
  return rdata && { owner, type, class: rrClass ?? CLASS.IN, ttlSeconds, rdata }
}

/**
 * Splits a line at blanks outside of quotes; takes quotes off, keeps escapes, ends at a comment.
 * `undefined` when a quote is left open or a backslash ends the line.
 */
export function splitWords(line: string): string[] | undefined {
  if (line.replaceAll(WORD, '').trim() !== '') return undefined
  const words: string[] = []
  for (const match of line.matchAll(WORD)) {
    const word = match[1] ?? match[2]
    if (word !== undefined) words.push(word)
  }
  return words
}
