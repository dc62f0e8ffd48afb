import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EXTENDED_ERROR } from '../../../src/dns/wire/edns.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { answerLocally, type Reach } from '../../../src/gateway/snapshots/local-names.ts'
import { filesBelow, read } from '../../docs/pages.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'

const REACH: Reach = {
  isPublic: true,
  hasTls: true,
  hasHttp3: false,
  tokenDomain: '',
  dotPort: undefined,
}

type Way = {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

function ask(message: Uint8Array, reach = REACH, way: Way = {}): Uint8Array | undefined {
  const { method = 'GET', path = '/dns-query?dns=AAAA' } = way
  const { headers = { host: 'dns.example.net' } } = way
  const head = { path, header: (name: string) => headers[name] }
  return answerLocally(parseQuery(message), { method, head }, reach)
}

function answerTo(question: string): string[] | undefined {
  const reply = ask(parseQuestion(question).message)
  return reply && formatReply(reply)
}

describe('_dns.resolver.arpa SVCB', () => {
  const designated = (reach: Partial<Reach>, way: Way): readonly string[] => {
    const { message } = parseQuestion('_dns.resolver.arpa SVCB')
    const [status = '', ...records] = formatReply(
      ask(message, { ...REACH, ...reach }, way) ?? message,
    )
    assert.match(status, /^NOERROR aa/)
    return records.filter((record) => record.includes('SVCB'))
  }
  const owner = '_dns.resolver.arpa. 300 IN SVCB 1'
  const cases: { name: string; reach?: Partial<Reach>; way?: Way; to: string | undefined }[] = [
    {
      name: 'a public gateway',
      to: 'dns.example.net. alpn="h2,http/1.1" dohpath="/dns-query{?dns}"',
    },
    {
      name: 'another port, and a name in capitals',
      way: { headers: { host: 'DNS.Example.net:8443' } },
      to: 'dns.example.net. alpn="h2,http/1.1" port="8443" dohpath="/dns-query{?dns}"',
    },
    {
      name: 'a token in the path',
      reach: { isPublic: false },
      way: { path: '/t/kdt_1_a-b/dns-query?dns=AAAA' },
      to: 'dns.example.net. alpn="h2,http/1.1" dohpath="/t/kdt_1_a-b/dns-query{?dns}"',
    },
    {
      name: 'a proxy that terminates TLS',
      reach: { hasTls: false },
      way: { headers: { host: 'dns.example.net', 'x-forwarded-proto': 'https' } },
      to: 'dns.example.net. alpn="h2,http/1.1" dohpath="/dns-query{?dns}"',
    },
    {
      name: 'a platform with HTTP/3',
      reach: { hasHttp3: true },
      to: 'dns.example.net. alpn="h3,h2,http/1.1" dohpath="/dns-query{?dns}"',
    },
    { name: 'no TLS', reach: { hasTls: false }, to: undefined },
    { name: 'a token in a header', reach: { isPublic: false }, to: undefined },
    {
      name: 'a token with a quote',
      reach: { isPublic: false },
      way: { path: '/t/a"b/dns-query' },
      to: undefined,
    },
    { name: 'no host', way: { headers: {} }, to: undefined },
    { name: 'an address', way: { headers: { host: '192.0.2.1' } }, to: undefined },
    { name: 'an IPv6 address', way: { headers: { host: '[2001:db8::1]:443' } }, to: undefined },
    { name: 'port 65536', way: { headers: { host: 'a.test:65536' } }, to: undefined },
    {
      name: 'a label of 64 bytes',
      way: { headers: { host: `${'a'.repeat(64)}.test` } },
      to: undefined,
    },
    {
      name: 'a name of 300 bytes',
      way: { headers: { host: `${'a.'.repeat(150)}test` } },
      to: undefined,
    },
    { name: 'markup as the host', way: { headers: { host: 'a"b.test' } }, to: undefined },
  ]
  for (const { name, reach = {}, way = {}, to } of cases) {
    test(`${name}: ${to === undefined ? 'no data' : 'the gateway'}`, () => {
      assert.deepEqual(designated(reach, way), to === undefined ? [] : [`${owner} ${to}`])
    })
  }
})

describe('RESINFO of a gateway (RFC 9606)', () => {
  const errors = '"exterr=0,3,14-15,17,19-20,22"'
  const page = '"infourl=https://dns.example.net/"'
  const cases: {
    name: string
    question: string
    reach?: Partial<Reach>
    way?: Way
    wanted: string | undefined
  }[] = [
    {
      name: 'for resolver.arpa',
      question: 'resolver.arpa',
      wanted: `resolver.arpa. 300 IN RESINFO ${errors} ${page}`,
    },
    {
      name: 'for its own name, in any letter case',
      question: 'DNS.Example.net',
      wanted: `DNS.Example.net. 300 IN RESINFO ${errors} ${page}`,
    },
    {
      name: 'at another port',
      question: 'dns.example.net',
      way: { headers: { host: 'dns.example.net:8443' } },
      wanted: `dns.example.net. 300 IN RESINFO ${errors} "infourl=https://dns.example.net:8443/"`,
    },
    {
      name: 'without a page where it has no TLS',
      question: 'resolver.arpa',
      reach: { hasTls: false },
      wanted: `resolver.arpa. 300 IN RESINFO ${errors}`,
    },
    {
      name: 'without a page by an address',
      question: 'resolver.arpa',
      way: { headers: { host: '192.0.2.1' } },
      wanted: `resolver.arpa. 300 IN RESINFO ${errors}`,
    },
    {
      name: 'without a page by a name that is too long for it',
      question: 'resolver.arpa',
      way: { headers: { host: [...Array(4).fill('a'.repeat(60)), 'test'].join('.') } },
      wanted: `resolver.arpa. 300 IN RESINFO ${errors}`,
    },
    {
      name: 'without a page over TLS, where the port of HTTPS is not known',
      question: 'resolver.arpa',
      way: { method: 'DOT' },
      wanted: `resolver.arpa. 300 IN RESINFO ${errors}`,
    },
    { name: 'not for another name', question: 'www.dns.example.net', wanted: undefined },
    {
      name: 'not for a name that no client used',
      question: 'dns.example.net',
      way: { headers: {} },
      wanted: undefined,
    },
  ]
  for (const { name, question, reach = {}, way = {}, wanted } of cases) {
    test(name, () => {
      const { message } = parseQuestion(`${question} RESINFO`)
      const reply = ask(message, { ...REACH, ...reach }, way)
      assert.deepEqual(reply && formatReply(reply).slice(1), wanted && [wanted])
    })
  }

  test('names the extended errors that the code sends', () => {
    const known: Readonly<Record<string, number>> = EXTENDED_ERROR
    const sent = filesBelow('src', '.ts')
      .flatMap((file) => [...read(file).matchAll(/EXTENDED_ERROR\.([A-Z_]+)/g)])
      .map(([, name = '']) => known[name] ?? -1)
    const [, text = ''] = /exterr=([\d,-]+)/.exec(errors) ?? []
    const listed = text.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
    assert.deepEqual(
      listed,
      [...new Set(sent)].sort((a, b) => a - b),
    )
  })
})

describe('_dns.resolver.arpa SVCB with DNS over TLS', () => {
  const tokenHost = '0wkp1p09z9e7g10he8vhtar2er.doh.example.org'
  const owner = '_dns.resolver.arpa. 300 IN SVCB'
  const doh = 'alpn="h2,http/1.1" dohpath="/dns-query{?dns}"'
  const cases: {
    readonly name: string
    readonly reach?: Partial<Reach>
    readonly host?: string
    readonly method?: string
    readonly to: readonly string[]
  }[] = [
    {
      name: 'a public gateway',
      host: 'a.test',
      reach: { isPublic: true },
      to: [`1 a.test. ${doh}`, '2 a.test. alpn="dot"'],
    },
    {
      name: 'a token in the hostname',
      to: [`1 ${tokenHost}. ${doh}`, `2 ${tokenHost}. alpn="dot"`],
    },
    {
      name: 'another port',
      reach: { dotPort: 8853 },
      to: [`1 ${tokenHost}. ${doh}`, `2 ${tokenHost}. alpn="dot" port="8853"`],
    },
    {
      name: 'over TLS, where the port of HTTPS is not known',
      method: 'DOT',
      to: [`1 ${tokenHost}. alpn="dot"`],
    },
    { name: 'without DNS over TLS', reach: { dotPort: undefined }, to: [`1 ${tokenHost}. ${doh}`] },
    { name: 'a name without a token', host: 'a.test', to: [] },
  ]
  for (const { name, reach = {}, host = tokenHost, method = 'GET', to } of cases) {
    test(name, () => {
      const head = {
        path: '/dns-query',
        header: (key: string) => (key === 'host' ? host : undefined),
      }
      const all = {
        ...REACH,
        isPublic: false,
        tokenDomain: 'doh.example.org',
        dotPort: 853,
        ...reach,
      }
      const { message } = parseQuestion('_dns.resolver.arpa SVCB')
      const reply = answerLocally(parseQuery(message), { method, head }, all)
      const records = formatReply(reply ?? message).filter((record) => record.includes('SVCB'))
      assert.deepEqual(
        records
          .filter((record) => record.startsWith(owner))
          .map((record) => record.slice(owner.length + 1)),
        to,
      )
    })
  }
})

describe('names that a gateway answers by itself', () => {
  for (const question of [
    '_dns.resolver.arpa HTTPS',
    'resolver.arpa NS',
    'resolver.arpa SVCB',
    'a._dns.Resolver.Arpa SVCB',
  ]) {
    test(`${question}: no data`, () => {
      assert.match(answerTo(question)?.[0] ?? '', /^NOERROR aa/)
    })
  }

  for (const question of [
    'use-application-dns.net A',
    'Use-Application-DNS.net AAAA',
    'www.use-application-dns.net HTTPS',
  ]) {
    test(`${question}: no such name, so that Firefox stays with the system’s resolver`, () => {
      assert.match(answerTo(question)?.[0] ?? '', /^NXDOMAIN aa/)
    })
  }

  for (const question of ['net NS', 'xuse-application-dns.net A', 'application-dns.net A']) {
    test(`not ${question}`, () => {
      assert.equal(answerTo(question), undefined)
    })
  }

  for (const question of ['arpa NS', 'xresolver.arpa A', 'web.shop.svc.cluster.local A', '. NS']) {
    test(`not ${question}`, () => {
      assert.equal(answerTo(question), undefined)
    })
  }

  test('padded for clients that request it', () => {
    for (const name of ['resolver.arpa', 'use-application-dns.net']) {
      const { message } = parseQuestion(`${name} A +padding`)
      assert.equal(ask(message)?.length, 468)
    }
  })

  test('not what is no query', () => {
    assert.equal(ask(new Uint8Array(3)), undefined)
  })
})
