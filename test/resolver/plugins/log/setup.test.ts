import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import type { UpstreamAct } from '../../../fake-host.ts'

const A = 'www.example.org. 60 IN A 192.0.2.1'
const SOA = 'authority: example.org. 60 IN SOA ns.example.org. host.example.org. 1 2 3 4 5'

async function logged(
  log: string,
  ask: string,
  upstream: UpstreamAct = ['NOERROR ra', A],
): Promise<readonly string[]> {
  const server = serve(block(log, 'forward . 192.0.2.53'), { upstream: () => upstream })
  await server.ask(ask)
  return server.host.lines
}

describe('the line of the log', () => {
  const cases: { name: string; log: string; ask: string; line: string }[] = [
    {
      name: 'is what CoreDNS writes',
      log: 'log',
      ask: 'www.example.org A',
      line:
        '198.51.100.7:4242 - 4660 "A IN www.example.org. udp 33 false 512" ' +
        'NOERROR qr,rd,ra 49 0s',
    },
    {
      name: 'has the name in lower case, the size and DO of EDNS, and brackets around IPv6',
      log: 'log',
      ask: 'WWW.Example.org A +do +edns=4096 +from=2001:db8::7 +id=7',
      line:
        '[2001:db8::7]:4242 - 7 "A IN www.example.org. udp 44 true 4096" ' +
        'NOERROR qr,rd,ra 60 0s',
    },
    {
      name: 'calls everything but UDP tcp, without a bound',
      log: 'log',
      ask: 'www.example.org A +https',
      line:
        '198.51.100.7:4242 - 4660 "A IN www.example.org. tcp 33 false 65535" ' +
        'NOERROR qr,rd,ra 49 0s',
    },
    {
      name: 'has all flags of the reply',
      log: 'log . "{>rflags}"',
      ask: 'www.example.org A +ad +cd',
      line: 'qr,aa,tc,rd,ra,ad,cd',
    },
    {
      name: 'has the operation when it is combined',
      log: 'log . {combined}',
      ask: 'www.example.org A',
      line:
        '198.51.100.7:4242 - 4660 "A IN www.example.org. udp 33 false 512" ' +
        'NOERROR qr,rd,ra 49 0s "0"',
    },
    {
      name: 'has what its format says, in any order',
      log: 'log "{rcode} {common} {type}"',
      ask: 'www.example.org TYPE65280',
      line:
        'NOERROR 198.51.100.7:4242 - 4660 "TYPE65280 IN www.example.org. udp 33 false 512" ' +
        'NOERROR qr,rd,ra 33 0s TYPE65280',
    },
    {
      name: 'leaves what it does not know as it is',
      log: 'log "{nosuch} {constructor} {>nosuch} {type"',
      ask: 'www.example.org A',
      line: '{nosuch} {constructor} {>nosuch} {type',
    },
    {
      name: 'is not fooled by a name that looks like a format',
      log: 'log "{name} {class}"',
      ask: '{type}\\"\\010.example.org A',
      line: '{type}\\"\\010.example.org. IN',
    },
  ]
  const upstreams: Readonly<Record<string, UpstreamAct>> = {
    'has all flags of the reply': ['NOERROR aa tc ra ad', A],
    'has what its format says, in any order': ['NOERROR ra'],
  }
  for (const { name, log, ask, line } of cases) {
    test(name, async () => {
      const lines = await logged(log, ask, upstreams[name])
      assert.deepEqual(lines, [line])
    })
  }

  test('has the time it took, in seconds', async () => {
    const server = serve(block('log "{duration}"', 'forward . 192.0.2.53'), {
      upstream: async () => {
        await server.host.advance(1234)
        return ['NOERROR']
      },
    })
    await server.ask('www.example.org A')
    assert.deepEqual(server.host.lines, ['1.234s'])
  })

  test('has the metadata of plugins', async () => {
    const [metadata, log] = ['metadata', 'log "{/view/name} {/log/type} {/log/class}"']
    const collected: string[] = []
    for (const lines of [[metadata], []]) {
      const view = directive('view inside', 'expr true')
      const server = serve(block(...lines, log, view, 'forward . 192.0.2.53'), {
        upstream: () => ['NXDOMAIN', SOA],
      })
      await server.ask('www.example.org A')
      collected.push(...server.host.lines)
    }
    assert.deepEqual(collected, ['inside NXDOMAIN denial', '- - -'])
  })

  test('has extended response codes', async () => {
    assert.deepEqual(await logged('log "{rcode}"', 'www.example.org A +edns', ['BADCOOKIE']), [
      'BADCOOKIE',
    ])
  })
})

