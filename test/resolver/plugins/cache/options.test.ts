import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, ROOT } from '../../../../src/dns/names/name.ts'
import {
  type Bounds,
  type Prefetch,
  parseCache,
  type Stale,
} from '../../../../src/resolver/plugins/cache/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function describeZones(zones: readonly Uint8Array[]): string {
  return zones.map((zone) => formatName(zone)).join(' ')
}

function describeBounds({ entriesMax, ttlSecondsMin, ttlSecondsMax, except }: Bounds): string {
  const without = except.length === 0 ? '' : ` except ${describeZones(except)}`
  return `${entriesMax} for ${ttlSecondsMin}s to ${ttlSecondsMax}s${without}`
}

const SUCCESS = '9984 for 5s to 3600s'
const DENIAL = '9984 for 5s to 1800s'

type Case = {
  readonly name: string
  readonly line: string
  readonly zones?: string
  readonly success?: string
  readonly denial?: string
  readonly failureSeconds?: number
  readonly keepsTtl?: boolean
  readonly prefetch?: Prefetch
  readonly stale?: Partial<Stale>
}

const NO_PREFETCH: Prefetch = { hitsMin: 0, pauseMsMax: 60_000, percent: 10 }
const NO_STALE: Stale = {
  seconds: 0,
  isVerified: false,
  verifyMs: 0,
  ttlSeconds: 0,
  recheckMs: 0,
  prefersPositive: false,
}

