/**
 * Where we answer differently from CoreDNS, on purpose. The comparison in `differential.suite.ts`
 * lets nothing else pass, and prints how often each of these was met.
 * @module
 */
import { parseHex } from '../../src/dns/bytes/bytes.ts'
import { HEADER_BYTES, UDP_BYTES_ADVERTISED } from '../../src/dns/names/limits.ts'
import { OPTION } from '../../src/dns/wire/edns.ts'
import type { Answer } from '../conformance/compare.ts'
import type { GeneratedQuestion } from './generate.ts'

/** A pair of answers that differ; `undefined` for no answer. */
export type Difference = {
  readonly place: string
  readonly question: GeneratedQuestion
  readonly theirs: Answer | undefined
  readonly ours: Answer | undefined
  /** What the comparison says. */
  readonly wrong: readonly string[]
}

/** A way to differ. */
export type Deviation = {
  /** Why ours is better, with what says so. */
  readonly reason: string
  readonly applies: (difference: Difference) => boolean
}

/** All deviations. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    reason:
      'a DS record is asked of the nearest block and the first view that admits it ' +
      '(RFC 4035 §3.1.4.1), not of the farthest and the last',
    applies: ({ place, question }) =>
      ['view', 'stub', 'kubernetes-options'].includes(place) && question.qtype === 'DS',
  },
  {
    reason: 'the first element of a search list is a name like others, and no failure',
    applies: ({ place, question, theirs }) =>
      theirs?.rcode === 'SERVFAIL' &&
      ((place === 'autopath' && /^sub\.zone\.test\.?$/i.test(question.qname)) ||
        (place === 'kubernetes-combined' && /^odd\.svc\.cluster\.local\.?$/i.test(question.qname))),
  },
  {
    reason: 'an alias ends the search of autopath, also one to a name that does not exist',
    applies: ({ place, theirs, ours }) =>
      place === 'autopath' &&
      theirs?.rcode !== 'NXDOMAIN' &&
      ours?.rcode === 'NXDOMAIN' &&
      ours.answer.some((record) => / IN CNAME /.test(record)),
  },
  {
    reason: 'a rewritten reply that cannot be written is a server failure, not silence',
    applies: ({ place, theirs, ours }) =>
      place === 'rewrite' && theirs === undefined && ours?.rcode === 'SERVFAIL',
  },
  {
    reason: 'a response over UDP has 1,232 bytes at most without `bufsize` (RFC 9715 §3.1)',
    applies: ({ question, ours, wrong }) =>
      question.transport === 'udp' &&
      (question.edns?.size ?? 0) > UDP_BYTES_ADVERTISED &&
      ours?.tc === true &&
      wrong.every((line) => /^tc: true|: missing |^answer: \d+ records, /.test(line)),
  },
  {
    reason: 'which records a truncated response leaves out follows from their order, which is free',
    applies: ({ theirs, ours, wrong }) =>
      theirs?.tc === true &&
      ours?.tc === true &&
      Math.abs(theirs.answer.length - ours.answer.length) <= 1 &&
      wrong.every((line) => /^answer: (unexpected|missing|\d+ records)\b/.test(line)),
  },
  {
    reason: 'a response has the question of its query (RFC 1035 §4.1.1), also after `continue`',
    applies: ({ place, question, wrong }) =>
      place === 'kubernetes-combined' &&
      question.qtype === 'HINFO' &&
      wrong.every(
        (line) => line.startsWith('question: ') || line === 'answered, expected no answer',
      ),
  },
  {
    reason: 'a refused transfer over UDP is REFUSED, not a failure of `minimal`',
    applies: ({ place, question, theirs, ours }) =>
      place === 'kubernetes-combined' &&
      question.qtype === 'AXFR' &&
      theirs?.rcode === 'SERVFAIL' &&
      ours?.rcode === 'REFUSED',
  },
  {
    reason:
      'an identifier that an upstream has for us (NSID) is not for our client (RFC 5001 §2.1)',
    applies: ({ place, theirs, wrong }) =>
      (theirs?.edns?.options ?? []).some(({ code }) => code === OPTION.NSID) &&
      place !== 'kubernetes-options' &&
      wrong.every((line) => line.startsWith('edns options: ')),
  },
  {
    reason: 'flags of a refused query that mean something in a response only (TC) are not copied',
    applies: ({ question, wrong }) =>
      question.raw !== undefined && wrong.every((line) => line === 'tc: false, expected true'),
  },
  {
    reason: 'a pointer in a name leads back (RFC 1035 §4.1.4), never ahead',
    applies: ({ question, ours }) => ours?.rcode === 'FORMERR' && pointsAhead(question.raw ?? ''),
  },
  {
    reason: 'an alias has the code and the SOA record of its end (RFC 6604 §3, RFC 2308 §2.1)',
    applies: ({ theirs, ours, wrong }) =>
      theirs?.rcode === 'NOERROR' &&
      (ours?.answer ?? []).some((line) => line.includes(' IN CNAME ')) &&
      wrong.every((line) =>
        /^rcode: "NXDOMAIN"|^authority: unexpected \S+ \d+ IN (RRSIG )?(SOA|NSEC) /.test(line),
      ),
  },
  {
    reason: 'a link-local address is of no use to clients of a name server (RFC 4007 §6)',
    applies: ({ place, wrong }) =>
      place === 'kubernetes-options' &&
      wrong.every((line) => /^\w+: missing \S+ \d+ IN AAAA fe80:/.test(line)),
  },
  {
    reason: 'names that differ in letter case only are equal (RFC 4343 §4.1), `ns.dns.ZONE` too',
    applies: ({ question: { qname }, theirs, ours }) =>
      /^[Nn][Ss]\.[Dd][Nn][Ss]\..*[A-Z]/.test(qname) &&
      theirs?.rcode === 'NXDOMAIN' &&
      ours?.rcode === 'NOERROR',
  },
  {
    reason: 'the additional section has all addresses of a target, from whatever slice',
    applies: ({ question: { qname, qtype }, wrong }) =>
      qtype === 'SRV' &&
      /[.]nodes[.]odd[.]svc[.]/i.test(qname) &&
      wrong.every((line) => /^additional: unexpected \S+ \d+ IN (RRSIG )?(A|AAAA) /.test(line)),
  },
  {
    reason: 'a failure or a refusal says why, in an extended error (RFC 8914 §4)',
    applies: ({ theirs, ours, wrong }) =>
      wrong.every((line) => line.startsWith('edns options')) &&
      (theirs?.edns?.options ?? []).length === 0 &&
      (ours?.edns?.options ?? []).every(({ code }) => code === OPTION.EXTENDED_ERROR),
  },
  {
    reason: 'a signature names the zone that signs, whatever zone signed the same records before',
    applies: ({ place, wrong }) =>
      place === 'dnssec' &&
      wrong.every((line) => / IN RRSIG SOA \d+ \d+ \d+ \d+s \d+ \S+$/.test(line)),
  },
  {
    reason: 'a denial behind an alias has its proof (RFC 4035 §3.1.3.1)',
    applies: ({ place, theirs, ours, wrong }) =>
      place === 'dnssec' &&
      (theirs?.answer ?? []).some((line) => line.includes(' IN CNAME ')) &&
      (ours?.tc === true ||
        wrong.every((line) => /^authority: unexpected \S+ \d+ IN (RRSIG )?NSEC /.test(line))),
  },
  {
    reason: 'the signature of a DS record has its TTL (RFC 4034 §3), not that of the NS records',
    applies: ({ place, wrong }) =>
      place === 'dnssec' && wrong.every((line) => line.includes(' IN RRSIG DS ')),
  },
  {
    reason:
      'a signature takes no more room than it has bytes, and names in any letter case are ' +
      'pointed to, so that more fits',
    applies: ({ place, theirs, ours, wrong }) =>
      (place === 'dnssec' || place === 'tsig') &&
      theirs?.tc === true &&
      recordCount(ours) >= recordCount(theirs) &&
      wrong.every((line) => /^(tc: false|\w+: \d+ records), expected /.test(line)),
  },
  {
    reason: 'a signed reply keeps to the size that its client takes, too (RFC 8945 §5.3)',
    applies: ({ place, question, theirs, ours }) =>
      place === 'tsig' && question.tsig !== undefined && theirs?.tc === false && ours?.tc === true,
  },
  {
    reason: 'the name of a key is a name, in any letter case (RFC 8945 §4.2)',
    applies: ({ place, question, theirs }) =>
      place === 'tsig' &&
      /[A-Z]/.test(question.tsig?.key ?? '') &&
      theirs?.additional.some((line) => line.includes(' BADKEY ')) === true,
  },
  {
    reason: 'a signature of a message is its last record (RFC 8945 §5.1), also by loadbalance',
    applies: ({ place, theirs, wrong }) =>
      place === 'tsig' &&
      (theirs?.additional ?? []).some((line) => line.endsWith(' TSIG unsigned')) &&
      wrong.length === 2 &&
      wrong.every((line) => / ANY TSIG (unsigned|.* now good)$/.test(line)),
  },
  {
    reason:
      'a client with a newer zone than the server gets the SOA record (RFC 1995 §2), not an older zone',
    applies: ({ place, question, ours }) =>
      place === 'transfer' &&
      question.qtype === 'IXFR' &&
      ours?.answer.length === 1 &&
      / SOA .* 4294967290 /.test(ours.answer[0] ?? ''),
  },
]

/** Whether a message has a pointer that leads to itself or to what comes after it. */
function pointsAhead(hex: string): boolean {
  const bytes = parseHex(hex) ?? new Uint8Array(0)
  return bytes.some((first, at) => {
    const target = ((first & 0x3f) << 8) | (bytes[at + 1] ?? 0)
    return at >= HEADER_BYTES && first >= 0xc0 && target >= at
  })
}

function recordCount(answer: Answer | undefined): number {
  if (answer === undefined) return 0
  return answer.answer.length + answer.authority.length + answer.additional.length
}
