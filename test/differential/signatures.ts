/**
 * Signatures are never the same twice: what is compared is that they are good, of what, by which
 * key and for how long. Those of records (DNSSEC) and those of messages (TSIG).
 * @module
 */
import { readUint32 } from '../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord } from '../../src/dns/wire/message.ts'
import type { Answer } from '../conformance/compare.ts'
import {
  describeSignature,
  type SignedMessage,
  type Signing,
  signMessage,
} from '../signed-messages.ts'
import { isSigned } from '../zone-keys.ts'
import type { GeneratedQuestion } from './generate.ts'

/** A signed question, and how it was signed. */
export type SignedQuestion = SignedMessage & { readonly signing: Signing }

/** Signs a question as it says. */
export function signQuestion(
  message: Uint8Array,
  { offSeconds, ...signing }: NonNullable<GeneratedQuestion['tsig']>,
  nowSeconds: number,
): SignedQuestion {
  const timed = { ...signing, timeSeconds: nowSeconds + offSeconds }
  return { ...signMessage(message, timed), signing: timed }
}

/**
 * Puts what the signature of a reply to a signed question is worth in the place of its bytes, and
 * of its time whether that is now, the question's, or none.
 */
export function withoutMac(
  answer: Answer,
  reply: Uint8Array,
  { mac, signing }: SignedQuestion,
): Answer {
  const nowSeconds = Date.now() / 1000
  const { text } = describeSignature(reply, { ...signing, mac })
  const said = text.replace(/ time (\d+)/, (_, time: string) => {
    if (Math.abs(Number(time) - nowSeconds) < TIME_SECONDS_MAX) return ' now'
    if (Number(time) === signing.timeSeconds) return ' then'
    return time === '0' ? ' never' : ` at ${time}`
  })
  const additional = answer.additional.filter((line) => !line.includes(' ANY TSIG '))
  return { ...answer, additional: [...additional, `. 0 ANY TSIG ${said}`] }
}

/** How long an answer may have taken. */
const TIME_SECONDS_MAX = 10

/**
 * Takes times and bytes of good signatures out of an answer, and puts how long they last in their
 * place. Those that no key made, or that are not in force, stay as they are, and so differ. What a
 * cut reply has lost of the records that a signature covers is not known: there it is not checked.
 */
export function withoutSignatures(
  answer: Answer,
  reply: Uint8Array,
  keys: readonly ResourceRecord[],
): Answer {
  const response = parseResponse(reply)
  if (response === undefined || keys.length === 0) return answer
  const nowSeconds = Date.now() / 1000
  const shown = (lines: readonly string[], records: readonly ResourceRecord[]): string[] =>
    lines.map((line, i) => {
      const record = records[i]
      if (record?.type !== TYPE.RRSIG) return line
      const [expiration, inception] = [readUint32(record.rdata, 8), readUint32(record.rdata, 12)]
      const isInForce = inception <= nowSeconds && nowSeconds <= expiration
      if (!answer.tc && !(isInForce && isSigned(record, records, keys))) return line
      const words = line.split(' ')
      return [...words.slice(0, 8), `${expiration - inception}s`, ...words.slice(10, 12)].join(' ')
    })
  return {
    ...answer,
    answer: shown(answer.answer, response.answer),
    authority: shown(answer.authority, response.authority),
    additional: shown(answer.additional, response.additional),
  }
}