describe('parseCache', () => {
  const cases: Case[] = [
    { name: 'has the defaults of CoreDNS', line: 'cache' },
    {
      name: 'bounds both halves by one TTL',
      line: 'cache 30',
      success: '9984 for 5s to 30s',
      denial: '9984 for 5s to 30s',
    },
    {
      name: 'takes zones after the TTL',
      line: 'cache 30 Example.org 192.0.2.0/24',
      zones: 'example.org. 2.0.192.in-addr.arpa.',
      success: '9984 for 5s to 30s',
      denial: '9984 for 5s to 30s',
    },
    { name: 'takes zones without a TTL', line: 'cache example.org', zones: 'example.org.' },
    {
      name: 'takes the bounds of success',
      line: directive('cache', 'success 2000 20 10'),
      success: '1792 for 10s to 20s',
    },
    {
      name: 'takes the bounds of negative responses',
      line: directive('cache', 'denial 100 20 0'),
      denial: '1024 for 0s to 20s',
    },
    {
      name: 'leaves bounds that are not said as they are',
      line: directive('cache 30', 'success 100', 'denial 200 7'),
      success: '1024 for 5s to 30s',
      denial: '1024 for 5s to 7s',
    },
    {
      name: 'keeps failures as long as configured',
      line: directive('cache', 'servfail 1m'),
      failureSeconds: 60,
    },
    {
      name: 'keeps failures five minutes at most',
      line: directive('cache', 'servfail 5m'),
      failureSeconds: 300,
    },
    {
      name: 'counts failures in whole seconds',
      line: directive('cache', 'servfail 1999ms'),
      failureSeconds: 1,
    },
    { name: 'keeps no failures', line: directive('cache', 'servfail 0'), failureSeconds: 0 },
    { name: 'keeps TTLs', line: directive('cache', 'keepttl'), keepsTtl: true },
    {
      name: 'disables a half for zones',
      line: directive('cache', 'disable success a.org b.org'),
      success: `${SUCCESS} except a.org. b.org.`,
    },
    {
      name: 'disables a half for all names',
      line: directive('cache example.org', 'disable denial'),
      zones: 'example.org.',
      denial: `${DENIAL} except .`,
    },
    {
      name: 'takes what is disabled last',
      line: directive('cache', 'disable denial a.org', 'disable denial b.org'),
      denial: `${DENIAL} except b.org.`,
    },
    {
      name: 'has no capacity below that of CoreDNS',
      line: directive('cache', 'success 0'),
      success: '1024 for 5s to 3600s',
    },
    {
      name: 'has no capacity above a million',
      line: directive('cache', 'denial 9999999'),
      denial: '1048576 for 5s to 1800s',
    },
    {
      name: 'fetches again what is popular',
      line: directive('cache', 'prefetch 10'),
      prefetch: { hitsMin: 10, pauseMsMax: 60_000, percent: 10 },
    },
    {
      name: 'fetches it again in its own way',
      line: directive('cache', 'prefetch 3 5m 90%'),
      prefetch: { hitsMin: 3, pauseMsMax: 300_000, percent: 90 },
    },
    {
      name: 'serves what is stale for an hour',
      line: directive('cache', 'serve_stale'),
      stale: { seconds: 3600 },
    },
    {
      name: 'serves it for another time, and at once',
      line: directive('cache', 'serve_stale 5m Immediate 30s 10s'),
      stale: { seconds: 300, ttlSeconds: 30, recheckMs: 10_000 },
    },
    {
      name: 'serves it when there is nothing better',
      line: directive('cache', 'serve_stale 1h verify 100ms 30s 5m'),
      stale: {
        seconds: 3600,
        isVerified: true,
        verifyMs: 100,
        ttlSeconds: 30,
        recheckMs: 300_000,
      },
    },
    {
      name: 'waits for that as long as it takes',
      line: directive('cache', 'serve_stale 1h verify 0 30s'),
      stale: { seconds: 3600, isVerified: true, ttlSeconds: 30 },
    },
    {
      name: 'prefers what answers, whatever is first',
      line: directive('cache', 'serve_stale_policy Prefer_Positive', 'serve_stale 1h'),
      stale: { seconds: 3600, prefersPositive: true },
    },
  ]
  for (const one of cases) {
    test(one.name, () => {
      const options = parseCache([parseDirective(one.line)], [ROOT])
      assert.equal(describeZones(options.zones), one.zones ?? '.')
      assert.equal(describeBounds(options.success), one.success ?? SUCCESS)
      assert.equal(describeBounds(options.denial), one.denial ?? DENIAL)
      assert.equal(options.failureSeconds, one.failureSeconds ?? 5)
      assert.equal(options.keepsTtl, one.keepsTtl ?? false)
      assert.deepEqual(options.prefetch, one.prefetch ?? NO_PREFETCH)
      assert.deepEqual(options.stale, { ...NO_STALE, ...one.stale })
    })
  }

  const problems: { name: string; line: string; problem: string }[] = [
    {
      name: 'refuses a TTL of 0',
      line: 'cache 0',
      problem: 'Corefile:2:9: "0" is not a number from 1 to 4294967295',
    },
    {
      name: 'refuses what is no zone',
      line: 'cache 30 a..b',
      problem: 'Corefile:2:12: "a..b" is not a domain name',
    },
    {
      name: 'refuses fewer bytes than a large message takes',
      line: directive('cache', 'max_bytes 1048575'),
      problem: 'Corefile:3:15: "1048575" is not a number from 1048576 to 68719476736',
    },
    {
      name: 'refuses no capacity',
      line: directive('cache', 'success'),
      problem: 'Corefile:3:5: "success" takes 1 to 3 argument(s), got 0',
    },
    {
      name: 'refuses a TTL below 0',
      line: 'cache -5',
      problem: 'Corefile:2:9: "-5" is not a number from 1 to 4294967295',
    },
    {
      name: 'refuses a capacity that is not a number',
      line: directive('cache', 'success many'),
      problem: 'Corefile:3:13: "many" is not a number from 0 to 4294967295',
    },
    ...[
      ['prefetch', ':3:5: "prefetch" takes 1 to 3 argument(s), got 0'],
      ['prefetch -1', ':3:14: "-1" is not a number from 0 to 4294967295'],
      ['prefetch 1 soon', ':3:16: "soon" is not a duration such as 30s, 1m30s or 500ms'],
      ['prefetch 1 1m 9%', ':3:19: "9%" is not a percentage from 10% to 90%'],
      ['prefetch 1 1m 91%', ':3:19: "91%" is not a percentage from 10% to 90%'],
      ['prefetch 1 1m 50', ':3:19: "50" is not a percentage from 10% to 90%'],
      ['serve_stale later', ':3:17: "later" is not a duration such as 30s, 1m30s or 500ms'],
      ['serve_stale 1h now', ':3:5: "serve_stale" is immediate or verify, got "now"'],
      ['serve_stale 1h immediate 1s 1s 1s', ':3:5: "serve_stale" takes 0 to 4 argument(s), got 5'],
      ['serve_stale 1h verify 1s 1s 1s 1s', ':3:5: "serve_stale" takes 0 to 5 argument(s), got 6'],
      [
        'serve_stale 1h immediate 1500ms',
        ':3:30: "1500ms" is not a TTL: use whole seconds, such as 30s',
      ],
      [
        'serve_stale 1h immediate 30s 6m',
        ':3:34: "6m": the longest pause after a failed refresh is 5m',
      ],
      ['serve_stale_policy', ':3:5: "serve_stale_policy" takes 1 argument(s), got 0'],
      [
        'serve_stale_policy newest',
        ':3:5: "serve_stale_policy" is prefer_positive only, got "newest"',
      ],
      ['serve_stale_policy prefer_positive', ':3:5: "serve_stale_policy" needs "serve_stale"'],
    ].map(([option = '', problem]) => ({
      name: `refuses "${option}"`,
      line: directive('cache', option),
      problem: `Corefile${problem}`,
    })),
    {
      name: 'refuses a second policy',
      line: directive(
        'cache',
        'serve_stale_policy prefer_positive',
        'serve_stale_policy prefer_positive',
        'serve_stale',
      ),
      problem: 'Corefile:4:5: "serve_stale_policy" appears twice; remove one',
    },
    {
      name: 'refuses a greatest TTL of 0',
      line: directive('cache', 'success 1 0'),
      problem: 'Corefile:3:15: "0" is not a number from 1 to 4294967295',
    },
    {
      name: 'refuses a smallest TTL below 0',
      line: directive('cache', 'success 1 1 -1'),
      problem: 'Corefile:3:17: "-1" is not a number from 0 to 4294967295',
    },
    {
      name: 'refuses surplus bounds',
      line: directive('cache', 'denial 1 2 3 4'),
      problem: 'Corefile:3:5: "denial" takes 1 to 3 argument(s), got 4',
    },
    {
      name: 'refuses to keep failures over five minutes',
      line: directive('cache', 'servfail 5m1s'),
      problem: 'Corefile:3:5: "servfail" is at most 5m (RFC 2308 §7.1)',
    },
    {
      name: 'refuses servfail without a duration',
      line: directive('cache', 'servfail'),
      problem: 'Corefile:3:5: "servfail" takes 1 argument(s), got 0',
    },
    {
      name: 'refuses persist without a file',
      line: directive('cache', 'persist'),
      problem: 'Corefile:3:5: "persist" takes 1 argument(s), got 0',
    },
    {
      name: 'refuses keepttl with an argument',
      line: directive('cache', 'keepttl 5'),
      problem: 'Corefile:3:5: "keepttl" takes 0 argument(s), got 1',
    },
    {
      name: 'refuses to disable nothing',
      line: directive('cache', 'disable'),
      problem: 'Corefile:3:5: "disable" takes 1 or more argument(s), got 0',
    },
    {
      name: 'refuses to disable what is no half',
      line: directive('cache', 'disable example.org'),
      problem: 'Corefile:3:5: "disable" takes success or denial, got "example.org"',
    },
    {
      name: 'guesses a misspelled option',
      line: directive('cache', 'sucess 100'),
      problem: 'Corefile:3:5: "cache" has no option "sucess"; did you mean "success"?',
    },
    {
      name: 'lists the options it has',
      line: directive('cache', 'shards 5'),
      problem:
        'Corefile:3:5: "cache" has no option "shards"; it has success, denial, prefetch, ' +
        'serve_stale, serve_stale_policy, servfail, disable, max_bytes, persist, keepttl',
    },
    {
      name: 'refuses a second directive',
      line: 'cache\n  cache',
      problem: 'Corefile:3:3: "cache" appears twice in this server block; remove one',
    },
  ]
  for (const { name, line, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(line)), [problem])
    })
  }
})
