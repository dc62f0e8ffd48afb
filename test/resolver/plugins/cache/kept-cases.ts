/**
 * What the cache keeps and what it does not, for setup.test.ts.
 * @module
 */
import { directive } from '../../../ask.ts'
import type { UpstreamAct } from '../../../fake-host.ts'

/** An address of the name that nearly all tests ask for. */
export const A = 'www.example.org. 60 IN A 192.0.2.1'
/** What its zone says of names that it does not have. */
export const SOA = 'example.org. 60 IN SOA ns.example.org. host.example.org. 1 2 3 4 5'
const ALIAS = 'www.example.org. 60 IN CNAME a.example.org.'
const DENIAL = `authority: ${SOA}`
/** An answer, and whether the cache keeps it. */
export type KeptCase = {
  readonly name: string
  readonly cache?: string
  readonly ask?: string
  readonly upstream: UpstreamAct
  /** Whether the second of two askers gets an answer from the cache. */
  readonly isKept: boolean
}
/** All kinds of answers. */
export const KEPT_CASES: readonly KeptCase[] = [
  { name: 'is an answer', upstream: ['NOERROR', A], isKept: true },
  { name: 'is an answer without records', upstream: ['NOERROR'], isKept: true },
  { name: 'is NODATA', upstream: ['NOERROR', DENIAL], isKept: true },
  { name: 'is NXDOMAIN', upstream: ['NXDOMAIN', DENIAL], isKept: true },
  { name: 'is not a negative response that says no TTL', upstream: ['NXDOMAIN'], isKept: false },
  {
    name: 'is not a negative response at the end of a CNAME, as CoreDNS has it',
    upstream: ['NXDOMAIN', ALIAS, DENIAL],
    isKept: false,
  },
  {
    name: 'is a referral',
    upstream: ['NOERROR', 'authority: org. 60 IN NS a.org.'],
    isKept: true,
  },
  { name: 'is a server failure', upstream: ['SERVFAIL'], isKept: true },
  {
    name: 'is no server failure when configured so',
    cache: directive('cache', 'servfail 0'),
    upstream: ['SERVFAIL'],
    isKept: false,
  },
  {
    name: 'is a server failure for one second',
    cache: directive('cache', 'servfail 1s'),
    upstream: ['SERVFAIL'],
    isKept: true,
  },
  { name: 'is what is not implemented', upstream: ['NOTIMP'], isKept: true },
  { name: 'is not a refusal', upstream: ['REFUSED'], isKept: false },
  { name: 'is not a format error', upstream: ['FORMERR'], isKept: false },
  { name: 'is not a truncated answer', upstream: ['NOERROR tc', A], isKept: false },
  { name: 'is not the lack of any upstream', upstream: new Error('gone'), isKept: false },
  { name: 'is not a transfer', ask: 'example.org AXFR', upstream: ['NOERROR'], isKept: false },
  {
    name: 'is not part of one',
    ask: 'example.org IXFR',
    upstream: ['NOERROR'],
    isKept: false,
  },
  {
    name: 'is a CNAME with what it points to',
    upstream: ['NOERROR', ALIAS, 'a.example.org. 60 IN A 192.0.2.1'],
    isKept: true,
  },
  {
    name: 'is a CNAME when it is requested',
    ask: 'www.example.org CNAME',
    upstream: ['NOERROR', ALIAS],
    isKept: true,
  },
  {
    name: 'is a CNAME for ANY',
    ask: 'www.example.org ANY',
    upstream: ['NOERROR', ALIAS],
    isKept: true,
  },
  { name: 'is not a CNAME that points nowhere', upstream: ['NOERROR', ALIAS], isKept: false },
  {
    name: 'is a CNAME that points nowhere when that says for how long',
    upstream: ['NOERROR', ALIAS, DENIAL],
    isKept: true,
  },
  {
    name: 'is an answer for another name, of which nothing is left',
    upstream: ['NOERROR', 'other.example.org. 60 IN A 192.0.2.1'],
    isKept: true,
  },
  {
    name: 'is not a circle of CNAMEs',
    upstream: ['NOERROR', ALIAS, 'a.example.org. 60 IN CNAME www.example.org.'],
    isKept: false,
  },
  {
    name: 'is no answer where success is disabled',
    cache: directive('cache', 'disable success example.org'),
    upstream: ['NOERROR', A],
    isKept: false,
  },
  {
    name: 'is an answer where success is disabled elsewhere',
    cache: directive('cache', 'disable success example.net'),
    upstream: ['NOERROR', A],
    isKept: true,
  },
  {
    name: 'is a negative response where success is disabled',
    cache: directive('cache', 'disable success'),
    upstream: ['NXDOMAIN', DENIAL],
    isKept: true,
  },
  {
    name: 'is no negative response where negative responses are disabled',
    cache: directive('cache', 'disable denial'),
    upstream: ['NXDOMAIN', DENIAL],
    isKept: false,
  },
  {
    name: 'is nothing outside of the zones',
    cache: 'cache 30 example.net',
    upstream: ['NOERROR', A],
    isKept: false,
  },
  {
    name: 'is nothing with a TTL of 0',
    cache: directive('cache', 'success 100 3600 0'),
    upstream: ['NOERROR', 'www.example.org. 0 IN A 192.0.2.1'],
    isKept: false,
  },
]
