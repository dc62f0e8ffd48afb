/**
 * Items of the protocol checklist about options of EDNS over HTTPS, and about what finds a server
 * (RFC 8467, RFC 7871, RFC 7873, RFC 8914, RFC 9462).
 * @module
 */
import assert from 'node:assert/strict'
import { concatBytes, parseHex } from '../../../src/dns/bytes/bytes.ts'
import { formatReply } from '../../message-text.ts'
import {
  get,
  getByteRange,
  type Item,
  messageOf,
  post,
  type RequestCase,
  resolve,
  WEB,
  WEB_JSON,
  WEB_LINES,
} from './item-cases.ts'

/** What Firefox sends: a subnet of none, and padding of its own. */
const FIREFOX = ['option 8: family 1, 0/0', '0008000400010000']
const PLAIN = ['NOERROR aa rd', ...WEB_LINES, 'edns: 1232']

const whole = (name: string, ask: { path: string }, lines: readonly string[]): RequestCase => ({
  name,
  ...ask,
  status: 200,
  lines,
})
const sized = (question: string, bytes: number): RequestCase => ({
  name: `${question}: ${bytes} bytes`,
  ...get(question),
  status: 200,
  bytes,
})

/** Options. */
export const OPTIONS: readonly Item[] = [
  {
    topic: 'padding',
    cases: [
      sized(`${WEB} A +padding`, 468),
      sized(`${WEB} TXT +padding`, 468),
      sized('none.shop.svc.shop.test A +padding', 468),
      sized('a.later.test A +padding', 468),
      sized('www.example.com A +padding', 468),
      sized('shop.test AXFR +padding', 468),
      sized('a.resolver.arpa A +padding', 468),
      sized('use-application-dns.net A +padding', 468),
      sized('version.bind CH TXT +padding', 468),
      sized('many.shop.svc.shop.test A +padding', 4 * 468),
      sized(`${WEB} A`, 56),
      sized(`${WEB} A +edns`, 67),
      {
        name: 'is of zeros, and the same whatever came',
        check: async ({ send }) => {
          const bare = await send(get(`${WEB} A +padding`))
          const full = await send(getByteRange(withOption('000c0008deadbeefdeadbeef')))
          assert.deepEqual(full.body, bare.body)
          const lines = formatReply(full.body)
          const [padding = ''] = lines.filter((line) => line.startsWith('padding: '))
          const size = Number(padding.slice('padding: '.length))
          assert.ok(full.body.subarray(-size).every((octet) => octet === 0))
          assert.equal(lines.filter((line) => line.startsWith('padding')).length, 1)
        },
      },
      {
        name: 'goes no further than a message may',
        check: async ({ send }) => {
          const { body } = await send(get('huge.shop.svc.shop.test AAAA +padding'))
          assert.ok(body.length <= 65_535)
          assert.match(formatReply(body)[0] ?? '', / tc /)
        },
      },
    ],
  },
  {
    topic: 'padding of queries',
    cases: [],
    untested:
      'queries to upstreams: test/resolver/plugins/forward/upstream-query.test.ts has their sizes',
  },
  {
    topic: 'DNS cookies',
    cases: [
      whole('a cookie of a client is not answered', get(`${WEB} A +cookie`), PLAIN),
      ...['000a0001aa', '000a0000', `000a0029${'ab'.repeat(41)}`].map((hex) =>
        whole(
          `nor one of another length: ${hex.slice(0, 16)}`,
          getByteRange(withOption(hex)),
          PLAIN,
        ),
      ),
    ],
  },
  {
    topic: 'client subnet',
    cases: [
      whole(FIREFOX[0] ?? '', getByteRange(withOption(FIREFOX[1] ?? '')), PLAIN),
      whole('of a network', getByteRange(withOption('0008000700011800c00002')), PLAIN),
      whole('of no family', getByteRange(withOption('00080004ffff0000')), PLAIN),
      whole('cut', getByteRange(withOption('0008000200')), ['FORMERR rd']),
      {
        name: 'in JSON',
        ...resolve(`name=${WEB}&edns_client_subnet=0.0.0.0/0`),
        status: 200,
        json: WEB_JSON,
      },
    ],
  },
  {
    topic: 'extended errors',
    cases: [
      whole('no snapshot', get('a.later.test A +edns'), [
        'SERVFAIL rd',
        'edns: 1232',
        'ede: 14 no snapshot yet',
      ]),
      whole('not our zone', get('www.example.com A +edns'), [
        'REFUSED rd',
        'edns: 1232',
        'ede: 20',
      ]),
      whole('none for who sends no OPT record', get('a.later.test A'), ['SERVFAIL rd']),
      whole('nor here', get('www.example.com A'), ['REFUSED rd']),
      {
        name: 'blocked by a rule',
        check: async ({ send }) => {
          const { body } = await send(get('a.blocked.test A +edns'))
          assert.equal(formatReply(body).at(-1), 'ede: 15')
        },
      },
    ],
  },
  {
    topic: 'report channel and NSID',
    cases: [
      whole('no name of the server', get(`${WEB} A +nsid`), [...PLAIN, 'nsid:']),
      whole('no channel for reports', getByteRange(withOption('00120000')), PLAIN),
      whole('no word about itself', get('version.bind CH TXT +edns'), ['REFUSED rd', 'edns: 1232']),
    ],
  },
  {
    topic: 'TSIG and SIG(0)',
    cases: [
      {
        name: 'a signature is no token',
        to: 'closed',
        ...post(signed()),
        status: 401,
      },
      whole('and is not answered by one', getByteRange(signed()), ['NOERROR aa rd', ...WEB_LINES]),
    ],
  },
]

