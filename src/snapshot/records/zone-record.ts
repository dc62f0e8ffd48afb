/**
 * Parses one record of a zone file (RFC 1035 §5.1, RFC 2308 §4): class and TTL in either order;
 * omitted fields are those of the previous record.
 * @module
 */
import { TTL_SECONDS_MAX } from '../../dns/names/limits.ts'
import { CLASS, parseClass } from '../../dns/names/rr-class.ts'
import { parseType, TYPE } from '../../dns/names/rr-type.ts'
import { parseTtl } from '../../dns/names/ttl-text.ts'
import { rdataSchema } from '../../dns/rdata/rdata-schema.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'
import { findRdataMistake } from '../../dns/wire/rdata-mistake.ts'
import { parseNameBelow, parseRdata } from '../../dns/wire/rdata-text.ts'
import { findLocationMistake, parseLocation } from './location.ts'
import { ZoneFileError, type ZoneLine, type ZoneWord } from './zone-scanner.ts'

/** State from previous lines. */
export type ZoneState = {
  readonly file: string
  /** Origin of relative names. */
  origin: Uint8Array
  /** Owner of the previous record. */
  owner: Uint8Array
  /** TTL of records without one. */
  ttlSeconds: number | undefined
  /** Whether it is from `$TTL`, so that TTLs of records do not change it (RFC 2308 §4). */
  isTtlFixed: boolean
}

type Head = {
  ttlSeconds: number | undefined
  class: number | undefined
  type: number | undefined
  /** The number of their words. */
  size: number
}

/**
 * Reads a record, and stores its owner and TTL for the next ones.
 * @throws {ZoneFileError} if the line is not a record
 */
export function readRecord(line: ZoneLine, state: ZoneState): ResourceRecord {
  const [first] = line.words
  const { file } = state
  if (line.hasOwner) {
    const owner = parseNameBelow(first.text, state.origin)
    if (owner === undefined) throw wrong(file, first, `"${first.text}" is not a domain name`)
    state.owner = owner
  }
  const head = readHead(line, file)
  const type = head.type ?? 0
  const ttlSeconds = ttlOf(line, head, state)
  const words = rdataWords(type, line.words.slice(head.size))
  const texts = words.map(({ text }) => text)
  const location = type === TYPE.LOC ? parseLocation(texts) : undefined
  const rdata = location ?? parseRdata(type, texts, state.origin)
  if (rdata === undefined) {
    const isLocation = type === TYPE.LOC && texts.length > 0 && texts[0] !== '\\#'
    const { index, message } = isLocation
      ? findLocationMistake(texts)
      : findRdataMistake(type, texts, state.origin)
    throw wrong(file, words[index] ?? words.at(-1) ?? first, message)
  }
  return { owner: state.owner, type, class: head.class ?? CLASS.IN, ttlSeconds, rdata }
}

/** Reads a TTL. @throws {ZoneFileError} if it is invalid or over 31 bits (RFC 2181 §8) */
export function readTtl(word: ZoneWord, file: string): number {
  const seconds = parseTtl(word.text)
  if (seconds !== undefined && seconds <= TTL_SECONDS_MAX) return seconds
  throw wrong(file, word, `"${word.text}" is not a TTL from 0 to ${TTL_SECONDS_MAX}`)
}

/** Returns the error for a word. */
export function wrong(file: string, { line, column }: ZoneWord, reason: string): ZoneFileError {
  return new ZoneFileError({ file, line, column }, reason)
}

function readHead({ hasOwner, words }: ZoneLine, file: string): Head {
  const head: Head = { ttlSeconds: undefined, class: undefined, type: undefined, size: 0 }
  for (let i = hasOwner ? 1 : 0; i < words.length; i++) {
    const word = words[i] ?? words[0]
    const rrClass = parseClass(word.text)
    // ANY is a class of queries only (RFC 1035 §3.2.5).
    if (rrClass !== undefined && head.class === undefined && !/^any$/i.test(word.text)) {
      head.class = rrClass
      continue
    }
    const type = parseType(word.text)
    if (type !== undefined) return { ...head, type, size: i + 1 }
    if (head.ttlSeconds !== undefined || parseTtl(word.text) === undefined) {
      throw wrong(file, word, `"${word.text}" is no type, no class and no TTL of a record`)
    }
    head.ttlSeconds = readTtl(word, file)
  }
  throw wrong(file, words.at(-1) ?? words[0], 'the line ends before the type of a record')
}

/**
 * Returns the TTL of a record without one. As in CoreDNS, before the first TTL it is 0 after a
 * class, and an error otherwise.
 */
function ttlOf(line: ZoneLine, head: Head, state: ZoneState): number {
  const { ttlSeconds } = head
  if (ttlSeconds === undefined) {
    if (state.ttlSeconds === undefined && head.class === undefined && line.hasOwner) {
      const word = line.words[1] ?? line.words[0]
      throw wrong(state.file, word, 'no TTL here nor in a line before; begin with "$TTL 1h"')
    }
    return state.ttlSeconds ?? 0
  }
  if (!state.isTtlFixed) state.ttlSeconds = ttlSeconds
  return ttlSeconds
}

/** Joins the parts of a service parameter with a quoted value to one word: `alpn="h2"`. */
function rdataWords(type: number, words: readonly ZoneWord[]): readonly ZoneWord[] {
  if (rdataSchema(type)?.at(-1) !== 'params') return words
  const joined: ZoneWord[] = []
  for (const [i, word] of words.entries()) {
    const before = words[i - 1]
    const name = joined.at(-1)
    // Only of a word that is not joined itself: `endsWith` of a joined one would copy it.
    const isValue = word.isQuoted && word.isAttached && before?.isQuoted === false
    if (name !== undefined && isValue && before.text.endsWith('=')) {
      joined.splice(-1, 1, { ...name, text: `${name.text}${word.text}` })
    } else joined.push(word)
  }
  return joined
}
