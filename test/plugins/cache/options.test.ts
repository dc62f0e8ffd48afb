import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatName, ROOT } from '../../../src/dns/name.ts'
import { type Bounds, parseCache } from '../../../src/plugins/cache/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../ask.ts'

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
      name: 'takes zones behind the TTL',
      line: 'cache 30 Example.org 192.0.2.0/24',
      zones: 'example.org. 2.0.192.in-addr.arpa.',
      success: '9984 for 5s to 30s',
      denial: '9984 for 5s to 30s',
    },
    { name: 'takes zones without a TTL', line: 'cache example.org', zones: 'example.org.' },
    {
      name: 'takes the bounds of success',
      line: directive('cache', 'success 100 20 10'),
      success: '100 for 10s to 20s',
    },
    {
      name: 'takes the bounds of denial',
      line: directive('cache', 'denial 100 20 0'),
      denial: '100 for 0s to 20s',
    },
    {
      name: 'leaves bounds that are not said as they are',
      line: directive('cache 30', 'success 100', 'denial 200 7'),
      success: '100 for 5s to 30s',
      denial: '200 for 5s to 7s',
    },
    {
      name: 'keeps failures as long as told',
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
      name: 'disables a half for all of its zones',
      line: directive('cache example.org', 'disable denial'),
      zones: 'example.org.',
      denial: `${DENIAL} except example.org.`,
    },
    {
      name: 'adds up what is disabled',
      line: directive('cache', 'disable denial a.org', 'disable denial b.org'),
      denial: `${DENIAL} except a.org. b.org.`,
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
      name: 'refuses no capacity',
      line: directive('cache', 'success'),
      problem: 'Corefile:3:5: "success" takes 1 to 3 argument(s), got 0',
    },
    {
      name: 'refuses a capacity of 0',
      line: directive('cache', 'success 0'),
      problem: 'Corefile:3:13: "0" is not a number from 1 to 1000000',
    },
    {
      name: 'refuses a capacity over a million',
      line: directive('cache', 'denial 1000001'),
      problem: 'Corefile:3:12: "1000001" is not a number from 1 to 1000000',
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
      line: directive('cache', 'prefetch 5'),
      problem:
        'Corefile:3:5: "cache" has no option "prefetch"; ' +
        'it has success, denial, servfail, disable, keepttl',
    },
    {
      name: 'refuses a second directive',
      line: 'cache\n  cache',
      problem: 'Corefile:3:3: "cache" stands twice in this server block, once is allowed',
    },
  ]
  for (const { name, line, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(line)), [problem])
    })
  }
})