/** How a server is found. */
export const DISCOVERY: readonly Item[] = [
  {
    topic: 'discovery of resolvers',
    cases: [
      ...['_dns.resolver.arpa TYPE64', 'resolver.arpa A', 'a.resolver.arpa HTTPS'].map((question) =>
        whole(question, get(question), ['NOERROR aa rd']),
      ),
      whole('no data of RESINFO', get(`${WEB} TYPE261`), [
        'NOERROR aa rd',
        'authority: shop.test. 5 IN SOA ns.dns.shop.test. hostmaster.shop.test. 1 7200 1800 86400 5',
      ]),
    ],
  },
  {
    topic: 'oblivious DoH',
    cases: [
      { name: 'no keys for oblivious clients', path: '/.well-known/odohconfigs', status: 404 },
      {
        name: 'no answers for them',
        ...post(messageOf(`${WEB} A`), { 'content-type': 'application/oblivious-dns-message' }),
        status: 415,
      },
    ],
  },
  {
    topic: 'local authority claims',
    cases: [],
    untested: 'claims of authority (RFC 9704) are not made',
  },
]

/** A query with one option in its OPT record, given with code and length. */
function withOption(hex: string): Uint8Array {
  const message = messageOf(`${WEB} A +edns`)
  const option = octets(hex)
  const head = message.slice(0, -2)
  return concatBytes(head, Uint8Array.of(option.length >> 8, option.length & 255), option)
}

/** A query with the signature of a key that nobody has (RFC 8945 §4.2). */
function signed(): Uint8Array {
  const message = messageOf(`${WEB} A`).with(11, 1)
  const owner = '036b657900'
  const algorithm = '0b686d61632d73686132353600'
  const rdata = `${algorithm}000065920080012c0020${'ab'.repeat(32)}000000000000`
  const size = (rdata.length / 2).toString(16).padStart(4, '0')
  return concatBytes(message, octets(`${owner}00fa00ff00000000${size}${rdata}`))
}

function octets(hex: string): Uint8Array {
  return parseHex(hex) ?? assert.fail(hex)
}
