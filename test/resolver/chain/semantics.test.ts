/**
 * What holds whatever plugins a question comes by: which EDNS and which letter case it has, how
 * replies are cut, how deep look-ups lead, which classes and versions are answered.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../ask.ts'
import { parseQuestion } from '../../message-text.ts'

const A = 'www.example.org. 60 IN A 192.0.2.80'
/** Three hundred bytes of text, four times. */
const LONG = Array.from(
  { length: 4 },
  (_, i) => `www.example.org. 60 IN TXT "${String(i).repeat(250)}"`,
)
const TWELVE = Array.from({ length: 12 }, (_, i) => `a.b. 60 IN A 192.0.2.${i}`)

/** A server whose upstream answers every question in the same way, but for the owner's name. */
function relaying(corefile: string, lines: readonly string[] = ['NOERROR', A]): Server {
  return serve(corefile, {
    files: {
      'db.example.net': `@ 300 IN SOA ns host 1 2 3 4 5
@ 300 IN NS ns
ns 300 IN A 192.0.2.53
alias 300 IN CNAME www.example.org.
`,
    },
    upstream: ({ question }) => {
      const [owner = ''] = question.split(' ')
      return lines.map((line) => line.replace(/^\S+\. /, `${owner} `))
    },
  })
}

const FORWARD = 'forward . 192.0.2.53'
const FILE = `
example.net {
  file db.example.net
}
. {
  cache
  ${FORWARD}
}`

describe('queries to upstreams', () => {
  const cases: { name: string; corefile: string; ask: string; asked: string[] }[] = [
    {
      name: 'has DO through a cache, which queries with AD for a client that comes next',
      corefile: block('cache', FORWARD),
      ask: 'wWw.example.org A +do',
      asked: ['wWw.example.org. IN A rd ad edns=1232 do'],
    },
    {
      name: 'has the letter case of the client, and its CD',
      corefile: block('loadbalance', 'minimal', FORWARD),
      ask: 'wWw.Example.ORG A +cd',
      asked: ['wWw.Example.ORG. IN A rd cd'],
    },
    {
      name: 'has the name that was put in the place of the other, and EDNS as before',
      corefile: block('rewrite name www.example.com www.example.org', 'cache', FORWARD),
      ask: 'WWW.example.com A +edns=1200',
      asked: ['www.example.org. IN A rd ad edns=1200'],
    },
    {
      name: 'has DO and RD as the client has them when a CNAME is followed',
      corefile: FILE,
      ask: 'alias.example.net A +do +nord',
      asked: ['www.example.org. IN A ad edns=1232 do'],
    },
    {
      name: 'has the options of the client as well then',
      corefile: FILE,
      ask: 'alias.example.net A +option=8:00010000 +cookie',
      asked: ['www.example.org. IN A rd ad edns=1232 option=8:00010000'],
    },
    {
      name: 'has no more room than bufsize allows',
      corefile: block('bufsize 700', 'cache', FORWARD),
      ask: 'www.example.org A +edns=4096',
      asked: ['www.example.org. IN A rd ad edns=700'],
    },
  ]
  for (const { name, corefile, ask, asked } of cases) {
    test(name, async () => {
      const server = relaying(corefile)
      await server.ask(ask)
      assert.deepEqual(
        server.host.asked.map(({ question }) => question),
        asked,
      )
    })
  }
})

describe('letter case of the question', () => {
  // `ask` checks that each reply has the question byte for byte.
  for (const corefile of [
    block('cache', FORWARD),
    block('rewrite name www.example.com www.example.org', 'cache', FORWARD),
    block('rewrite stop type A AAAA', FORWARD),
    block(directive('template IN A', 'answer "{{ .Name }} 5 IN A 192.0.2.1"')),
    block('whoami'),
    block('erratic'),
    'example.com {\n  whoami\n}',
  ]) {
    test(`comes back by ${corefile.split('\n')[1]?.trim()}`, async () => {
      const server = relaying(corefile)
      for (const name of ['www.example.com', 'WWW.EXAMPLE.COM', 'wWw.eXample.cOm']) {
        await server.ask(`${name} A`)
        await server.ask(`${name} A +tcp`)
      }
    })
  }
})