describe('what is logged', () => {
  const cases: { name: string; log: string; ask: string; upstream?: UpstreamAct; count: number }[] =
    [
      { name: 'is everything', log: 'log', ask: 'www.example.net A', count: 1 },
      {
        name: 'is what is below a name',
        log: 'log example.org',
        ask: 'www.example.org A',
        count: 1,
      },
      {
        name: 'is not what is elsewhere',
        log: 'log example.org',
        ask: 'www.example.net A',
        count: 0,
      },
      {
        name: 'is what is below any of several names',
        log: 'log example.com Example.NET {common}',
        ask: 'www.example.net A',
        count: 1,
      },
      {
        name: 'is what has the class',
        log: directive('log', 'class denial'),
        ask: 'www.example.org A',
        upstream: ['NXDOMAIN', SOA],
        count: 1,
      },
      {
        name: 'has a denied type among negative responses',
        log: directive('log', 'class denial'),
        ask: 'www.example.org A',
        upstream: ['NOERROR', SOA],
        count: 1,
      },
      {
        name: 'is not what has another class',
        log: directive('log', 'class denial error'),
        ask: 'www.example.org A',
        count: 0,
      },
      {
        name: 'has referrals among successes',
        log: directive('log', 'class success'),
        ask: 'www.example.org A',
        upstream: ['NOERROR', 'authority: example.org. 60 IN NS ns.example.org.'],
        count: 1,
      },
      {
        name: 'has server failures among errors',
        log: directive('log', 'class denial error'),
        ask: 'www.example.org A',
        upstream: ['SERVFAIL'],
        count: 1,
      },
      {
        name: 'has transfers among errors',
        log: directive('log', 'class error'),
        ask: 'example.org AXFR +tcp',
        count: 1,
      },
      {
        name: 'is everything with the class all, whatever is beside it',
        log: directive('log', 'class denial', 'class all'),
        ask: 'www.example.org A',
        count: 1,
      },
      {
        name: 'follows the first rule for a name only',
        log: `${directive('log example.org', 'class error')}\n  log .`,
        ask: 'www.example.org A',
        count: 0,
      },
      {
        name: 'follows a later rule for other names',
        log: `${directive('log example.org', 'class error')}\n  log .`,
        ask: 'www.example.net A',
        count: 1,
      },
    ]
  for (const { name, log, ask, upstream, count } of cases) {
    test(name, async () => {
      assert.equal((await logged(log, ask, upstream)).length, count)
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is chosen by names',
      directives: ['log a..b'],
      problem: 'Corefile:2:7: "a..b" is not a domain name',
    },
    {
      name: 'is chosen by classes that exist',
      directives: [directive('log', 'class succes')],
      problem: 'Corefile:3:11: "succes" is not one of all, success, denial, error',
    },
    {
      name: 'is chosen by at least one class',
      directives: [directive('log', 'class')],
      problem: 'Corefile:3:5: "class" takes 1 or more argument(s), got 0',
    },
    {
      name: 'is chosen by no other option',
      directives: [directive('log', 'klass denial')],
      problem: 'Corefile:3:5: "log" has no option "klass"; did you mean "class"?',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
