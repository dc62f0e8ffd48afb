/**
 * What `forward` passes on, both ways, for setup.test.ts.
 * @module
 */
import { directive } from '../../../ask.ts'

/** An address of the name that nearly all tests ask for. */
export const A = 'www.example.org. 60 IN A 192.0.2.80'
/** The question for it. */
export const ASK = 'www.example.org A'
/** The directive that most tests have. */
export const PLAIN = 'forward . 192.0.2.1'

/** What an upstream answers and what the client gets. */
export const RELAY_CASES: readonly {
  readonly name: string
  readonly ask: string
  readonly upstream: readonly string[]
  readonly reply: readonly string[]
}[] = [
  {
    name: 'passes on all sections, AA and RA',
    ask: ASK,
    upstream: [
      'NOERROR aa ra',
      A,
      'authority: example.org. 60 IN NS ns.example.org.',
      'additional: ns.example.org. 60 IN A 192.0.2.53',
    ],
    reply: [
      'NOERROR aa rd ra',
      A,
      'authority: example.org. 60 IN NS ns.example.org.',
      'additional: ns.example.org. 60 IN A 192.0.2.53',
    ],
  },
  {
    name: 'passes on response codes, also extended ones',
    ask: `${ASK} +edns`,
    upstream: ['BADCOOKIE'],
    reply: ['BADCOOKIE rd', 'edns: 1232'],
  },
  {
    name: 'passes on records of unknown types',
    ask: 'www.example.org TYPE65280',
    upstream: ['NOERROR', 'www.example.org. 60 IN TYPE65280 \\# 2 abcd'],
    reply: ['NOERROR rd', 'www.example.org. 60 IN TYPE65280 \\# 2 abcd'],
  },
  {
    name: 'passes on that an answer is truncated',
    ask: ASK,
    upstream: ['NOERROR tc', A],
    reply: ['NOERROR tc rd', A],
  },
  {
    name: 'passes on AD to a client that queries with AD',
    ask: `${ASK} +ad`,
    upstream: ['NOERROR ad', A],
    reply: ['NOERROR rd ad', A],
  },
  {
    name: 'passes on AD to a client that queries with DO',
    ask: `${ASK} +do`,
    upstream: ['NOERROR ad', A],
    reply: ['NOERROR rd ad', A, 'edns: 1232 do'],
  },
  {
    name: 'takes AD away for all others',
    ask: ASK,
    upstream: ['NOERROR ad', A],
    reply: ['NOERROR rd', A],
  },
  {
    name: 'passes on options, but for those between neighbours',
    ask: `${ASK} +edns`,
    upstream: [
      'SERVFAIL',
      'option 10: 0102030405060708',
      'ede: 6 bogus',
      'option 3: 6e73',
      'option 65001: ab',
    ],
    reply: ['SERVFAIL rd', 'edns: 1232', 'ede: 6 bogus', 'option 65001: ab'],
  },
]

/** What a client asks and what the upstream is asked. */
export const QUERY_CASES: readonly {
  readonly name: string
  /** `PLAIN` when left out. */
  readonly line?: string
  readonly ask: string
  readonly question: string
  /** `udp` when left out. */
  readonly protocol?: string
}[] = [
  {
    name: 'have the name in the letter case of the client',
    ask: 'wWw.Example.ORG A',
    question: 'wWw.Example.ORG. IN A rd',
  },
  {
    name: 'have RD, AD and CD as the client has them',
    ask: `${ASK} +nord +ad +cd`,
    question: 'www.example.org. IN A ad cd',
  },
  {
    name: 'have the class of the client',
    ask: 'version.bind CH TXT',
    question: 'version.bind. CH TXT rd',
  },
  {
    name: 'have EDNS as the client has it',
    ask: `${ASK} +edns=1100 +do`,
    question: 'www.example.org. IN A rd edns=1100 do',
  },
  {
    name: 'have the options of the client that are not between neighbours',
    ask: `${ASK} +option=8:00011800c00002 +cookie +nsid +padding`,
    question: 'www.example.org. IN A rd edns=1232 option=8:00011800c00002',
  },
  {
    name: 'request no more than 1,232 bytes',
    ask: `${ASK} +edns=65535`,
    question: 'www.example.org. IN A rd edns=1232',
  },
  {
    name: 'request 512 bytes at least',
    ask: `${ASK} +edns=0`,
    question: 'www.example.org. IN A rd edns=512',
  },
  {
    name: 'request no more than bufsize says',
    line: `bufsize 600\n  ${PLAIN}`,
    ask: `${ASK} +edns=4096`,
    question: 'www.example.org. IN A rd edns=600',
  },
  {
    name: 'go over TCP when the client does',
    ask: `${ASK} +tcp`,
    question: 'www.example.org. IN A rd',
    protocol: 'tcp',
  },
  {
    name: 'go over TCP when the client uses HTTPS',
    ask: `${ASK} +https`,
    question: 'www.example.org. IN A rd',
    protocol: 'tcp',
  },
  {
    name: 'go over TCP when that is forced',
    line: directive(PLAIN, 'force_tcp'),
    ask: ASK,
    question: 'www.example.org. IN A rd',
    protocol: 'tcp',
  },
  {
    name: 'go over UDP when that is preferred',
    line: directive(PLAIN, 'prefer_udp'),
    ask: `${ASK} +tcp`,
    question: 'www.example.org. IN A rd',
  },
]