describe('replies that are too large', () => {
  const rewriting = directive(
    'rewrite stop',
    'name exact a.b a-name-that-is-much-longer-than-the-other.example.org',
    'answer auto',
  )
  const cases: { name: string; corefile: string; ask: string; bytesMax: number; cut: boolean }[] = [
    {
      name: 'are cut to what the client takes',
      corefile: block(FORWARD),
      ask: 'www.example.org TXT',
      bytesMax: 512,
      cut: true,
    },
    {
      name: 'are whole for a client that takes more',
      corefile: block(FORWARD),
      ask: 'www.example.org TXT +edns=2048',
      bytesMax: 2048,
      cut: false,
    },
    {
      name: 'are cut to what bufsize allows',
      corefile: block('bufsize 600', FORWARD),
      ask: 'www.example.org TXT +edns=2048',
      bytesMax: 600,
      cut: true,
    },
    {
      name: 'are whole over TCP, also from a cache that was filled over UDP',
      corefile: block('cache', FORWARD),
      ask: 'www.example.org TXT +tcp',
      bytesMax: 65_535,
      cut: false,
    },
    {
      name: 'are cut from a cache that was filled over TCP',
      corefile: block('cache', FORWARD),
      ask: 'www.example.org TXT',
      bytesMax: 512,
      cut: true,
    },
  ]
  for (const { name, corefile, ask, bytesMax, cut } of cases) {
    test(name, async () => {
      const server = relaying(corefile, ['NOERROR', ...LONG])
      await server.ask(ask.includes('+tcp') ? 'www.example.org TXT' : 'www.example.org TXT +tcp')
      const reply = (await server.askBytes(ask)) ?? assert.fail('no reply')
      assert.ok(reply.length <= bytesMax, String(reply.length))
      assert.equal(((reply[2] ?? 0) & 2) !== 0, cut)
      const [head, ...records] = await server.ask(ask)
      assert.equal(head?.includes(' tc '), cut)
      assert.equal(records.filter((line) => line.includes('TXT')).length < 4, cut)
    })
  }

  test('are cut after their names were rewritten, and have whole records', async () => {
    const server = relaying(block(rewriting, FORWARD), ['NOERROR', ...TWELVE, ...TWELVE, ...TWELVE])
    const reply = (await server.askBytes('a.b A')) ?? assert.fail('no reply')
    assert.ok(reply.length <= 512)
    const [head, ...records] = await server.ask('a.b A')
    assert.match(head ?? '', / tc /)
    assert.ok(records.length > 20 && records.every((line) => line.startsWith('a.b. ')))
  })
})

describe('look-ups', () => {
  test('end at a depth, and the client gets an answer', async () => {
    const chain = Array.from(
      { length: 40 },
      (_, i) => `n${i}.example.net {
  template IN ANY example.net {
    answer "{{ .Name }} 5 IN CNAME n${i + 1}.example.net."
  }
}`,
    ).join('\n')
    const [head, ...links] = await relaying(chain).ask('n0.example.net A +tcp')
    assert.match(head ?? '', /^(NOERROR|SERVFAIL)/)
    assert.ok(links.length <= 12, String(links.length))
  })

  test('that lead back to themselves end as well', async () => {
    const circle = ['a', 'b']
      .map(
        (from) => `${from}.test {
  template IN ANY test {
    answer "{{ .Name }} 5 IN CNAME ${from === 'a' ? 'b' : 'a'}.test."
  }
}`,
      )
      .join('\n')
    const reply = await relaying(circle).ask('a.test A +tcp')
    assert.ok(reply.length <= 13, String(reply.length))
  })
})

describe('classes', () => {
  const cases: { name: string; corefile: string; ask: string; reply: string }[] = [
    {
      name: 'other than IN are refused',
      corefile: block('whoami'),
      ask: 'a.org CH A',
      reply: 'REFUSED rd',
    },
    {
      name: 'that are unknown too',
      corefile: block('whoami'),
      ask: 'a.org HS A',
      reply: 'REFUSED rd',
    },
    {
      name: 'are all taken where something is relayed',
      corefile: block(FORWARD),
      ask: 'version.bind CH TXT',
      reply: 'NOERROR rd',
    },
    {
      name: 'are all taken beside a block that takes them',
      corefile: `a.org {\n  whoami\n}\n${block('chaos 1')}`,
      ask: 'version.bind CH TXT',
      reply: 'NOERROR rd',
    },
    {
      name: 'are kept apart by a cache',
      corefile: block('cache', 'chaos 1', FORWARD),
      ask: 'version.bind CH TXT',
      reply: 'NOERROR rd',
    },
  ]
  for (const { name, corefile, ask, reply } of cases) {
    test(name, async () => {
      const [head = ''] = await relaying(corefile, ['NOERROR']).ask(ask)
      assert.equal(head.replace(' aa', ''), reply)
    })
  }
})

describe('versions of EDNS over 0', () => {
  /** A query with the version put into its OPT record. */
  function withVersion(question: string, version: number): Uint8Array {
    const { message } = parseQuestion(`${question} +do`)
    message[message.length - 11 + 6] = version
    return message
  }

  for (const corefile of [
    block('cache', FORWARD),
    block('rewrite name a.org b.org', FORWARD),
    block('errors', 'log', 'whoami'),
    block('erratic'),
  ]) {
    test(`are refused before ${corefile.split('\n')[1]?.trim()} sees them`, async () => {
      const server = relaying(corefile)
      for (const version of [1, 100, 255]) {
        const message = withVersion('www.example.org A', version)
        const reply = (await server.answer(message)) ?? assert.fail('no reply')
        // BADVERS is 16: 0 in the header, and 1 in the OPT record, whose version is ours.
        const opt = reply.length - 11
        assert.deepEqual([(reply[3] ?? 0) & 15, reply[opt + 5], reply[opt + 6]], [0, 1, 0])
        assert.deepEqual(reply.subarray(12, opt), message.subarray(12, message.length - 11))
      }
      assert.deepEqual(server.host.asked, [])
    })
  }
})
