/**
 * Signatures are never the same twice: what is compared is that they are good, of what, by which
 * key and for how long.
 * @module
 */
import { readUint32 } from '../../src/dns/bytes.ts'
import { parseResponse, type ResourceRecord } from '../../src/dns/message.ts'
import { TYPE } from '../../src/dns/rr-type.ts'
import type { Answer } from '../conformance/compare.ts'
import { isSigned } from '../zone-keys.ts'

/**
 * Takes times and octets of good signatures out of an answer, and puts how long they last in their
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
