/**
 * What CoreDNS just answered, as something to expect.
 * @module
 */
import type { Answer } from '../conformance/compare.ts'
import type { Expectation } from '../conformance/scenario.ts'

/** A serial that is the time, as `kubernetes` has it, is each server's own. */
const TIME_SERIAL = /( SOA \S+ \S+) (?:1[6-9]\d{8}|[2-9]\d{9}|0) /

/** A record that leads to another name, and no signature of one. */
const ALIAS = /^\S+ \d+ \S+ (CNAME|DNAME) /

/**
 * Makes what to expect of an answer.
 * @param whole the answer over TCP, when this one is cut
 */
export function expectationOf(answer: Answer | undefined, whole: Answer | undefined): Expectation {
  if (answer === undefined) return { rcode: '', aa: false, tc: false, ra: false, drop: true }
  const sections = answer.tc && whole !== undefined ? whole : answer
  const { rcode, aa, tc, ra, rd, ad, cd, edns } = answer
  const { length: chainLength } = takeWhile(answer.answer, (line) => ALIAS.test(line))
  return {
    ...{ rcode, aa, tc, ra, rd, ad, cd },
    question: answer.question,
    answer: sections.answer.map(withoutTime),
    authority: sections.authority.map(withoutTime),
    additional: sections.additional.map(withoutTime),
    chain: answer.answer.slice(0, chainLength),
    ...(edns !== undefined && { edns }),
    ...(tc && {
      subset: true,
      count: { answer: answer.answer.length, authority: answer.authority.length },
    }),
  }
}

function withoutTime(line: string): string {
  return line.replace(TIME_SERIAL, '$1 SERIAL ')
}

function takeWhile<T>(list: readonly T[], test: (one: T) => boolean): readonly T[] {
  const end = list.findIndex((one) => !test(one))
  return end < 0 ? list : list.slice(0, end)
}
